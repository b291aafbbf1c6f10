//! Whatever an RL run logged per token, as one checked, typed, streaming token stream.
//!
//! [`Run::open`] finds and understands the files, [`scan()`] streams them as [`TokenBatch`]es of
//! whole responses in canonical columns.

mod align;
mod batch;
mod batch_ops;
mod file_context;
mod files;
mod guard;
mod hash;
mod json;
mod limits;
mod memory_turns;
mod normalise;
mod parquet;
mod portable_batch;
mod progress;
mod scan;
mod schema;
mod scope;
mod sink;
mod step_range;
mod storage;
mod values;

use std::path::PathBuf;

pub use batch::{
    BATCH_TOKENS, Id, MISSING_FLAG, MISSING_ID, OpenStart, Origin, ResponseColumns, TokenBatch, TokenColumns,
};
pub use files::discover::Skipped;
pub use files::run::{Run, RunFile};
pub use files::settings::IngestSettings;
pub use guard::quieten_guarded_panics;
pub(crate) use guard::{guarded, internal};
pub(crate) use hash::Mixer;
pub(crate) use json::non_finite_to_null;
pub use limits::{FAIL_SHARE, Limits, WARN_SHARE};
pub use normalise::quality::{ColumnQuality, Quality, ValuePlace};
#[cfg(feature = "replay")]
pub(crate) use parquet::run_length::HybridRuns;
pub use progress::{Progress, Silent};
pub(crate) use scan::copies::NEVER_TWICE;
pub use scan::in_order::scan_in_order;
pub use scan::parallel::scan;
pub(crate) use scan::parallel::{accept_whole, scan_units};
pub(crate) use scan::planned::PlannedRun;
pub(crate) use scan::renumber::Renumber;
pub use scan::row_index::RowIndex;
pub(crate) use scan::scan_part::ScanPart;
pub use scan::shared::Scanned;
pub(crate) use scan::unit_table::{ALL_UNITS, UnitTable};
pub use scan::wanted::Wanted;
pub(crate) use schema::alignment::AlignmentRule;
pub use schema::alignment::ListAlignment;
pub use schema::columns::{Column, Kind, Level, PerColumn};
pub use schema::dialect::Dialect;
pub use schema::mapping::{Layout, Mapped, Mapping, RawSource, Reason, Transform, source_names};
pub use schema::user_map::UserMap;
pub use sink::Sink;
pub use step_range::StepRange;
pub use storage::identity::FileIdentity;

use crate::error::Result;

/// Reads a whole run into memory, all columns: for small logs and tests.
pub fn read_all(arguments: &[PathBuf], settings: &IngestSettings) -> Result<Vec<TokenBatch>> {
    let run = Run::open(arguments, settings)?;
    let mut batches = Vec::new();
    scan_in_order(&run, Column::ALL, &Silent, &mut |batch| {
        batches.push(batch);
        Ok(())
    })?;
    Ok(batches)
}
