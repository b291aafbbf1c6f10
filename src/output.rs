//! Files that appear under their final name only when they are complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A file in the making; dropped without [`AtomicFile::commit`], nothing is left of it.
pub struct AtomicFile {
    target: PathBuf,
    temporary: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Opens a temporary file beside the target, making its folder where needed: fails early
    /// where the target could not be written later.
    pub fn create(target: &Path) -> Result<Self> {
        if target.is_dir() {
            return Err(Error::write(target, "it is a folder"));
        }
        let folder = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(|e| Error::write(target, e))?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".stapo-").suffix(".tmp");
        #[cfg(unix)]
        {
            // As any other program would create it; the umask still applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder).map_err(|e| Error::write(target, e))?;
        Ok(Self { target: target.to_owned(), temporary: BufWriter::with_capacity(1 << 16, temporary) })
    }

    /// Writes everything out and gives the file its final name.
    pub fn commit(self) -> Result<()> {
        let Self { target, temporary } = self;
        let file = temporary.into_inner().map_err(|e| Error::write(&target, e.error()))?;
        file.as_file().sync_data().map_err(|e| Error::write(&target, e))?;
        file.persist(&target).map_err(|e| Error::write(&target, e.error))?;
        Ok(())
    }
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
}
