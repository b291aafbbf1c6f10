//! Any log as canonical Parquet, in either layout.

mod rows;
mod schema;
mod writer;

use std::path::Path;

pub use schema::{OutputColumn, OutputSchema};
pub use writer::{BatchWriter, ROW_GROUP_TOKENS, SCHEMA_VERSION};

use crate::{Layout, Quality, Run, scan, scan_in_order};
use stapo_base::error::Result;
use stapo_base::output::{AtomicFile, refuse_replacing};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::progress::{Progress, Silent};
use stapo_batch::sink::Sink;

/// What a conversion did.
#[derive(Debug)]
pub struct Converted {
    /// Responses written.
    pub responses: u64,
    /// Tokens written.
    pub tokens: u64,
    /// Values that were missing or bad.
    pub quality: Quality,
}

/// Writes the whole run to `target`, which appears only when it is complete.
pub fn convert(run: &Run, target: &Path, layout: Layout, progress: &dyn Progress) -> Result<Converted> {
    refuse_replacing(target, run.files.iter().map(|file| file.path()))?;
    let mut file = AtomicFile::create(target)?;
    let with_positions = layout == Layout::Long || has_gaps(run)?;
    let output = OutputSchema::of(run, layout, with_positions);
    let mut metadata = run.metadata.clone();
    if let Some(first) = run.mappings.first() {
        metadata.entry("framework".into()).or_insert_with(|| first.dialect.name().into());
    }
    let mut writer = BatchWriter::new(&mut file, target, output, &metadata, ROW_GROUP_TOKENS)?;
    let (mut responses, mut tokens) = (0, 0);
    let scanned = scan_in_order(run, Column::ALL, progress, &mut |batch| {
        responses += batch.len() as u64;
        tokens += batch.token_count() as u64;
        writer.write(&batch)
    })?;
    writer.finish()?;
    file.commit()?;
    Ok(Converted { responses, tokens, quality: scanned.quality })
}

/// Whether positions say more than 0, 1, 2, …: a look at that column alone.
fn has_gaps(run: &Run) -> Result<bool> {
    struct Gaps(bool);
    impl Sink for Gaps {
        fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
            self.0 |= batch.tokens.ints.get(Column::Position).is_some();
            Ok(())
        }
    }
    if !run.has(Column::Position) {
        return Ok(false);
    }
    let scanned = scan(run, &[Column::Position], &Silent, || Gaps(false))?;
    Ok(scanned.sinks.iter().any(|s| s.0))
}
