//! Any log as canonical Parquet, in either layout.

mod rows;
mod schema;

use std::io::Write;
use std::path::Path;

use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use self::schema::OutputSchema;
use crate::error::{Error, Result};
use crate::ingest::{Column, Layout, Progress, Quality, Run, TokenBatch, scan_in_order};
use crate::output::AtomicFile;

/// Version of the canonical schema, in the file's metadata.
pub const SCHEMA_VERSION: &str = "1";
/// Tokens of a row group: large enough to compress, small enough to be read by many at once.
const ROW_GROUP_TOKENS: usize = 1 << 20;

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
    let mut file = AtomicFile::create(target)?;
    let converted = write(run, target, &mut file, layout, progress)?;
    file.commit()?;
    Ok(converted)
}

fn write(
    run: &Run,
    target: &Path,
    file: &mut (impl Write + Send),
    layout: Layout,
    progress: &dyn Progress,
) -> Result<Converted> {
    let output = OutputSchema::of(run, layout);
    let properties = properties(run, &output);
    let fail = |e: parquet::errors::ParquetError| Error::write(target, e);
    let mut writer = ArrowWriter::try_new(file, output.schema.clone(), Some(properties)).map_err(fail)?;
    let (mut responses, mut tokens, mut pending) = (0, 0, 0);
    let mut consume = |batch: TokenBatch| {
        let rows = rows::rows(&batch, &output, layout).map_err(|e| Error::write(target, e))?;
        writer.write(&rows).map_err(fail)?;
        responses += batch.len() as u64;
        tokens += batch.token_count() as u64;
        pending += batch.token_count();
        if pending >= ROW_GROUP_TOKENS {
            writer.flush().map_err(fail)?;
            pending = 0;
        }
        Ok(())
    };
    let scanned = scan_in_order(run, Column::ALL, progress, &mut consume)?;
    writer.close().map_err(fail)?;
    Ok(Converted { responses, tokens, quality: scanned.quality })
}

fn properties(run: &Run, output: &OutputSchema) -> WriterProperties {
    let mut metadata = run.metadata.clone();
    metadata.insert("schema_version".into(), SCHEMA_VERSION.into());
    if let Some(first) = run.mappings.first() {
        metadata.entry("framework".into()).or_insert_with(|| first.dialect.name().into());
    }
    let pairs = metadata.into_iter().map(|(key, value)| KeyValue { key, value: Some(value) });
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(concat!("stapo-analyze ", env!("CARGO_PKG_VERSION")).into())
        .set_max_row_group_row_count(None)
        .set_key_value_metadata(Some(pairs.collect()));
    for field in output.schema.fields() {
        let (leaf, path) = match field.data_type() {
            DataType::List(item) => {
                (item.data_type(), vec![field.name().clone(), "list".into(), item.name().clone()])
            }
            other => (other, vec![field.name().clone()]),
        };
        if leaf.is_floating() {
            // Mantissas do not repeat: a dictionary only costs, splitting bytes helps zstd.
            let path = parquet::schema::types::ColumnPath::new(path);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT);
        }
    }
    properties.build()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
