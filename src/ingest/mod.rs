//! Whatever an RL run logged per token, as one checked, typed, streaming token stream.
//!
//! [`Run::open`] finds and understands the files, [`scan()`] streams them as [`TokenBatch`]es of
//! whole responses in canonical columns.

mod agreement;
mod align;
mod arrays;
mod batch;
mod batch_ops;
mod boundaries;
mod column_chunks;
mod columns;
mod context;
mod dialect;
mod discover;
mod guard;
mod json;
mod long;
mod mapping;
mod nested;
mod opened;
mod parquet;
mod path_facts;
mod placeholders;
mod quality;
mod resolve;
mod responses;
mod row_alignment;
mod row_index;
mod run;
mod runs;
mod sanitize;
mod scan;
mod scan_in_order;
mod sparse_lists;
mod stitch;
mod tokens;
mod units;
mod user_map;

use std::path::PathBuf;

pub use batch::{Id, MISSING_FLAG, MISSING_ID, Origin, ResponseColumns, TokenBatch, TokenColumns};
pub use columns::{Column, Kind, Level, PerColumn};
pub use context::AlignmentRule;
pub use dialect::{Alignment, Dialect};
pub use discover::Skipped;
pub use guard::quieten_guarded_panics;
pub use mapping::{Layout, Mapped, Mapping, RawSource, Reason, Transform, source_names};
pub use opened::Source;
pub use quality::{ColumnQuality, FAIL_SHARE, Place, Quality, WARN_SHARE};
pub use row_index::RowIndex;
pub use run::{IngestSettings, Run, RunFile};
pub use scan::{BATCH_TOKENS, Progress, Scanned, Silent, Sink, Wanted, scan};
pub use scan_in_order::scan_in_order;
pub use user_map::UserMap;

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
