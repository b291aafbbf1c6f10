//! Many files that get their names while others are still made: to wait until the disk has a file takes no
//! processor.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use super::AtomicFile;
use crate::error::{Error, Result};

/// Files that the disk is waited for at once.
const WAITING: usize = 4;

/// Takes files that are complete.
pub struct Commits(Sender<AtomicFile>);

impl Commits {
    /// Gives a complete file its name, some time before [`committing`] ends.
    pub fn commit(&self, file: AtomicFile) -> Result<()> {
        self.0.send(file).map_err(|_| stopped())
    }

    /// Writes a whole file.
    pub fn write(&self, target: &Path, bytes: &[u8]) -> Result<()> {
        let mut file = AtomicFile::create(target)?;
        file.write_all(bytes).map_err(|e| Error::write(target, e))?;
        self.commit(file)
    }
}

/// Does `work`; all files that it gave have their names afterwards, or it fails.
pub fn committing(work: impl FnOnce(&Commits) -> Result<()>) -> Result<()> {
    let (send, receive) = channel::<AtomicFile>();
    let receive = Mutex::new(receive);
    let next = || receive.lock().ok()?.recv().ok();
    std::thread::scope(|scope| {
        let commit = || std::iter::from_fn(next).try_for_each(AtomicFile::commit);
        let threads: Vec<_> = (0..WAITING).map(|_| scope.spawn(commit)).collect();
        let commits = Commits(send);
        let mut done = work(&commits);
        drop(commits);
        for thread in threads {
            done = done.and(thread.join().map_err(|_| stopped()).flatten());
        }
        done
    })
}

fn stopped() -> Error {
    Error::Internal { message: "what waits for the disk stopped".into() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_there_afterwards_or_it_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = |i: usize| folder.path().join(format!("{i}.txt"));
        let bytes = |i: usize| i.to_string().repeat(1_000);
        committing(|commits| (0..50).try_for_each(|i| commits.write(&path(i), bytes(i).as_bytes()))).unwrap();
        for i in 0..50 {
            assert_eq!(std::fs::read_to_string(path(i)).unwrap(), bytes(i));
        }
        // A file that cannot get its name fails the whole, and so does the work; nothing is left beside.
        let late = committing(|commits| {
            let file = AtomicFile::create(&path(60))?;
            std::fs::create_dir(path(60)).unwrap();
            commits.commit(file)?;
            commits.write(&path(61), b"whole")
        });
        assert!(late.is_err_and(|error| error.to_string().contains("60.txt")));
        assert!(committing(|_| Err(stopped())).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 52);
    }
}
