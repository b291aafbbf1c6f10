//! Folders and what is in them, on this disk or in a bucket.

use std::path::{Path, PathBuf};

use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};

/// Folders that can be walked.
pub trait Tree {
    /// What is in a folder, in any order.
    fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>>;
    /// Whether it is a folder.
    fn is_folder(&self, path: &Path) -> bool;
    /// Whether there is a file or folder of this name.
    fn exists(&self, path: &Path) -> bool;
    /// The name that all names of one file or folder have in common.
    fn identity(&self, path: &Path) -> Result<PathBuf>;
    /// Only regular files are logs: a pipe never ends, a device is not one.
    fn require_regular(&self, path: &Path) -> Result<()>;
    /// The file of this path, for reading.
    fn stored(&self, path: &Path) -> Result<Stored>;
}

/// The folders of this machine.
pub struct Disk;

impl Tree for Disk {
    fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let failed = |e| Error::read(folder, e);
        std::fs::read_dir(folder).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn identity(&self, path: &Path) -> Result<PathBuf> {
        path.canonicalize().map_err(|e| Error::read(path, e))
    }

    fn require_regular(&self, path: &Path) -> Result<()> {
        let is_file = std::fs::metadata(path).map_err(|e| Error::read(path, e))?.is_file();
        if is_file { Ok(()) } else { Err(Error::NotRegular { path: path.to_owned() }) }
    }

    fn stored(&self, path: &Path) -> Result<Stored> {
        Ok(Stored::on_disk(path))
    }
}
