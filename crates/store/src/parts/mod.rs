//! What a pass collected, as a file: written by one process, read and merged by another.
//!
//! A part is a container of checked sections ([`PartWriter`], [`PartReader`]) behind a header in
//! JSON ([`PartHeader`]). What goes into the sections is said by the collectors
//! themselves. The same content gives the same bytes.

mod blocks;
mod container;
mod hash;
mod header;
pub mod place;
mod reader;
mod writer;

pub use hash::Fingerprint;
pub use header::{CoveredFile, FORMAT, PartHeader, Producer};
pub use reader::PartReader;
pub use writer::PartWriter;
