//! From rows to Arrow columns, for a table that is too long for a frame.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use polars::prelude::{Column, NamedFrom, Series};

use super::{DataFrame, IntoText};

/// Rows of a long table in the making, as [`Columns`](super::Columns) makes a frame: millions of rows
/// go to their file without one.
pub struct BatchColumns<'a, R> {
    rows: &'a [R],
    columns: Vec<(Field, ArrayRef)>,
}

impl<'a, R> BatchColumns<'a, R> {
    /// No column yet, of these rows.
    #[must_use]
    pub fn of(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds whole numbers.
    #[must_use]
    pub fn int<T: Into<Option<i64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values: Int64Array = self.rows.iter().map(|row| of(row).into()).collect();
        self.column(name, Arc::new(values))
    }

    /// Adds counts.
    #[must_use]
    pub fn count<T: Into<Option<u64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values: UInt64Array = self.rows.iter().map(|row| of(row).into()).collect();
        self.column(name, Arc::new(values))
    }

    /// Adds numbers.
    #[must_use]
    pub fn float<T: Into<Option<f64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values: Float64Array = self.rows.iter().map(|row| of(row).into()).collect();
        self.column(name, Arc::new(values))
    }

    /// Adds texts.
    #[must_use]
    pub fn text<T: IntoText<'a>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values: StringArray = self.rows.iter().map(|row| of(row).into_text()).collect();
        self.column(name, Arc::new(values))
    }

    fn column(mut self, name: &str, values: ArrayRef) -> Self {
        self.columns.push((Field::new(name, values.data_type().clone(), true), values));
        self
    }

    /// The rows.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = self.columns.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }

    /// The same as a frame.
    #[must_use]
    pub fn frame(self) -> DataFrame {
        let columns = self.columns.iter().map(|(field, values)| of_frame(field.name(), values));
        // Columns of one length; a caller names each once.
        DataFrame::new(self.rows.len(), columns.collect()).unwrap_or_default()
    }
}

fn of_frame(name: &str, values: &ArrayRef) -> Column {
    let name = name.into();
    let series = match values.data_type() {
        DataType::Int64 => Series::new(name, values.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()),
        DataType::UInt64 => Series::new(name, values.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>()),
        DataType::Float64 => {
            Series::new(name, values.as_primitive::<Float64Type>().iter().collect::<Vec<_>>())
        }
        _ => Series::new(name, values.as_string::<i32>().iter().collect::<Vec<_>>()),
    };
    series.into()
}
