//! Temporary files and folders, which also go when the program is told to stop.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;

use crate::error::{Error, Result};

/// What is there for the time being.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(|e| e.into_inner())
}

/// A temporary path that is known to [`clean_up_on_signals`] as long as this lives.
pub(super) struct Known(PathBuf);

impl Known {
    /// Makes something temporary; no signal comes between its making and its being known.
    pub(super) fn make<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl Fn(&T) -> &Path,
    ) -> io::Result<(T, Self)> {
        let mut known = temporary();
        let made = make()?;
        let path = path(&made).to_owned();
        known.insert(path.clone());
        Ok((made, Self(path)))
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        temporary().remove(&self.0);
    }
}

/// A folder for the time being.
pub struct Scratch {
    folder: TempDir,
    _known: Known,
}

impl Scratch {
    /// An empty folder where the system keeps such.
    pub fn new() -> Result<Self> {
        let made = Known::make(tempfile::tempdir, |folder| folder.path());
        let (folder, known) = made.map_err(|e| Error::write(&std::env::temp_dir(), e))?;
        Ok(Self { folder, _known: known })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// From now on a signal that ends the program takes its temporary files with it.
#[cfg(unix)]
pub fn clean_up_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // Never given back: no one makes another file from here on.
        let known = temporary();
        for path in known.iter() {
            let _ = match path.is_dir() {
                true => std::fs::remove_dir_all(path),
                false => std::fs::remove_file(path),
            };
        }
        // Ends the program as the signal would have.
        let _ = emulate_default_handler(signal);
    });
}

/// Elsewhere nothing waits for signals: what is temporary stays where the program is stopped.
#[cfg(not(unix))]
pub fn clean_up_on_signals() {}
