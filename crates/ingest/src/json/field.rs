//! A JSON value whose lists are kept as typed vectors: a row of 100,000 tokens is a few vectors,
//! not millions of boxed values.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::schema::raw_field::{Primitive, Shape};

/// Whole numbers above this lose digits as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    /// `null`, or a number that is not finite.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list of numbers.
    Numbers(Numbers),
    /// A list of `true` and `false`.
    Bools(Vec<Option<bool>>),
    /// A list of texts.
    Texts(Vec<Option<Box<str>>>),
    /// A list of lists or objects, or an empty one.
    List(Vec<Field>),
    /// A list of scalars of several kinds; nothing uses these, so they are not kept.
    Mixed,
    /// An object.
    Object(Object),
}

/// A list of numbers; missing ones are NaN.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Numbers {
    /// The values.
    pub(super) values: Vec<f64>,
    /// Whether all that are not missing are whole and small enough to be exact.
    pub(super) whole: bool,
}

impl Numbers {
    /// A list that may hold fractions.
    pub(super) fn floats(values: Vec<f64>) -> Self {
        Self { values, whole: false }
    }

    /// A list of whole numbers.
    pub(super) fn whole(values: Vec<f64>) -> Self {
        Self { values, whole: true }
    }

    /// Appends a number; one that is missing counts as whole.
    pub(super) fn push(&mut self, value: f64, is_int: bool) {
        self.whole &= value.is_nan() || (is_int && value.abs() < EXACT);
        self.values.push(value);
    }
}

impl Field {
    /// The shape, as far as this value tells it.
    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Null => Shape::Scalar(Primitive::Other),
            Self::Bool(_) => Shape::Scalar(Primitive::Bool),
            Self::Int(_) => Shape::Scalar(Primitive::Int),
            Self::Float(_) => Shape::Scalar(Primitive::Float),
            Self::Text(_) => Shape::Scalar(Primitive::Text),
            Self::Numbers(n) if n.whole => Shape::List(Primitive::Int),
            Self::Numbers(_) => Shape::List(Primitive::Float),
            Self::Bools(_) => Shape::List(Primitive::Bool),
            Self::Texts(_) => Shape::List(Primitive::Text),
            Self::Mixed => Shape::List(Primitive::Other),
            Self::List(items) => items
                .iter()
                .find_map(|item| match item.shape() {
                    Shape::List(p) if p != Primitive::Other => Some(Shape::ListOfLists(p)),
                    _ => None,
                })
                .unwrap_or(Shape::List(Primitive::Other)),
            Self::Object(_) => Shape::Struct,
        }
    }

    /// What it is, where it has no place in a flat table and is more than nothing.
    pub(super) fn oddity(&self) -> Option<&'static str> {
        match self {
            Self::Mixed => Some("a list of several kinds"),
            Self::Object(_) => Some("an object"),
            Self::List(items) if items.iter().any(|item| matches!(item, Self::Object(_))) => {
                Some("a list of objects")
            }
            Self::List(items) if !items.is_empty() => Some("a list of lists"),
            _ => None,
        }
    }

    /// Number of list entries; 0 for scalars.
    pub(super) fn list_len(&self) -> usize {
        match self {
            Self::Numbers(n) => n.values.len(),
            Self::Bools(b) => b.len(),
            Self::Texts(t) => t.len(),
            Self::List(l) => l.len(),
            _ => 0,
        }
    }

    /// Keeps `range` of a list (what of it is there); scalars stay.
    pub(super) fn cut(&mut self, range: std::ops::Range<usize>) {
        fn keep<T>(list: &mut Vec<T>, range: std::ops::Range<usize>) {
            list.truncate(range.end);
            list.drain(..range.start.min(list.len()));
        }
        match self {
            Self::Numbers(n) => keep(&mut n.values, range),
            Self::Bools(b) => keep(b, range),
            Self::Texts(t) => keep(t, range),
            Self::List(l) => keep(l, range),
            _ => {}
        }
    }

    /// A number, also from `true`, `false` or a list of exactly one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            #[allow(clippy::cast_precision_loss)] // read as a measure, not as an id
            Self::Int(i) => Some(*i as f64),
            Self::Float(f) => Some(*f),
            Self::Numbers(n) if n.values.len() == 1 => n.values.first().copied().filter(|v| !v.is_nan()),
            _ => None,
        }
    }

    /// The numbers of a list of numbers or flags; an empty list for an empty one.
    pub(super) fn into_numbers(self) -> Option<Vec<f64>> {
        match self {
            Self::Numbers(n) => Some(n.values),
            Self::Bools(b) => {
                Some(b.into_iter().map(|v| v.map_or(f64::NAN, |v| f64::from(u8::from(v)))).collect())
            }
            Self::List(l) if l.is_empty() => Some(Vec::new()),
            _ => None,
        }
    }

    /// A short text that identifies the value: texts and whole numbers.
    pub(super) fn id(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(t) => Some(Cow::Borrowed(t)),
            Self::Int(i) => Some(Cow::Owned(i.to_string())),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub(super) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(o) => Some(o),
            _ => None,
        }
    }
}

/// An object, its keys in the order they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object(Vec<(Cow<'static, str>, Field)>);

impl Object {
    /// An object of these entries; of equal keys the last one counts, as in Python.
    pub(super) fn new(mut entries: Vec<(Cow<'static, str>, Field)>) -> Self {
        let mut seen = HashSet::with_capacity(entries.len());
        let last: Vec<bool> = entries.iter().rev().map(|(k, _)| seen.insert(k.as_ref())).collect();
        if last.contains(&false) {
            let mut keep = last.into_iter().rev();
            entries.retain(|_| keep.next().unwrap_or(true));
        }
        Self(entries)
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value under a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Field> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.as_object()?.get(key))
    }

    /// Removes and returns the value of `key`.
    pub(super) fn take(&mut self, key: &str) -> Option<Field> {
        let at = self.0.iter().position(|(k, _)| k == key)?;
        Some(self.0.remove(at).1)
    }

    /// Sets a value, in the place of one with the same key.
    pub(super) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: Field) {
        let key = key.into();
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// The entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.0.iter().map(|(k, v)| (k.as_ref(), v))
    }

    /// The entries in order, to change.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Field)> {
        self.0.iter_mut().map(|(k, v)| (&**k, v))
    }

    /// Keeps the entries that `keep` wants.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, &Field) -> bool) {
        self.0.retain(|(k, v)| keep(k, v));
    }
}

impl IntoIterator for Object {
    type Item = (Cow<'static, str>, Field);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
