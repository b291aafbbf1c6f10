//! The columns of JSON rows: what type each has, and its cells of the batch under construction.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field as ArrowField, Schema};

use super::arrays::{self, Kind};
use super::field::Field;
use super::rows::{MAX_COLUMNS, Row};
use crate::file_context::type_error;
use crate::schema::raw_field::RawField;
use crate::schema::user_map::UserMap;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::{Column as Canonical, Kind as CanonicalKind};

/// A column that has its first value after the first batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateField {
    /// Its name.
    pub name: String,
    /// The line of its first value, from 1.
    pub line: u64,
}

/// The columns seen so far, and their cells of the batch under construction.
#[derive(Default)]
pub(super) struct Columns {
    columns: Vec<Column>,
    index: HashMap<String, usize>,
    /// Rows of the batch under construction.
    pub(super) rows: usize,
    /// Columns that the user named: a change of their type is an error.
    named: Vec<String>,
    /// What the user said of the mask: nothing, that there is none, or its name.
    mask: Option<Option<String>>,
    /// Columns that begin late; `None` during the first batch.
    late: Option<Vec<LateField>>,
}

struct Column {
    name: String,
    kind: Kind,
    /// Whether a change of type is an error; other columns are left out from then on.
    strict: bool,
    dropped: bool,
    /// Whether it says which tokens are trained on: left out, all would be.
    is_mask: bool,
    /// The first line with a value that has no place in a flat table, and what it is.
    odd: Option<(u64, &'static str)>,
    cells: Vec<(usize, Field)>,
}

impl Column {
    /// Fails where left out values would be missing without a word: a list of several kinds, and any mask
    /// that has no place in a flat table.
    fn refuse_oddity(&mut self, value: &Field, kind: Kind, path: &Path, line: u64) -> Result<()> {
        let is_grave = self.is_mask || matches!(value, Field::Mixed);
        if let Some(odd) = value.oddity().filter(|_| is_grave) {
            self.odd.get_or_insert((line, odd));
        }
        let Some((line, odd)) = self.odd.filter(|_| self.strict) else { return Ok(()) };
        let found = format!("{odd} in line {line}");
        match self.kind.merge(kind).unwrap_or(kind) {
            Kind::Unknown if self.is_mask => Err(type_error(path, &self.name, Canonical::Mask, found)),
            Kind::Unknown => Ok(()),
            merged => Err(Error::ColumnType {
                path: path.to_owned(),
                column: self.name.clone(),
                found,
                expected: format!("{} as in other lines", merged.describe()),
                canonical: None,
            }),
        }
    }
}

impl Columns {
    /// None yet; what the user said of columns.
    pub(super) fn new(map: &UserMap) -> Self {
        let calculates = |(column, _): &(Canonical, &str)| column.kind() != CanonicalKind::Text;
        let named = map.named().filter(calculates).map(|(_, raw)| raw.to_owned()).collect();
        let mask = map.get(Canonical::Mask).map(|said| said.map(|source| source.name.clone()));
        Self { named, mask, ..Self::default() }
    }

    /// From here on, columns that have their first value are late.
    pub(super) fn expect_no_more(&mut self) {
        self.late = Some(Vec::new());
    }

    /// The late ones since the last call.
    pub(super) fn take_late(&mut self) -> Vec<LateField> {
        self.late.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds a row: a column that it lacks is null there, one that is new was null before.
    pub(super) fn add(&mut self, row: Row, path: &Path) -> Result<()> {
        for (name, value) in row.object {
            let kind = Kind::of(&value);
            let at = self.place_of(name, path, row.line)?;
            let column = &mut self.columns[at];
            column.refuse_oddity(&value, kind, path, row.line)?;
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

    /// Where a column of this name is, which may be new.
    fn place_of(&mut self, name: Cow<'static, str>, path: &Path, line: u64) -> Result<usize> {
        if let Some(at) = self.index.get(name.as_ref()) {
            return Ok(*at);
        }
        if self.columns.len() >= MAX_COLUMNS {
            return Err(Error::Corrupt {
                path: path.to_owned(),
                place: format!("line {line}"),
                message: format!("more than {MAX_COLUMNS} different columns"),
            });
        }
        let at = self.columns.len();
        self.index.insert(name.clone().into_owned(), at);
        self.columns.push(Column {
            kind: Kind::Unknown,
            strict: is_strict(&name) || self.named.iter().any(|named| **named == *name),
            is_mask: match &self.mask {
                Some(said) => said.as_deref() == Some(name.as_ref()),
                None => Canonical::Mask.is_called(&name),
            },
            name: name.into_owned(),
            dropped: false,
            odd: None,
            cells: Vec::new(),
        });
        Ok(at)
    }

    /// The rows so far as one batch.
    pub(super) fn take_batch(&mut self) -> Result<RecordBatch, ArrowError> {
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

    /// The columns that have a shape.
    pub(super) fn fields(&self) -> Vec<RawField> {
        let known = self.columns.iter().filter(|c| !c.dropped);
        known.filter_map(|c| Some(RawField::new(&c.name, c.kind.shape()?))).collect()
    }
}

/// Whether the analysis would calculate with a column of this name. Free columns such as a ground
/// truth may change their type as they like.
fn is_strict(name: &str) -> bool {
    let kinds: Vec<_> = Canonical::ALL.iter().filter(|c| c.is_called(name)).map(|c| c.kind()).collect();
    !kinds.is_empty() && !kinds.contains(&CanonicalKind::Text)
}
