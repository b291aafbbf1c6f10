//! Whether a file is still the one that was opened.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use stapo_base::error::{Error, Result};

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileIdentity {
    /// Size in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
    /// When anything of it changed last (ctime), where the system knows: no tool can set it back.
    #[serde(default)]
    changed: Option<(i64, i64)>,
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
        Self { bytes, modified, changed: None, node: (0, 0), tag: tag.map(str::to_owned) }
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
        let (node, changed) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.dev(), metadata.ino()), Some((metadata.ctime(), metadata.ctime_nsec())))
        };
        #[cfg(not(unix))]
        let (node, changed) = ((0, 0), None);
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), changed, node, tag: None }
    }

    /// Fails where the file under this name does not begin as this one did: it may have grown.
    pub fn require_begin_of(&self, path: &Path) -> Result<()> {
        let now = std::fs::metadata(path).map(|now| Self::new(&now));
        let grown = now.is_ok_and(|now| now.node == self.node && now.bytes >= self.bytes);
        if grown { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }

    /// Fails where the file under this name is another one by now. Its mode or number of links may change.
    pub fn require_same(&self, path: &Path) -> Result<()> {
        let now = std::fs::metadata(path).map(|now| Self::new(&now));
        let same = now.is_ok_and(|now| Self { changed: self.changed, ..now } == *self);
        if same { Ok(()) } else { Err(Error::Changed { path: path.to_owned() }) }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// As `rsync --times --inplace` leaves it: only ctime tells.
    #[test]
    fn a_file_rewritten_in_place_with_its_old_time_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "first").unwrap();
        let before = FileIdentity::of(&path).unwrap();
        assert_eq!(before, FileIdentity::of(&path).unwrap());
        // Longer than the clock of any file system ticks.
        std::thread::sleep(std::time::Duration::from_millis(30));
        std::fs::write(&path, "other").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(before.modified().unwrap()).unwrap();
        let after = FileIdentity::of(&path).unwrap();
        assert_eq!((after.bytes, after.modified()), (before.bytes, before.modified()));
        assert_ne!(before, after);
        assert!(before.require_same(&path).is_ok() && before.is_content_of(&after));
    }
}
