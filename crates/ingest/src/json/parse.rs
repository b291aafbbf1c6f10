//! Bytes of one JSON document to a [`Field`].

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::field::{Field, Object};
use super::list_builder::ListBuilder;
use stapo_base::non_finite;
use stapo_batch::limits::Limits;

/// Lists, objects and keys one document may have: far more than any log, and few enough that a
/// hostile one cannot multiply its size in memory. Entries of plain lists do not count.
const MAX_NODES: usize = 1 << 20;
/// Streams that a token may have: as many entries of lists are taken.
const MAX_STREAMS: u64 = 8;

/// Parses documents, and remembers whether they need the detour around Python's `NaN`.
#[derive(Debug, Default)]
pub(super) struct Parser {
    non_finite: bool,
    limits: Limits,
}

impl Parser {
    /// A parser that takes no more memory than allowed.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Parses one document. The message of an error has no place in it but the column.
    pub(super) fn parse(&mut self, json: &[u8]) -> Result<Field, String> {
        if !self.non_finite {
            match parse_strict(json, self.limits) {
                Ok(field) => return Ok(field),
                Err(error) => match non_finite::to_null(json) {
                    Cow::Borrowed(_) => return Err(error),
                    Cow::Owned(_) => self.non_finite = true,
                },
            }
        }
        parse_strict(&non_finite::to_null(json), self.limits)
    }
}

fn parse_strict(json: &[u8], limits: Limits) -> Result<Field, String> {
    let text = std::str::from_utf8(json).map_err(|e| format!("not UTF-8 at byte {}", e.valid_up_to() + 1))?;
    let counts = Counts { nodes: Cell::new(0), entries: Cell::new(0), most: limits.tokens() * MAX_STREAMS };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Seed(&counts)
        .deserialize(&mut deserializer)
        .and_then(|field| deserializer.end().map(|()| field))
        .map_err(|e| describe(&e))
}

fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // serde_json counts lines inside the document, which would contradict the file's line.
    let what = text.split(" at line ").next().unwrap_or(&text);
    match error.classify() {
        serde_json::error::Category::Eof => format!("the JSON ends too early ({what})"),
        _ => format!("not JSON: {what} (column {})", error.column()),
    }
}

/// What one document has so far.
struct Counts {
    nodes: Cell<usize>,
    entries: Cell<u64>,
    most: u64,
}

#[derive(Clone, Copy)]
struct Seed<'a>(&'a Counts);

impl Seed<'_> {
    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.nodes.set(self.0.nodes.get() + 1);
        if self.0.nodes.get() > MAX_NODES {
            return Err(E::custom(format_args!("more than {MAX_NODES} lists, objects and keys in one row")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Field, E> {
        Ok(Field::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Field, E> {
        Ok(Field::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Field, E> {
        #[allow(clippy::cast_precision_loss)] // beyond i64 there is no whole number to keep
        Ok(i64::try_from(value).map_or(Field::Float(value as f64), Field::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Field, E> {
        Ok(if value.is_finite() { Field::Float(value) } else { Field::Null })
    }

    fn visit_str<E>(self, value: &str) -> Result<Field, E> {
        Ok(Field::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Field, E> {
        Ok(Field::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Field, A::Error> {
        self.count()?;
        let mut list = ListBuilder::default();
        while let Some(value) = seq.next_element_seed(self)? {
            list.push(value);
            self.0.entries.set(self.0.entries.get() + 1);
            if self.0.entries.get() > self.0.most {
                return Err(A::Error::custom(format_args!("more than {} entries in its lists", self.0.most)));
            }
        }
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
        self.count()?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            self.count()?;
            if key.len() > 4096 {
                return Err(A::Error::custom("a key of more than 4096 bytes"));
            }
            entries.push((Cow::Owned(key), map.next_value_seed(self)?));
        }
        Ok(Field::Object(Object::new(entries)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::json::field::Numbers;
    use crate::schema::raw_field::{Primitive, Shape};

    fn parse(json: &str) -> Field {
        Parser::default().parse(json.as_bytes()).unwrap()
    }

    fn error(json: &[u8]) -> String {
        Parser::default().parse(json).unwrap_err()
    }

    #[test]
    fn lists_are_typed() {
        assert_eq!(parse("[1, 2]"), Field::Numbers(Numbers::whole(vec![1.0, 2.0])));
        assert_eq!(parse("[0, -0.5]"), Field::Numbers(Numbers::floats(vec![0.0, -0.5])));
        assert_eq!(parse("[true, null]"), Field::Bools(vec![Some(true), None]));
        assert_eq!(parse(r#"[null, "a"]"#), Field::Texts(vec![None, Some("a".into())]));
        assert_eq!(parse(r#"[1, "a"]"#), Field::Mixed);
        assert_eq!(parse("[]"), Field::List(Vec::new()));
        assert_eq!(parse("[[1], [2.5]]").shape(), Shape::ListOfLists(Primitive::Int));
        assert_eq!(parse("[{}]").shape(), Shape::List(Primitive::Other));
        assert_eq!(parse("[9007199254740993]").shape(), Shape::List(Primitive::Float));
        assert_eq!(parse("9007199254740993"), Field::Int(9_007_199_254_740_993));
    }

    #[test]
    fn missing_numbers_are_nan_and_keep_ints_whole() {
        let Field::Numbers(n) = parse("[null, 3, NaN]") else { panic!() };
        assert!(n.whole && n.values[0].is_nan() && n.values[2].is_nan());
        assert_eq!(n.values[1], 3.0);
        let Field::Numbers(n) = parse("[-Infinity, -0.25]") else { panic!() };
        assert!(n.values[0].is_nan() && !n.whole);
        assert_eq!(parse("NaN"), Field::Null);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let Field::Object(o) = parse(r#"{"a":1,"b":2,"a":3}"#) else { panic!() };
        let entries: Vec<_> = o.iter().map(|(k, v)| (k.to_owned(), v.clone())).collect();
        assert_eq!(entries, [("b".to_owned(), Field::Int(2)), ("a".to_owned(), Field::Int(3))]);
    }

    #[test]
    fn hostile_documents_are_refused() {
        assert!(error("[".repeat(100_000).as_bytes()).contains("recursion"));
        let many = format!("[{}[]]", "[],".repeat(MAX_NODES));
        assert!(error(many.as_bytes()).contains("more than"));
        assert!(error(b"[\"\xff\"]").contains("UTF-8"));
        assert!(error(b"{\"a\": 1").contains("ends too early"));
        assert!(error(b"{} {}").contains("trailing"));
        assert!(error(b"1e999").contains("number out of range"));
    }
}
