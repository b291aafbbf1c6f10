//! What collectors say of their state: how it is written, read and merged.

use stapo_base::error::Result;
use stapo_store::parts::{PartReader, PartWriter};

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
        impl $crate::part::Part for $Type {
            fn write(&self, name: &str, out: &mut stapo_store::parts::PartWriter) -> stapo_base::Result<()> {
                out.state(name, self)
            }

            fn read(name: &str, input: &mut stapo_store::parts::PartReader) -> stapo_base::Result<Self> {
                input.state(name)
            }

            fn merge(&mut self, $other: Self) -> stapo_base::Result<()> {
                let $into = self;
                $merge;
                Ok(())
            }
        }
    };
}
pub(crate) use small_part;
