//! What the normalisers know of the file that a batch comes from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::schema::alignment::AlignmentRule;
use crate::schema::conventions::{Conventions, FirstRows};
use crate::schema::mapping::{Mapping, source_names};
use crate::scope::Scope;
use crate::text_logs::Speller;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::ResponseColumns;
use stapo_batch::columns::{Column, Kind, Level};

/// The file behind a batch.
#[derive(Clone, Debug)]
pub struct FileContext {
    /// Where it is, for messages.
    pub path: PathBuf,
    /// Index in the run.
    pub file: u32,
    /// Step from folder or file name, for rows that name none.
    pub step: Option<i64>,
    /// How lists are aligned.
    pub alignment: AlignmentRule,
    /// Whether entropies are logged in bits.
    pub entropy_in_bits: bool,
    /// Which responses are asked for: what is missing elsewhere does not count.
    pub scope: Scope,
    /// How texts become tokens, where it holds no other ones.
    pub speller: Speller,
    /// Whether all its rows are of evaluation, whatever they say.
    pub held_out: bool,
    /// What its rows look like so far.
    pub conventions: Arc<Conventions>,
}

impl FileContext {
    /// Whether responses are asked for, 1 or 0; `None` where all are.
    pub fn asked(&self, responses: &ResponseColumns) -> Option<Vec<u8>> {
        if self.scope.is_all() {
            return None;
        }
        let is_asked = |response| u8::from(self.scope.contains(responses, response));
        let asked: Vec<u8> = (0..responses.step.len()).map(is_asked).collect();
        asked.contains(&0).then_some(asked)
    }

    /// A column whose type cannot be used.
    pub fn type_error(&self, raw: &str, column: Column, found: String) -> Error {
        type_error(&self.path, raw, column, found)
    }

    /// A row that cannot be used.
    pub fn bad_row(&self, row: u64, raw: &str, message: impl Into<String>) -> Error {
        Error::BadRow { path: self.path.clone(), row, column: raw.to_owned(), message: message.into() }
    }

    /// Fails where rows follow two conventions.
    pub fn require_one_convention(&self, rows: &FirstRows, mapping: &Mapping) -> Result<()> {
        let tokens = if mapping.has(Column::TokenText) && !mapping.has(Column::TokenId) {
            Column::TokenText
        } else {
            Column::TokenId
        };
        let Some((row, column, found)) = rows.conflict(tokens) else { return Ok(()) };
        let name = mapping.get(column).map_or_else(|| column.name().to_owned(), source_names);
        Err(self.bad_row(row, &name, format!("{found}: entries are missing, or two conventions are mixed")))
    }

    /// A row whose lists do not fit together.
    pub fn length_error(
        &self,
        row: u64,
        mapping: &Mapping,
        column: (Column, usize),
        other: (Column, usize),
    ) -> Error {
        let name = |c: Column| mapping.get(c).map_or(c.name().to_owned(), source_names);
        Error::UnequalLengths {
            path: self.path.clone(),
            row,
            column: name(column.0),
            found: column.1,
            other: name(other.0),
            expected: other.1,
        }
    }
}

/// A column of a file whose type cannot be used.
pub fn type_error(path: &Path, raw: &str, column: Column, found: String) -> Error {
    let one = match column.kind() {
        Kind::Int => "whole numbers",
        Kind::Float | Kind::Double => "numbers",
        Kind::Flag => "flags (bool, 0/1, -100/id)",
        Kind::Text => "texts",
        Kind::Id => "numbers or texts",
        Kind::IdList => "lists of token ids",
    };
    let level = match column.level() {
        Level::Token => "a token",
        Level::Response => "a response",
    };
    Error::ColumnType {
        path: path.to_owned(),
        column: raw.to_owned(),
        found,
        expected: format!("{one}, one {level} (for `{column}`)"),
        canonical: Some(column.name()),
    }
}
