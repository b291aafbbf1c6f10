//! A small table as a Parquet file.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};
use crate::output::AtomicFile;

/// Columns with names.
#[derive(Default)]
pub struct Table {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Table {
    fn column(mut self, name: &str, values: ArrayRef) -> Self {
        self.fields.push(Field::new(name, values.data_type().clone(), true));
        self.columns.push(values);
        self
    }

    /// Adds whole numbers.
    pub fn ints(self, name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        self.column(name, Arc::new(Int64Array::from_iter(values)))
    }

    /// Adds counts.
    pub fn counts(self, name: &str, values: impl Iterator<Item = u64>) -> Self {
        self.column(name, Arc::new(UInt64Array::from_iter_values(values)))
    }

    /// Adds numbers.
    pub fn floats(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.column(name, Arc::new(Float64Array::from_iter(values)))
    }

    /// Adds texts.
    pub fn texts(self, name: &str, values: impl Iterator<Item = Option<String>>) -> Self {
        self.column(name, Arc::new(StringArray::from_iter(values)))
    }

    /// Adds truth values.
    pub fn flags(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.column(name, Arc::new(BooleanArray::from_iter(values.map(Some))))
    }

    /// The columns as Arrow.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
    }

    /// Writes the table to `path`, which appears only when it is complete.
    pub fn write(self, path: &Path) -> Result<()> {
        let batch = self.batch().map_err(|e| Error::write(path, e))?;
        let mut file = AtomicFile::create(path)?;
        let fail = |e: parquet::errors::ParquetError| Error::write(path, e);
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties())).map_err(fail)?;
        writer.write(&batch).map_err(fail)?;
        writer.close().map_err(fail)?;
        file.commit()
    }
}

/// How tables are written.
pub fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(concat!("stapo-analyze ", env!("CARGO_PKG_VERSION")).into())
        .build()
}
