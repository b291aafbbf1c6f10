//! What a panic means: in a decoder it is an error of the bytes, anywhere else a defect of this
//! program, which must never look like a result.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::{Error, Result};

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the code of a decoder crate, and nothing else; a panic becomes the error `failed`.
pub fn decoding<T, E>(failed: impl FnOnce() -> E, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| Err(failed()))
}

/// Runs a decoder crate; a panic becomes an error that names the file.
pub fn guarded<T>(
    path: &Path,
    place: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let failed = || Error::Corrupt {
        path: path.to_owned(),
        place: place(),
        message: "the decoder failed on these bytes".into(),
    };
    decoding(failed, work)
}

/// Runs work of our own; a panic becomes an internal error.
pub fn internal<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = DECODING.replace(false);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(before);
    outcome.unwrap_or_else(|payload| Err(internal_error(payload.as_ref())))
}

/// The error of a panic.
pub fn internal_error(payload: &(dyn Any + Send)) -> Error {
    let said = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::Internal { message: said.unwrap_or_else(|| "a panic without a message".into()) }
}

/// Keeps panics that become errors of a file from being printed; all others are, as before.
pub fn quieten_guarded_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !DECODING.get() {
            print(info);
        }
    }));
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_is_an_error_of_the_file_and_all_others_are_ours() {
        let path = Path::new("run.parquet");
        let decoder = guarded::<()>(path, || "row group 3".into(), || panic!("bytes")).unwrap_err();
        assert!(decoder.to_string().contains("run.parquet: row group 3"), "{decoder}");
        let ours = guarded::<()>(path, String::new, || internal(|| panic!("off by {}", 1))).unwrap_err();
        assert!(matches!(&ours, Error::Internal { message } if message == "off by 1"), "{ours}");
        assert!(ours.hint().unwrap().contains("report"));
    }
}
