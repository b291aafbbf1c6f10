//! The bytes of a file, wherever it is kept, and whether it is still the one that was opened.

pub mod identity;
pub mod ranges;
#[cfg(feature = "cloud")]
mod remote;
pub mod stored;
#[cfg(feature = "cloud")]
mod stretches;
