//! How much a cache may keep for other settings, programs and runs than the one at hand.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Entries that no run used for so long are dropped.
const IDLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The most that entries of others may take together: those that were used last stay.
pub const ROOM: u64 = 4 << 30;

/// Notes that an entry was used. Where it cannot be noted, the entry goes earlier.
pub fn note_use(path: &Path) {
    if let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Which of these entries have been idle for too long, or have no room.
pub fn surplus(entries: Vec<PathBuf>, room: u64) -> Vec<PathBuf> {
    let used = |path: &Path| -> Option<(SystemTime, u64)> {
        let metadata: Metadata = path.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let mut entries: Vec<(SystemTime, PathBuf, u64)> =
        entries.into_iter().filter_map(|path| used(&path).map(|(time, bytes)| (time, path, bytes))).collect();
    entries.sort_unstable_by(|a, b| b.cmp(a));
    let mut taken = 0u64;
    let is_surplus = |(time, path, bytes): (SystemTime, PathBuf, u64)| {
        taken = taken.saturating_add(bytes);
        let idle = time.elapsed().is_ok_and(|idle| idle > IDLE);
        (idle || taken > room).then_some(path)
    };
    entries.into_iter().filter_map(is_surplus).collect()
}
