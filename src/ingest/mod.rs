//! Whatever an RL run logged per token, as one checked, typed, streaming token stream.
//!
//! [`Run::open`] finds and understands the files, [`scan()`] streams them as [`TokenBatch`]es of
//! whole responses in canonical columns.

mod align;
mod arrays;
mod batch;
mod batch_ops;
mod boundaries;
mod columns;
mod context;
mod dialect;
mod discover;
mod guard;
mod json;
mod long;
mod mapping;
mod nested;
mod parquet;
mod path_facts;
mod quality;
mod responses;
mod run;
mod sanitize;
mod scan;
mod stitch;
mod tokens;
mod units;

use std::path::PathBuf;

pub use batch::{Id, MISSING_FLAG, MISSING_ID, Origin, ResponseColumns, TokenBatch, TokenColumns};
pub use columns::{Column, Kind, Level, PerColumn};
pub use context::AlignmentRule;
pub use dialect::{Alignment, Dialect};
pub use discover::Skipped;
pub use guard::quieten_guarded_panics;
pub use mapping::{Layout, Mapped, Mapping, RawSource, Reason, Transform, UserMap, source_names};
pub use quality::{ColumnQuality, FAIL_SHARE, Place, Quality, WARN_SHARE};
pub use run::{IngestSettings, Run, RunFile, Source};
pub use scan::{BATCH_TOKENS, Progress, RowIndex, Scanned, Silent, Sink, scan, scan_in_order};

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
