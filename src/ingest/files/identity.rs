//! Whether a file is still the one that was opened.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Error, Result};

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileIdentity {
    /// Size in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
    /// Device and number on it, where the system has them: a file that took the name of another.
    node: (u64, u64),
    /// Entity tag of an object.
    tag: Option<String>,
}

impl FileIdentity {
    /// Of the file under this name.
    pub fn of(path: &Path) -> Result<Self> {
        Ok(Self::new(&std::fs::metadata(path).map_err(|e| Error::read(path, e))?))
    }

    /// Of an object in a bucket.
    #[cfg(feature = "cloud")]
    pub fn of_object(bytes: u64, modified: Option<SystemTime>, tag: Option<&str>) -> Self {
        Self { bytes, modified, node: (0, 0), tag: tag.map(str::to_owned) }
    }

    /// The entity tag of an object.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// When it was written last.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Whether it is the same file as seen from another machine: its number may differ there.
    pub fn is_content_of(&self, other: &Self) -> bool {
        match (&self.tag, &other.tag) {
            (None, None) => (self.bytes, self.modified) == (other.bytes, other.modified),
            (mine, theirs) => (self.bytes, mine) == (other.bytes, theirs),
        }
    }

    fn new(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let node = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let node = (0, 0);
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), node, tag: None }
    }

    /// Fails where the file under this name does not begin as this one did: it may have grown.
    pub fn require_begin_of(&self, path: &Path) -> Result<()> {
        let now = std::fs::metadata(path).map(|now| Self::new(&now));
        let grown = now.is_ok_and(|now| now.node == self.node && now.bytes >= self.bytes);
        if grown { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }

    /// Fails where the file under this name is another one by now.
    pub fn require_same(&self, path: &Path) -> Result<()> {
        let same = std::fs::metadata(path).is_ok_and(|now| Self::new(&now) == *self);
        if same { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }
}
