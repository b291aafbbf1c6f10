//! A folder that is written by one program at a time.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::atomic_file::is_temporary;
use crate::error::{Error, Result};

/// A folder for results, claimed until it is dropped.
pub struct OutputFolder {
    path: PathBuf,
    /// The lock is on the folder itself, so that nothing is left of it.
    _claim: Option<File>,
}

/// Makes a folder where it is not there; refuses a file of its name.
pub fn make_folder(path: &Path) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_dir()) {
        return Err(Error::Usage {
            message: format!("{}: there is a file of this name, not a folder", path.display()),
            hint: "many files go there: give a folder, which is made where it is not there".into(),
        });
    }
    std::fs::create_dir_all(path).map_err(|e| Error::write(path, e))
}

impl OutputFolder {
    /// Makes the folder where needed and keeps other writers out; clears what a writer that was
    /// killed left half-done.
    pub fn claim(path: &Path) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(Error::Usage {
                message: "the folder for the results has no name".into(),
                hint: "give one: --report DIR".into(),
            });
        }
        make_folder(path)?;
        let claim = lock(path)?;
        let folder = Self { path: path.to_owned(), _claim: claim };
        folder.sweep(path)?;
        Ok(folder)
    }

    /// Removes a page of an earlier run: what it describes is about to change, and the new page comes
    /// last.
    pub fn retire(&self, name: &str) -> Result<()> {
        let page = self.path.join(name);
        match std::fs::remove_file(&page) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(&page, e)),
            _ => Ok(()),
        }
    }

    fn sweep(&self, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder).map_err(|e| Error::write(folder, e))?.flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(|k| k.is_file()) && is_temporary(&path) {
                let _ = std::fs::remove_file(&path);
            } else if kind.is_ok_and(|k| k.is_dir()) && folder == self.path {
                self.sweep(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn lock(path: &Path) -> Result<Option<File>> {
    let folder = File::open(path).map_err(|e| Error::write(path, e))?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Usage {
            message: format!("{}: another stapo-analyze is writing into this folder", path.display()),
            hint: "wait until it has ended, or give another folder".into(),
        }),
        // A file system without locks: go on without.
        Err(std::fs::TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(not(unix))]
fn lock(_: &Path) -> Result<Option<File>> {
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer_and_keeps_nothing_half_done() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("report");
        std::fs::create_dir_all(path.join("charts")).unwrap();
        std::fs::write(path.join("charts/.stapo-abc.tmp"), "half").unwrap();
        std::fs::write(path.join("notes.txt"), "mine").unwrap();
        std::fs::write(path.join("report.html"), "old").unwrap();
        let folder = OutputFolder::claim(&path).unwrap();
        assert!(!path.join("charts/.stapo-abc.tmp").exists());
        #[cfg(unix)]
        assert!(OutputFolder::claim(&path).is_err());
        folder.retire("report.html").unwrap();
        folder.retire("report.html").unwrap();
        assert!(!path.join("report.html").exists() && path.join("notes.txt").exists());
        drop(folder);
        let file = OutputFolder::claim(&path.join("notes.txt")).map(|_| ()).unwrap_err();
        assert!(
            file.to_string().contains("not a folder") && file.hint().unwrap().contains("folder"),
            "{file}"
        );
        assert!(OutputFolder::claim(&path).is_ok());
    }
}
