//! Decoders of hostile bytes may panic; that is an error of the file, not of the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::{Error, Result};

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder; a panic becomes an error that names the file.
pub fn guarded<T>(
    path: &Path,
    place: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| {
        Err(Error::Corrupt {
            path: path.to_owned(),
            place: place(),
            message: "the decoder failed on these bytes".into(),
        })
    })
}

/// Keeps panics that `guarded` turns into errors from being printed; all others are, as before.
pub fn quieten_guarded_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !DECODING.get() {
            print(info);
        }
    }));
}
