//! JSON: `trainer_state.json`, an array of rows, an object of columns, a row a line. Values go from the parser into
//! the table; nothing else of a document is kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use stapo_base::error::Error;
use stapo_base::format::counted;
use stapo_base::non_finite;

use crate::names::Names;
use crate::table::{Cell, Table};

/// Why a text gave no rows.
pub(crate) enum Fault {
    /// It is no JSON.
    Syntax(serde_json::Error),
    /// The table refused.
    Refused(Error),
}

/// Where values go: the error of the table waits beside the parser's.
struct Target<'t, 'n> {
    table: &'t mut Table<'n>,
    path: String,
    refused: Option<Error>,
}

impl Target<'_, '_> {
    fn put<E: serde::de::Error>(&mut self, cell: Cell<'_>) -> Result<(), E> {
        let result = self.table.column(&self.path).and_then(|at| self.table.put(at, cell));
        self.accept(result)
    }

    fn accept<E: serde::de::Error>(&mut self, result: Result<(), Error>) -> Result<(), E> {
        result.map_err(|error| {
            self.refused = Some(error);
            E::custom("refused")
        })
    }
}

/// What takes the values of a place in a document.
trait Taker<'de>: Sized {
    /// A number, a text or a truth value.
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E>;
    /// An object.
    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;
    /// A list: no curve where it is a value of a row.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Whatever stands in a place, for its taker.
struct Any<T>(T);

impl<'de, T: Taker<'de>> DeserializeSeed<'de> for Any<T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

#[allow(clippy::cast_precision_loss)]
impl<'de, T: Taker<'de>> Visitor<'de> for Any<T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows of numbers")
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.0.scalar(Cell::Number(value))
    }
    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.0.scalar(Cell::Number(value as f64))
    }
    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.0.scalar(Cell::Number(value as f64))
    }
    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.0.scalar(Cell::Other)
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.0.scalar(Cell::Text(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.map(map)
    }
}

/// A value of a row: what an object holds goes below its name.
impl<'de> Taker<'de> for &mut Target<'_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        self.put(cell)
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let length = self.path.len();
        if length > 0 {
            self.path.push('/');
        }
        let inside = self.path.len();
        while map.next_key_seed(Key(&mut self.path))?.is_some() {
            map.next_value_seed(Any(&mut *self))?;
            self.path.truncate(inside);
        }
        self.path.truncate(length);
        Ok(())
    }
}

/// Appends a key to the path.
struct Key<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        self.0.push_str(key);
        Ok(())
    }
}

/// An element of a list: a row where it is an object; else a value of the column that the list is.
struct Element<'a, 't, 'n> {
    rows: &'a mut Target<'t, 'n>,
    column: Option<(&'a mut Target<'t, 'n>, usize, u32)>,
}

impl<'de> Taker<'de> for Element<'_, '_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        let Some((target, at, row)) = self.column else { return Ok(()) };
        while target.table.rows <= row {
            let started = target.table.start_row();
            target.accept(started)?;
        }
        let result = target.table.put_at(at, row, cell);
        target.accept(result)
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let started = self.rows.table.start_row();
        self.rows.accept(started)?;
        self.rows.map(map)
    }
}

/// A whole document.
struct Document<'a, 'n> {
    file: &'a str,
    names: &'n Names,
    memory: u64,
    refused: &'a mut Option<Error>,
}

impl<'n> Document<'_, 'n> {
    fn table(&self) -> Table<'n> {
        Table::new(self.file, self.names, self.memory)
    }
}

fn target<'t, 'n>(table: &'t mut Table<'n>) -> Target<'t, 'n> {
    Target { table, path: String::new(), refused: None }
}

impl<'de, 'n> DeserializeSeed<'de> for Document<'_, 'n> {
    type Value = Table<'n>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Table<'n>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, 'n> Visitor<'de> for Document<'_, 'n> {
    type Value = Table<'n>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows of curves")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Table<'n>, A::Error> {
        let mut table = self.table();
        let mut rows = target(&mut table);
        loop {
            match list.next_element_seed(Any(Element { rows: &mut rows, column: None })) {
                Ok(Some(())) => {}
                Ok(None) => return Ok(table),
                Err(error) => {
                    *self.refused = rows.refused;
                    return Err(error);
                }
            }
        }
    }

    /// Rows below `log_history`; else below the key that has most; else a list a key is a column; else one row.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<'n>, A::Error> {
        let (mut best, mut columns, mut row) = (self.table(), self.table(), self.table());
        row.start_row().map_err(A::Error::custom)?;
        let mut key = String::new();
        while map.next_key_seed(Key(&mut key))?.is_some() {
            let mut found = self.table();
            let (mut rows, mut list, mut scalar) =
                (target(&mut found), target(&mut columns), target(&mut row));
            scalar.path.clone_from(&key);
            let below = Below { rows: &mut rows, columns: &mut list, row: &mut scalar, key: &key };
            if let Err(error) = map.next_value_seed(Any(below)) {
                *self.refused = [rows, list, scalar].into_iter().find_map(|target| target.refused);
                return Err(error);
            }
            if key == "log_history" {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(found);
            }
            if found.rows > best.rows {
                best = found;
            }
            key.clear();
        }
        Ok(if best.rows > 0 {
            best
        } else if columns.rows > 0 {
            columns
        } else {
            row
        })
    }
}

/// A value below a key of the document.
struct Below<'a, 't, 'n> {
    rows: &'a mut Target<'t, 'n>,
    columns: &'a mut Target<'t, 'n>,
    row: &'a mut Target<'t, 'n>,
    key: &'a str,
}

impl<'de> Taker<'de> for Below<'_, '_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        self.row.put(cell)
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.row.map(map)
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let found = self.columns.table.column(self.key);
        let mut at = 0;
        self.columns.accept(found.map(|place| at = place))?;
        for row in 0.. {
            let element = Element { rows: self.rows, column: Some((self.columns, at, row)) };
            if list.next_element_seed(Any(element))?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// A whole file that is one value.
pub(crate) fn document<'n>(
    file: &str,
    json: &[u8],
    names: &'n Names,
    memory: u64,
) -> Result<Table<'n>, Fault> {
    let attempt = |json: &[u8]| {
        let mut refused = None;
        let mut parser = serde_json::Deserializer::from_slice(json);
        let document = Document { file, names, memory, refused: &mut refused };
        let result = document.deserialize(&mut parser).and_then(|table| parser.end().map(|()| table));
        result.map_err(|error| refused.map_or(Fault::Syntax(error), Fault::Refused))
    };
    let result = attempt(json);
    match &result {
        Err(Fault::Syntax(_)) => match non_finite::to_text(json) {
            Cow::Owned(json) => attempt(&json),
            Cow::Borrowed(_) => result,
        },
        _ => result,
    }
}

/// Whether a text may be an object: Python prints dicts with other quotes.
pub(crate) fn begins_object(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| matches!(inside.first(), Some(b'"' | b'}')))
}

/// Whether a line is an object.
pub(crate) fn is_object(line: &[u8]) -> bool {
    begins_object(line) && serde_json::from_slice::<IgnoredAny>(&non_finite::to_text(line)).is_ok()
}

/// A row a line; lines that are no objects are counted. The number of rows.
pub(crate) fn lines(json: &[u8], table: &mut Table<'_>) -> Result<u32, Error> {
    let (mut broken, mut first, mut finite) = (0_u32, 0, true);
    let before = table.rows;
    let mut start = 0;
    let mut number = 0_u64;
    while start < json.len() {
        let end = memchr::memchr(b'\n', &json[start..]).map_or(json.len(), |at| start + at);
        let line = json[start..end].trim_ascii();
        (start, number) = (end + 1, number + 1);
        if line.is_empty() {
            continue;
        }
        if !begins_object(line) || !row(line, table, &mut finite)? {
            broken += 1;
            first = if first == 0 { number } else { first };
        }
    }
    if broken > 0 && table.rows > before {
        let lines = counted(u64::from(broken), "line", "lines");
        table.notes.push(format!("{lines} left out that are no JSON objects; the first is line {first}"));
    }
    Ok(table.rows - before)
}

/// One object. Whether it was one.
fn row(line: &[u8], table: &mut Table<'_>, finite: &mut bool) -> Result<bool, Error> {
    let is_read = |line: &[u8], table: &mut Table<'_>| {
        table.start_row()?;
        let mut rows = target(table);
        let mut parser = serde_json::Deserializer::from_slice(line);
        let result = Any(&mut rows).deserialize(&mut parser).and_then(|()| parser.end());
        match (result, rows.refused) {
            (Ok(()), _) => Ok(true),
            (Err(_), Some(error)) => Err(error),
            (Err(_), None) => {
                table.drop_row();
                Ok(false)
            }
        }
    };
    // Once a line has had a NaN, the others are looked through first.
    if *finite && is_read(line, table)? {
        return Ok(true);
    }
    match non_finite::to_text(line) {
        Cow::Owned(line) => {
            *finite = false;
            is_read(&line, table)
        }
        Cow::Borrowed(_) if *finite => Ok(false),
        Cow::Borrowed(line) => is_read(line, table),
    }
}
