//! Whatever an RL run logged per token, as one checked, typed, streaming token stream.
//!
//! [`Run::open`] finds and understands the files, [`scan()`] streams them as [`TokenBatch`]es of
//! whole responses in canonical columns.

mod align;
pub mod check;
pub mod convert;
mod file_context;
mod files;
mod json;
mod memory_turns;
mod normalise;
mod parquet;
pub mod right;
mod scan;
mod schema;
mod scope;
pub mod show;
mod step_range;
mod storage;
mod text_logs;
pub mod texts;
mod tokenizer_json;
pub mod training;
mod values;

use std::path::PathBuf;

pub use files::discover::Skipped;
pub use files::run::{Run, RunFile};
pub use files::settings::IngestSettings;
pub use normalise::quality::{ColumnQuality, Quality, ValuePlace};
pub use parquet::run_length::HybridRuns;
pub use scan::copies::NEVER_TWICE;
pub use scan::in_order::scan_in_order;
pub use scan::parallel::scan;
pub use scan::parallel::scan_units;
pub use scan::passed::{Passed, accept_whole};
pub use scan::planned::PlannedRun;
pub use scan::renumber::Renumber;
pub use scan::row_index::RowIndex;
pub use scan::scan_part::ScanPart;
pub use scan::shared::Scanned;
pub use scan::unit_table::{ALL_UNITS, UnitTable};
pub use scan::wanted::Wanted;
pub use schema::alignment::AlignmentRule;
pub use schema::alignment::ListAlignment;
pub use schema::dialect::Dialect;
pub use schema::mapping::{Layout, Mapped, Mapping, OtherColumn, RawSource, Reason, Transform, source_names};
pub use schema::user_map::UserMap;
pub use step_range::StepRange;
pub use storage::identity::FileIdentity;

use stapo_base::error::Result;
use stapo_batch::{Column, Silent, TokenBatch};

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
