//! The rows of a file: lines parsed, the framework recognised, every line reshaped to responses.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::adapters::{self, Bad, Context};
use super::annotations::Annotations;
use super::field::{Field, Object};
use super::lines::Lines;
use super::parse::Parser;
use crate::schema::dialect::Dialect;
use crate::schema::raw_field::{Primitive, RawField, Shape};
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

/// Lines looked at to recognise the framework.
const PEEK_LINES: usize = 8;
/// Stop looking ahead after this many bytes of the file.
const PEEK_BYTES: u64 = 16 << 20;
/// Columns a row may have.
pub(super) const MAX_COLUMNS: usize = 4096;

/// A response with the line it comes from.
pub(super) struct Row {
    /// Its columns, as its adapter names them.
    pub(super) object: Object,
    /// Line of the file, from 1.
    pub(super) line: u64,
}

/// The responses of a file, one by one.
pub(super) struct Rows {
    lines: Lines,
    parser: Parser,
    dialect: Dialect,
    context: Context,
    /// Raw rows that were read ahead, with their lines.
    ahead: VecDeque<(u64, Object)>,
    /// What is left of the line being reshaped.
    current: Option<(u64, adapters::Responses)>,
    raw_rows: u64,
}

impl Rows {
    /// Opens a file and recognises its framework; `annotations` are what was noted of its traces.
    pub(super) fn open(
        stored: &Stored,
        annotations: Option<&Arc<Annotations>>,
        limits: Limits,
    ) -> Result<Self> {
        let path = stored.path();
        let mut rows = Self {
            lines: Lines::open(stored, limits)?,
            parser: Parser::new(limits),
            dialect: Dialect::Unknown,
            context: Context { annotations: annotations.cloned(), ..Context::new(path) },
            ahead: VecDeque::new(),
            current: None,
            raw_rows: 0,
        };
        if is_document(path) {
            rows.read_document()?;
        }
        while rows.ahead.len() < PEEK_LINES && rows.lines.bytes_read() < PEEK_BYTES {
            match rows.read_line()? {
                Some(row) => rows.ahead.push_back(row),
                None => break,
            }
        }
        if rows.ahead.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        rows.dialect =
            adapters::refine(Dialect::detect(&raw_fields(&rows.ahead)), rows.ahead.iter().map(|(_, o)| o));
        Ok(rows)
    }

    /// The framework that wrote the file.
    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Where the file is, for messages.
    pub(super) fn path(&self) -> &Path {
        self.lines.path()
    }

    /// Bytes of the file taken so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    /// The next response; a line may hold several or none.
    pub(super) fn next_row(&mut self) -> Result<Option<Row>> {
        loop {
            if let Some((line, responses)) = &mut self.current {
                let line = *line;
                if let Some(row) = responses.next() {
                    return row
                        .map(|object| Some(Row { object, line }))
                        .map_err(|bad| self.bad_row(line, bad));
                }
                self.current = None;
            }
            let next = match self.ahead.pop_front() {
                Some(row) => Some(row),
                None => self.read_line()?,
            };
            let Some((line, object)) = next else { return Ok(None) };
            self.context.row = self.raw_rows;
            self.raw_rows += 1;
            self.current = Some((line, adapters::responses(self.dialect, object, &self.context)));
        }
    }

    fn read_line(&mut self) -> Result<Option<(u64, Object)>> {
        let Some(line) = self.lines.next_line()? else { return Ok(None) };
        match self.parser.parse(line) {
            Ok(Field::Object(object)) if object.len() > MAX_COLUMNS => {
                Err(self.lines.corrupt(format!("a row of more than {MAX_COLUMNS} columns")))
            }
            Ok(Field::Object(object)) => Ok(Some((self.lines.number(), object))),
            Ok(_) => Err(self.lines.corrupt("not an object: every line must be one row `{…}`")),
            Err(message) => Err(self.lines.corrupt(message)),
        }
    }

    /// Reads a `.json` file: one object or a list of objects over any number of lines. Lines that
    /// are rows by themselves are accepted too, as some tools name JSON lines so.
    fn read_document(&mut self) -> Result<()> {
        let Some(line) = self.lines.next_line()? else { return Ok(()) };
        let first = match self.parser.parse(line) {
            Ok(Field::Object(object)) => {
                self.ahead.push_back((1, object));
                return Ok(());
            }
            Ok(field) => Ok(field),
            Err(_) => self.parser.parse(self.lines.rest()?),
        };
        let line = self.lines.number();
        match first {
            Ok(Field::Object(object)) => self.ahead.push_back((line, object)),
            Ok(Field::List(items)) => {
                for item in items {
                    let Field::Object(object) = item else {
                        return Err(self.lines.corrupt("the list holds something that is not an object"));
                    };
                    self.ahead.push_back((line, object));
                }
            }
            Ok(_) => return Err(self.lines.corrupt("neither an object nor a list of objects")),
            Err(message) => return Err(self.lines.corrupt(message)),
        }
        Ok(())
    }

    fn bad_row(&self, line: u64, bad: Bad) -> Error {
        Error::Corrupt {
            path: self.path().to_owned(),
            place: format!("line {line}"),
            message: format!("column `{}`: {}", bad.column, bad.message),
        }
    }
}

/// Whether the name says that the file is one document rather than lines.
fn is_document(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    name.ends_with(".json")
}

/// The columns of some raw rows; a shape that tells more replaces one that tells less.
fn raw_fields(rows: &VecDeque<(u64, Object)>) -> Vec<RawField> {
    let mut fields: Vec<RawField> = Vec::new();
    for (name, value) in rows.iter().take(PEEK_LINES).flat_map(|(_, o)| o.iter()) {
        let shape = value.shape();
        match fields.iter_mut().find(|f| f.name == name) {
            Some(known) if detail(shape) > detail(known.shape) => known.shape = shape,
            Some(_) => {}
            None => fields.push(RawField::new(name, shape)),
        }
    }
    fields
}

fn detail(shape: Shape) -> u8 {
    match shape {
        Shape::Scalar(Primitive::Other) => 0,
        Shape::List(Primitive::Other) => 1,
        _ => 2,
    }
}
