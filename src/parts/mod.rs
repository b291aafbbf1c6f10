//! What a pass collected, as a file: written by one process, read and merged by another.
//!
//! A part is a container of checked sections ([`PartWriter`], [`PartReader`]) behind a header in
//! JSON ([`PartHeader`]). What goes into the sections is said by the collectors themselves, each of
//! which is a [`Part`]. The same content gives the same bytes.

mod blocks;
mod container;
pub mod encode;
mod hash;
mod header;
pub mod place;
mod reader;
mod writer;

pub use hash::Fingerprint;
pub use header::{CoveredFile, FORMAT, PartHeader, Producer};
pub use reader::PartReader;
pub use writer::PartWriter;

use crate::error::Result;

/// State that is collected in pieces. There are no defaults: new state has to say how it is written,
/// read and merged.
pub trait Part: Sized {
    /// Writes it as the section `name`; the same content gives the same bytes.
    fn write(&self, name: &str, out: &mut PartWriter) -> Result<()>;

    /// Reads the section `name`.
    fn read(name: &str, input: &mut PartReader) -> Result<Self>;

    /// Adds another piece; any order gives the same.
    fn merge(&mut self, other: Self) -> Result<()>;
}

/// Makes state that serde knows a [`Part`]: `small_part!(Type, |into, other| merge)`.
macro_rules! small_part {
    ($Type:ty, |$into:ident, $other:ident| $merge:expr) => {
        impl $crate::parts::Part for $Type {
            fn write(&self, name: &str, out: &mut $crate::parts::PartWriter) -> $crate::Result<()> {
                out.state(name, self)
            }

            fn read(name: &str, input: &mut $crate::parts::PartReader) -> $crate::Result<Self> {
                input.state(name)
            }

            fn merge(&mut self, $other: Self) -> $crate::Result<()> {
                let $into = self;
                $merge;
                Ok(())
            }
        }
    };
}
pub(crate) use small_part;
