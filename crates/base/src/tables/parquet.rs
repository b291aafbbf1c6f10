//! A frame as a Parquet file.
//!
//! Through the `parquet` crate that reads the logs: polars' own writer would add minutes to the
//! build for files of a few kilobytes.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use polars::prelude::{Column, DataFrame, DataType, PolarsResult};
use rayon::prelude::*;

use super::FOLDER;
use crate::error::{Error, Result};
use crate::output::{AtomicFile, committing, remove_stale};

/// Writes every frame to `tables/NAME.parquet` inside `folder`. Tables that an earlier report of this kind
/// had there and this one has not are removed; `besides` names those that are written elsewhere.
pub fn write_all(kind: &str, frames: &[(&str, DataFrame)], besides: &[&str], folder: &Path) -> Result<()> {
    let folder = folder.join(FOLDER);
    let names = frames.iter().map(|(name, _)| name).chain(besides).map(|name| format!("{name}.parquet"));
    remove_stale(&folder, kind, &names.collect())?;
    committing(|commits| {
        frames.par_iter().try_for_each(|(name, frame)| {
            commits.commit(complete(frame, &folder.join(format!("{name}.parquet")))?)
        })
    })
}

/// Writes a frame to `path`, which appears only when it is complete.
pub fn write(frame: &DataFrame, path: &Path) -> Result<()> {
    complete(frame, path)?.commit()
}

/// A frame as a file that only lacks its name.
fn complete(frame: &DataFrame, path: &Path) -> Result<AtomicFile> {
    let mut writer = Writer::create(frame, path)?;
    writer.push(frame)?;
    writer.finish()
}

/// Writes a long table, one frame after another.
pub struct Writer<'a> {
    path: &'a Path,
    writer: ArrowWriter<AtomicFile>,
}

impl<'a> Writer<'a> {
    /// Starts a file with the columns of `frame`.
    pub fn create(frame: &DataFrame, path: &'a Path) -> Result<Self> {
        let schema = batch(frame).map_err(|e| Error::write(path, e))?.schema();
        Self::with(schema, path)
    }

    /// Starts a file with these columns.
    pub fn with(schema: Arc<Schema>, path: &'a Path) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let writer =
            ArrowWriter::try_new(file, schema, Some(properties())).map_err(|e| Error::write(path, e))?;
        Ok(Self { path, writer })
    }

    /// Adds the rows of a frame with the same columns.
    pub fn push(&mut self, frame: &DataFrame) -> Result<()> {
        self.push_batch(&batch(frame).map_err(|e| Error::write(self.path, e))?)
    }

    /// Adds rows that are Arrow columns already.
    pub fn push_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| Error::write(self.path, e))
    }

    /// Completes the file.
    pub fn close(self) -> Result<()> {
        self.finish()?.commit()
    }

    fn finish(self) -> Result<AtomicFile> {
        let fail = |e: ParquetError| Error::write(self.path, e);
        self.writer.into_inner().map_err(fail)
    }
}

/// The columns as Arrow.
fn batch(frame: &DataFrame) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<(Field, ArrayRef)> = frame.columns().iter().map(column).collect::<Result<_, _>>()?;
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn column(column: &Column) -> Result<(Field, ArrayRef), ArrowError> {
    let values = array(column).map_err(|e| ArrowError::InvalidArgumentError(e.to_string()))?;
    Ok((Field::new(column.name().as_str(), values.data_type().clone(), true), values))
}

fn array(column: &Column) -> PolarsResult<ArrayRef> {
    Ok(match column.dtype() {
        DataType::Int64 => Arc::new(Int64Array::from_iter(column.i64()?.iter())),
        DataType::UInt64 => Arc::new(UInt64Array::from_iter(column.u64()?.iter())),
        DataType::Float64 => Arc::new(Float64Array::from_iter(column.f64()?.iter())),
        DataType::Float32 => Arc::new(Float32Array::from_iter(column.f32()?.iter())),
        DataType::Boolean => Arc::new(BooleanArray::from_iter(column.bool()?.iter())),
        // Frames of ours hold nothing else but texts; polars says so where one does.
        _ => Arc::new(StringArray::from_iter(column.str()?.iter())),
    })
}

/// How tables are written.
fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(concat!("stapo-analyze ", env!("CARGO_PKG_VERSION")).into())
        .build()
}
