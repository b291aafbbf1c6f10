//! The table of causes: a row, a file.

use crate::{Cause, Code};

mod spurious_tokens;

/// Every cause that is looked for.
pub const CAUSES: &[Cause] = &[spurious_tokens::CAUSE];

/// The row of a code.
#[must_use]
pub fn cause_of(code: Code) -> Option<&'static Cause> {
    CAUSES.iter().find(|cause| cause.code == code)
}
