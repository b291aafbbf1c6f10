//! Raw arguments become settings once; the rest of the program sees settings only.

use super::args::{AlignArg, EntropyUnit, InputArgs};
use crate::error::Result;
use crate::ingest::{Alignment, IngestSettings, UserMap};

/// Resolves how to read a log.
pub fn ingest(arguments: &InputArgs) -> Result<IngestSettings> {
    Ok(IngestSettings {
        map: UserMap::parse(&arguments.maps)?,
        alignment: arguments.align.map(|a| match a {
            AlignArg::Response => Alignment::Response,
            AlignArg::LeftPadded => Alignment::LeftPadded,
            AlignArg::Full => Alignment::Full,
            AlignArg::Shifted => Alignment::Shifted,
            AlignArg::Right => Alignment::Right,
            AlignArg::Compact => Alignment::Compact,
        }),
        entropy_in_bits: arguments.entropy_unit == EntropyUnit::Bits,
        allow_missing: arguments.allow_missing,
        threads: arguments.threads,
    })
}
