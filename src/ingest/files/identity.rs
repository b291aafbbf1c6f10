//! Whether a file is still the one that was opened.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Error, Result};

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Size in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
    /// Device and number on it, where the system has them: a file that took the name of another.
    node: (u64, u64),
}

impl FileIdentity {
    /// Of the file under this name.
    pub fn of(path: &Path) -> Result<Self> {
        Ok(Self::new(&std::fs::metadata(path).map_err(|e| Error::read(path, e))?))
    }

    /// When it was written last.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    fn new(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let node = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let node = (0, 0);
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), node }
    }

    /// Fails where the file under this name is another one by now.
    pub fn require_same(&self, path: &Path) -> Result<()> {
        let same = std::fs::metadata(path).is_ok_and(|now| Self::new(&now) == *self);
        if same { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }
}
