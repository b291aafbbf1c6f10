//! What the normalisers know of the file that a batch comes from.

use std::path::PathBuf;

use crate::error::Error;
use crate::ingest::schema::columns::Column;
use crate::ingest::schema::dialect::Alignment;
use crate::ingest::schema::mapping::{Mapping, source_names};

/// How list values are brought onto tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentRule {
    /// A canonical log: one value a token, nothing to find out.
    Exact,
    /// As the framework or the user says.
    Given(Alignment),
    /// Found out for each row from the lengths and the mask.
    Auto,
}

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
}

impl FileContext {
    /// A column whose type cannot be used.
    pub fn type_error(&self, raw: &str, column: Column, found: String) -> Error {
        use crate::ingest::schema::columns::{Kind, Level};
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
            path: self.path.clone(),
            column: raw.to_owned(),
            found,
            expected: format!("{one}, one {level} (for `{column}`)"),
        }
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
