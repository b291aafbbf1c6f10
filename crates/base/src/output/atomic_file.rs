//! Files that appear under their final name only when they are complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::cleanup::Known;
use crate::error::{Error, Result};

const PREFIX: &str = ".stapo-";
const SUFFIX: &str = ".tmp";

/// Whether a file is one in the making.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// A file in the making; dropped without [`AtomicFile::commit`], nothing is left of it.
pub struct AtomicFile {
    target: PathBuf,
    temporary: BufWriter<NamedTempFile>,
    _known: Known,
}

impl AtomicFile {
    /// Opens a temporary file beside the target, making its folder where needed: fails early
    /// where the target could not be written later.
    pub fn create(target: &Path) -> Result<Self> {
        require_regular(target)?;
        let folder = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(|e| Error::write(target, e))?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            // As any other program would create it; the umask still applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let made = Known::make(|| builder.tempfile_in(folder), |file| file.path());
        let (temporary, known) = made.map_err(|e| Error::write(target, e))?;
        let temporary = BufWriter::with_capacity(1 << 16, temporary);
        Ok(Self { target: target.to_owned(), temporary, _known: known })
    }

    /// Writes everything out and gives the file its final name.
    pub fn commit(self) -> Result<()> {
        let Self { target, temporary, _known } = self;
        let file = temporary.into_inner().map_err(|e| Error::write(&target, e.error()))?;
        file.as_file().sync_data().map_err(|e| Error::write(&target, e))?;
        // It may have become something else since.
        require_regular(&target)?;
        file.persist(&target).map_err(|e| Error::write(&target, e.error))?;
        Ok(())
    }
}

/// Writes a whole file.
pub fn write_file(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(bytes).map_err(|e| Error::write(target, e))?;
    file.commit()
}

/// A name that is free, or that of a regular file: a rename would replace a device, a pipe or a link.
fn require_regular(target: &Path) -> Result<()> {
    let Ok(there) = std::fs::symlink_metadata(target) else { return Ok(()) };
    let (is, hint) = match there.file_type() {
        // A rename asks for the folder's permission only: the file's own counts, too.
        kind if kind.is_file() && there.permissions().readonly() => {
            ("read-only", "give another name, or allow writing to it")
        }
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => ("a folder, not a regular file", "give the name of a file inside of it"),
        kind if kind.is_symlink() => ("a link, not a regular file", "give the file that it points to"),
        _ => ("a device, a pipe or a socket, not a regular file", "give the name of a file"),
    };
    let message = format!("{}: cannot write: it is {is}", target.display());
    Err(Error::Usage { message, hint: hint.into() })
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_an_abandoned_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/out.txt");
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(target.parent().unwrap()).unwrap().count(), 0);
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_devices_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.txt");
        std::fs::write(&real, "kept").unwrap();
        let link = folder.path().join("link.txt");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for target in [&link, &pipe, Path::new("/dev/null"), folder.path()] {
            let error = AtomicFile::create(target).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
        assert_eq!(std::fs::read(&real).unwrap(), b"kept");
        let mut permissions = std::fs::metadata(&real).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&real, permissions).unwrap();
        let error = AtomicFile::create(&real).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("read-only"), "{error}");
        // A link that takes the place while the file is made is not replaced either.
        let late = folder.path().join("late.txt");
        let file = AtomicFile::create(&late).unwrap();
        std::os::unix::fs::symlink(&real, &late).unwrap();
        assert!(file.commit().is_err());
        assert!(std::fs::symlink_metadata(&late).unwrap().is_symlink());
    }
}
