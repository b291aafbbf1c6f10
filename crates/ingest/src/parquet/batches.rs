//! The rows of some row groups, batch by batch: what the Arrow reader gives and the columns that are read
//! beside it.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use crate::parquet::list_column::ListColumn;
use crate::parquet::number_column::NumberColumn;
use crate::parquet::run_length::RunColumn;
use crate::values::boundaries;
use stapo_base::error::{Error, Result};
use stapo_base::guard::decoding;

/// Batches of rows, put together from readers that each know one kind of column.
pub struct Batches<F> {
    /// Reads the columns that have no reader of their own.
    pub reader: ParquetRecordBatchReader,
    /// Columns that repeat a value over many rows.
    pub runs: Vec<RunColumn>,
    /// Columns of numbers that differ from row to row.
    pub numbers: Vec<NumberColumn>,
    /// Lists of numbers.
    pub lists: Vec<ListColumn>,
    /// Lists that are null but on the first of several rows …
    pub sparse: Vec<ListColumn>,
    /// … in which these columns are the same.
    pub keys: Vec<String>,
    /// Rows that the footer announces and that did not come yet.
    pub expected: usize,
    /// Makes an error of what went wrong.
    pub fail: F,
}

impl<F: Fn(String) -> Error> Iterator for Batches<F> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let decoded = decoding(
            || (self.fail)("the decoder failed on these bytes".into()),
            || self.reader.next().transpose().map_err(|e| (self.fail)(e.to_string())),
        );
        match decoded.transpose() {
            None if self.expected > 0 => {
                self.expected = 0;
                Some(Err((self.fail)("fewer rows than the footer announces".into())))
            }
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(batch)) if batch.num_rows() > self.expected => {
                Some(Err((self.fail)("too many rows".into())))
            }
            Some(Ok(batch)) => {
                self.expected -= batch.num_rows();
                Some(self.with_own(&batch).map_err(|e| (self.fail)(e.to_string())))
            }
        }
    }
}

impl<F> Batches<F> {
    /// Adds the columns that the Arrow reader did not read.
    fn with_own(
        &mut self,
        batch: &RecordBatch,
    ) -> std::result::Result<RecordBatch, parquet::errors::ParquetError> {
        let mut fields = batch.schema().fields().to_vec();
        let mut columns = batch.columns().to_vec();
        let rows = batch.num_rows();
        for column in &mut self.runs {
            fields.push(column.field.clone());
            columns.push(column.next_rows(rows)?);
        }
        for column in &mut self.numbers {
            fields.push(column.field.clone());
            columns.push(column.next_rows(rows)?);
        }
        for column in &mut self.lists {
            fields.push(column.field.clone());
            columns.push(column.next_rows(rows, std::slice::from_ref(&(0..rows)))?);
        }
        if !self.sparse.is_empty() {
            let keys: Vec<&ArrayRef> = self.keys.iter().filter_map(|key| batch.column_by_name(key)).collect();
            let changes = boundaries::changes(rows, &keys).into_iter();
            let wanted: Vec<Range<usize>> = changes.map(|row| row..row + 1).collect();
            for column in &mut self.sparse {
                fields.push(column.field.clone());
                columns.push(column.next_rows(rows, &wanted)?);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
    }
}
