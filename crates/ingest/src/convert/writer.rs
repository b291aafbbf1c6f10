//! Canonical batches to a Parquet file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::rows::rows;
use super::schema::OutputSchema;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;

/// Version of the canonical schema, in the file's metadata.
pub const SCHEMA_VERSION: &str = "1";
/// Tokens of a row group: large enough to compress, small enough to be read by many at once.
pub const ROW_GROUP_TOKENS: usize = 1 << 20;

/// Writes batches of one schema.
pub struct BatchWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    output: OutputSchema,
    target: PathBuf,
    row_group_tokens: usize,
    pending: usize,
}

impl<W: Write + Send> BatchWriter<W> {
    /// Starts a file; `target` is its name in messages.
    pub fn new(
        sink: W,
        target: &Path,
        output: OutputSchema,
        metadata: &BTreeMap<String, String>,
        row_group_tokens: usize,
    ) -> Result<Self> {
        // Plain types need no Arrow schema beside Parquet's own; readers then see the metadata.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(metadata, &output))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(sink, output.schema.clone(), options)
            .map_err(|e| Error::write(target, e))?;
        Ok(Self { writer, output, target: target.to_owned(), row_group_tokens, pending: 0 })
    }

    /// Writes the responses of a batch.
    pub fn write(&mut self, batch: &TokenBatch) -> Result<()> {
        let fail = |e: ParquetError| Error::write(&self.target, e);
        let rows = rows(batch, &self.output).map_err(|e| Error::write(&self.target, e))?;
        self.writer.write(&rows).map_err(fail)?;
        self.pending += batch.token_count();
        if self.pending >= self.row_group_tokens {
            self.writer.flush().map_err(fail)?;
            self.pending = 0;
        }
        Ok(())
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<()> {
        self.writer.close().map_err(|e| Error::write(&self.target, e))?;
        Ok(())
    }
}

fn properties(metadata: &BTreeMap<String, String>, output: &OutputSchema) -> WriterProperties {
    let mut metadata = metadata.clone();
    metadata.insert("schema_version".into(), SCHEMA_VERSION.into());
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
            let path = ColumnPath::new(path);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT);
        }
    }
    properties.build()
}
