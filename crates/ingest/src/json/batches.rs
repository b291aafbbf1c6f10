//! A JSON log as a stream of Arrow batches.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::adapters;
use super::annotations::Annotations;
use super::columns::{Columns, LateField};
use super::field::{Field, Object};
use super::rows::Rows;
use crate::schema::alignment::ListAlignment;
use crate::schema::dialect::Dialect;
use crate::schema::raw_field::RawField;
use crate::schema::user_map::UserMap;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

/// No batch is wanted larger than this.
const MAX_BUDGET: usize = 1 << 24;
/// Bytes of text that weigh as much as a token, beside tokens and in a log of texts, where each becomes one.
const TEXT_PER_TOKEN: usize = 64;
const BARE_TEXT_PER_TOKEN: usize = 8;

/// Some rows of a JSON log.
#[derive(Clone, Debug)]
pub struct JsonBatch {
    /// The rows: flat columns and lists of `Int64`, `Float64`, `Utf8` and `Boolean`.
    pub batch: RecordBatch,
    /// Ordinal of the first row in the file, from 0.
    pub first_row: u64,
    /// Bytes of the file (compressed, if it is) read so far.
    pub bytes_read: u64,
}

/// The rows of a JSON log, in batches.
///
/// A column keeps its type from batch to batch except that whole numbers may become `Float64`
/// with the first fraction; a column appears with its first value.
pub struct JsonBatches {
    rows: Rows,
    limits: Limits,
    budget: usize,
    columns: Columns,
    first: Option<JsonBatch>,
    fields: Vec<RawField>,
    row: u64,
    done: bool,
}

impl JsonBatches {
    /// Opens a `.jsonl` or `.json` file, plain, gzip or zstd, and reads its first batch. Batches
    /// have about `token_budget` tokens; a longer response is a batch of its own. `annotations` are
    /// what was noted of its traces; columns that the user named in `map` must keep their type.
    pub fn open(
        stored: &Stored,
        annotations: Option<&Arc<Annotations>>,
        token_budget: usize,
        limits: Limits,
        map: &UserMap,
    ) -> Result<Self> {
        let mut batches = Self {
            rows: Rows::open(stored, annotations, limits)?,
            limits,
            budget: token_budget.clamp(1, MAX_BUDGET),
            columns: Columns::new(map),
            first: None,
            fields: Vec::new(),
            row: 0,
            done: false,
        };
        batches.first = batches.read()?;
        if batches.first.is_none() {
            return Err(Error::Empty { path: stored.path().to_owned() });
        }
        batches.fields = batches.columns.fields();
        batches.columns.expect_no_more();
        Ok(batches)
    }

    /// The columns that had their first value since the last call, after the first batch.
    pub fn take_late(&mut self) -> Vec<LateField> {
        self.columns.take_late()
    }

    /// The columns of all batches so far.
    pub fn fields_so_far(&self) -> Vec<RawField> {
        self.columns.fields()
    }

    /// The columns of the first batch, in the order they appeared.
    pub fn fields(&self) -> &[RawField] {
        &self.fields
    }

    /// The framework that wrote the log.
    pub fn dialect(&self) -> Dialect {
        self.rows.dialect()
    }

    /// How the lists of a row are laid out, where the framework tells it.
    pub fn alignment(&self) -> Option<ListAlignment> {
        adapters::alignment(self.dialect())
    }

    /// Bytes of the file (compressed, if it is) read so far.
    pub fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    fn read(&mut self) -> Result<Option<JsonBatch>> {
        let mut weight = 0;
        while weight < self.budget {
            let Some(row) = self.rows.next_row()? else { break };
            let weighs = weigh(&row.object);
            if weighs as u64 > self.limits.tokens() {
                return Err(Error::TooLarge {
                    path: self.rows.path().to_owned(),
                    place: format!("line {}", row.line),
                    message: self.limits.too_many_tokens(weighs as u64),
                });
            }
            weight += weighs;
            self.columns.add(row, self.rows.path())?;
        }
        if self.columns.rows == 0 {
            return Ok(None);
        }
        let rows = self.columns.rows as u64;
        let batch = self.columns.take_batch().map_err(|e| Error::Corrupt {
            path: self.rows.path().to_owned(),
            place: format!("rows {}–{}", self.row, self.row + rows - 1),
            message: e.to_string(),
        })?;
        let first_row = self.row;
        self.row += rows;
        Ok(Some(JsonBatch { batch, first_row, bytes_read: self.bytes_read() }))
    }
}

impl Iterator for JsonBatches {
    type Item = Result<JsonBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        if self.done {
            return None;
        }
        let batch = self.read().transpose();
        self.done = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// Tokens of a row, with its texts counted in.
fn weigh(row: &Object) -> usize {
    let mut tokens = 1;
    let mut text = 0;
    for (_, value) in row.iter() {
        tokens = tokens.max(value.list_len());
        text += match value {
            Field::Text(t) => t.len(),
            Field::Texts(t) => t.iter().flatten().map(|t| t.len()).sum(),
            _ => 0,
        };
    }
    let per_token = if tokens == 1 { BARE_TEXT_PER_TOKEN } else { TEXT_PER_TOKEN };
    tokens + text / per_token
}

#[cfg(test)]
mod tests;
