//! How a command ends: an outcome, and output that nobody may be reading any more.

use std::io;
use std::path::Path;

use stapo_base::error::{Error, Result};

/// How a command ended, short of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Fine,
    /// A gate that the user asked for failed: exit code 1.
    GateFailed,
}

/// A reader that went away (`| head`) is not an error.
pub fn stdout(written: io::Result<()>) -> Result<()> {
    match written {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Error::write(Path::new("stdout"), e)),
        Ok(()) => Ok(()),
    }
}
