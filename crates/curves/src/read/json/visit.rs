//! Visitors of JSON: what stands in a place goes to the taker of that place, and into the table.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use stapo_base::error::Error;

use crate::table::{Cell, Table};

/// Keys under which rows hold responses or tokens, and rows of scalars hold no text and no list.
const OF_RESPONSES: [&str; 22] = [
    "completion",
    "completions",
    "generated_text",
    "input_ids",
    "log_probs",
    "logprob",
    "logprobs",
    "messages",
    "output",
    "output_response",
    "problem",
    "prompt",
    "prompts",
    "question",
    "response",
    "response_ids",
    "response_text",
    "responses",
    "text",
    "token_ids",
    "tokens",
    "trajectory",
];

/// Whether a text or a list below this path is a response, its prompt or its tokens.
pub(super) fn is_of_responses(path: &str) -> bool {
    let key = path.rsplit(['/', SEPARATOR]).next().unwrap_or(path);
    OF_RESPONSES.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Between the keys of a path that tells places apart: `/` stands in keys themselves.
pub(super) const SEPARATOR: char = '\0';

/// What takes the values of a place in a document.
pub(super) trait Taker<'de>: Sized {
    /// A number, a text or a truth value.
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E>;
    /// An object.
    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;
    /// A list.
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        pass_over(list)
    }
}

/// Reads a list and keeps nothing.
pub(super) fn pass_over<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Whatever stands in a place, for its taker.
pub(super) struct Any<T>(pub T);

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

/// Appends a key to the path.
pub(super) struct Key<'a>(pub &'a mut String);

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

/// A path that grows and shrinks with the objects that are visited.
pub(super) trait Nested {
    /// Where the current key is written to.
    fn path(&mut self) -> &mut String;

    /// Visits the values of an object, each with its key behind the path.
    fn each<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
        separator: char,
        mut visit: impl FnMut(&mut Self, &mut A) -> Result<(), A::Error>,
    ) -> Result<(), A::Error> {
        let length = self.path().len();
        if length > 0 {
            self.path().push(separator);
        }
        let inside = self.path().len();
        while map.next_key_seed(Key(self.path()))?.is_some() {
            visit(self, &mut map)?;
            self.path().truncate(inside);
        }
        self.path().truncate(length);
        Ok(())
    }
}

/// A row on its way into the table: the error of the table waits beside the parser's.
pub(super) struct Row<'t, 'n> {
    pub table: &'t mut Table<'n>,
    path: String,
    /// Holds a response: no row of scalars.
    pub of_responses: bool,
    pub refused: Option<Error>,
}

impl<'t, 'n> Row<'t, 'n> {
    pub fn new(table: &'t mut Table<'n>) -> Self {
        Self { table, path: String::new(), of_responses: false, refused: None }
    }
}

/// What a table refused ends the parse, and is kept: serde's errors are texts.
pub(super) fn accept<T, E: serde::de::Error>(
    refused: &mut Option<Error>,
    result: Result<T, Error>,
) -> Result<T, E> {
    result.map_err(|error| {
        *refused = Some(error);
        E::custom("refused")
    })
}

impl Nested for Row<'_, '_> {
    fn path(&mut self) -> &mut String {
        &mut self.path
    }
}

/// A value of a row: what an object holds goes below its name; a list is no number.
impl<'de> Taker<'de> for &mut Row<'_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        self.of_responses |= matches!(cell, Cell::Text(_)) && is_of_responses(&self.path);
        let result = self.table.put_named(&self.path, cell);
        accept(&mut self.refused, result)
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.each(map, '/', |row, map| map.next_value_seed(Any(row)))
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.of_responses |= is_of_responses(&self.path);
        pass_over(list)
    }
}
