//! A JSON log as a stream of Arrow batches.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field as ArrowField, Schema};

use super::adapters;
use super::arrays::{self, Kind};
use super::field::{Field, Object};
use super::rows::{MAX_COLUMNS, Row, Rows};
use crate::error::{Error, Result};
use crate::ingest::files::stored::Stored;
use crate::ingest::limits::Limits;
use crate::ingest::schema::columns::{Column as Canonical, Kind as CanonicalKind, fold_name};
use crate::ingest::schema::dialect::{Alignment, Dialect, RawField};
use crate::ingest::schema::user_map::UserMap;

/// No batch is wanted larger than this.
const MAX_BUDGET: usize = 1 << 24;
/// Bytes of text that weigh as much as a token.
const TEXT_PER_TOKEN: usize = 64;

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

/// A column that has its first value after the first batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateField {
    /// Its name.
    pub name: String,
    /// The line of its first value, from 1.
    pub line: u64,
}

impl JsonBatches {
    /// Opens a `.jsonl` or `.json` file, plain, gzip or zstd, and reads its first batch. Batches
    /// have about `token_budget` tokens; a longer response is a batch of its own.
    pub fn open(stored: &Stored, token_budget: usize, limits: Limits) -> Result<Self> {
        Self::open_mapped(stored, token_budget, limits, &UserMap::default())
    }

    /// The same, where columns that the user named must keep their type.
    pub fn open_mapped(stored: &Stored, token_budget: usize, limits: Limits, map: &UserMap) -> Result<Self> {
        let calculates = |(column, _): &(Canonical, &str)| column.kind() != CanonicalKind::Text;
        let named = map.named().filter(calculates).map(|(_, raw)| raw.to_owned()).collect();
        let mut batches = Self {
            rows: Rows::open(stored, limits)?,
            limits,
            budget: token_budget.clamp(1, MAX_BUDGET),
            columns: Columns { named, ..Columns::default() },
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
        batches.columns.late = Some(Vec::new());
        Ok(batches)
    }

    /// The columns that had their first value since the last call, after the first batch.
    pub fn take_late(&mut self) -> Vec<LateField> {
        self.columns.late.as_mut().map(std::mem::take).unwrap_or_default()
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
    pub fn alignment(&self) -> Option<Alignment> {
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
    tokens + text / TEXT_PER_TOKEN
}

/// The columns seen so far, and their cells of the batch under construction.
#[derive(Default)]
struct Columns {
    columns: Vec<Column>,
    index: HashMap<String, usize>,
    rows: usize,
    /// Columns that the user named: a change of their type is an error.
    named: Vec<String>,
    /// Columns that begin late; `None` during the first batch.
    late: Option<Vec<LateField>>,
}

struct Column {
    name: String,
    kind: Kind,
    /// Whether a change of type is an error; other columns are left out from then on.
    strict: bool,
    dropped: bool,
    /// The first line with a list of several kinds.
    mixed: Option<u64>,
    cells: Vec<(usize, Field)>,
}

impl Columns {
    fn add(&mut self, row: Row, path: &Path) -> Result<()> {
        for (name, value) in row.object {
            let kind = Kind::of(&value);
            let column = match self.index.get(name.as_ref()) {
                Some(i) => &mut self.columns[*i],
                None if self.columns.len() >= MAX_COLUMNS => {
                    return Err(Error::Corrupt {
                        path: path.to_owned(),
                        place: format!("line {}", row.line),
                        message: format!("more than {MAX_COLUMNS} different columns"),
                    });
                }
                None => {
                    self.index.insert(name.clone().into_owned(), self.columns.len());
                    let strict = is_strict(&name) || self.named.iter().any(|named| **named == *name);
                    let name = name.into_owned();
                    self.columns.push(Column {
                        name,
                        kind: Kind::Unknown,
                        strict,
                        dropped: false,
                        mixed: None,
                        cells: Vec::new(),
                    });
                    let last = self.columns.len() - 1;
                    &mut self.columns[last]
                }
            };
            if matches!(value, Field::Mixed) {
                column.mixed.get_or_insert(row.line);
            }
            // Left out, such a list would be values that are missing without a word.
            if let Some(line) = column.mixed.filter(|_| column.strict) {
                let merged = column.kind.merge(kind).unwrap_or(kind);
                if merged != Kind::Unknown {
                    return Err(Error::ColumnType {
                        path: path.to_owned(),
                        column: column.name.clone(),
                        found: format!("a list of several kinds in line {line}"),
                        expected: format!("{} as in other lines", merged.describe()),
                        canonical: None,
                    });
                }
            }
            if column.dropped || kind == Kind::Unknown {
                continue;
            }
            if column.kind == Kind::Unknown
                && let Some(late) = &mut self.late
            {
                late.push(LateField { name: column.name.clone(), line: row.line });
            }
            match column.kind.merge(kind) {
                Some(merged) => {
                    column.kind = merged;
                    column.cells.push((self.rows, value));
                }
                None if column.strict => {
                    return Err(Error::ColumnType {
                        path: path.to_owned(),
                        column: column.name.clone(),
                        found: format!("{} in line {}", kind.describe(), row.line),
                        expected: format!("{} as before", column.kind.describe()),
                        canonical: None,
                    });
                }
                None => {
                    column.dropped = true;
                    column.cells = Vec::new();
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn take_batch(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for column in self.columns.iter_mut().filter(|c| !c.dropped) {
            let cells = std::mem::take(&mut column.cells);
            if let Some(array) = arrays::build(column.kind, cells, rows)? {
                fields.push(ArrowField::new(&column.name, array.data_type().clone(), true));
                arrays.push(array);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }

    fn fields(&self) -> Vec<RawField> {
        let known = self.columns.iter().filter(|c| !c.dropped);
        known.filter_map(|c| Some(RawField::new(&c.name, c.kind.shape()?))).collect()
    }
}

/// Whether the analysis would calculate with a column of this name. Free columns such as a ground
/// truth may change their type as they like.
fn is_strict(name: &str) -> bool {
    let folded = fold_name(name);
    let named = |c: &&Canonical| c.name() == name || c.aliases().contains(&folded.as_str());
    let kinds: Vec<_> = Canonical::ALL.iter().filter(named).map(|c| c.kind()).collect();
    !kinds.is_empty() && !kinds.contains(&CanonicalKind::Text)
}

#[cfg(test)]
mod tests;
