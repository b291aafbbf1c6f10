//! What a cache was good for.

use std::path::Path;

use stapo_base::error::Error;
use stapo_batch::progress::Progress;
use stapo_store::parts::place;

/// What a cache was good for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Files that were not read.
    pub reused: usize,
    /// Files that were read.
    pub read: usize,
    /// What could not be used, and why.
    pub notes: Vec<String>,
}

impl CacheUse {
    /// Tells what could not be used.
    pub(super) fn tell(&self, progress: &dyn Progress) {
        self.notes.iter().for_each(|note| progress.note(note));
    }

    /// Notes that an entry cannot be used, and deletes it: what it held is read again.
    pub(super) fn drop_entry(&mut self, path: &Path, error: &Error) {
        self.notes.push(format!("{error}: read again"));
        let _ = place::remove(path);
    }
}
