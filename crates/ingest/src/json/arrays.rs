//! Rows of JSON to Arrow arrays.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field as ArrowField};

use super::field::Field;
use crate::schema::raw_field::{Primitive, Shape};

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    /// True or false.
    Bool,
    /// Whole numbers.
    Int,
    /// Numbers.
    Float,
    /// Texts.
    Text,
}

/// What a column holds, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but nulls, or values that have no place in a flat table.
    Unknown,
    /// One value a row.
    Scalar(Type),
    /// A list a row; all were empty or full of nulls where there is no type.
    List(Option<Type>),
}

impl Kind {
    /// The kind of one value.
    pub(super) fn of(field: &Field) -> Self {
        match field {
            Field::Null | Field::Object(_) | Field::Mixed => Self::Unknown,
            Field::Bool(_) => Self::Scalar(Type::Bool),
            Field::Int(_) => Self::Scalar(Type::Int),
            Field::Float(f) if f.is_nan() => Self::Unknown,
            Field::Float(_) => Self::Scalar(Type::Float),
            Field::Text(_) => Self::Scalar(Type::Text),
            Field::Numbers(n) if !n.values.is_empty() && n.values.iter().all(|v| v.is_nan()) => {
                Self::List(None)
            }
            Field::Numbers(n) => Self::List(Some(if n.whole { Type::Int } else { Type::Float })),
            Field::Bools(_) => Self::List(Some(Type::Bool)),
            Field::Texts(_) => Self::List(Some(Type::Text)),
            Field::List(items) if items.is_empty() => Self::List(None),
            Field::List(_) => Self::Unknown,
        }
    }

    /// The kind that holds both; `None` when there is none.
    pub(super) fn merge(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Unknown, kind) | (kind, Self::Unknown) => kind,
            (Self::Scalar(a), Self::Scalar(b)) => Self::Scalar(widest(a, b)?),
            (Self::List(None), Self::List(b)) => Self::List(b),
            (Self::List(a), Self::List(None)) => Self::List(a),
            (Self::List(Some(a)), Self::List(Some(b))) => Self::List(Some(widest(a, b)?)),
            _ => return None,
        })
    }

    /// In words, for messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Unknown => "null",
            Self::Scalar(Type::Bool) => "true or false",
            Self::Scalar(Type::Int | Type::Float) => "a number",
            Self::Scalar(Type::Text) => "a text",
            Self::List(None) => "an empty list",
            Self::List(Some(Type::Bool)) => "a list of true and false",
            Self::List(Some(Type::Int | Type::Float)) => "a list of numbers",
            Self::List(Some(Type::Text)) => "a list of texts",
        }
    }

    /// The shape for the mapping; `None` when there is nothing to map.
    pub(super) fn shape(self) -> Option<Shape> {
        let primitive = |t| match t {
            Type::Bool => Primitive::Bool,
            Type::Int => Primitive::Int,
            Type::Float => Primitive::Float,
            Type::Text => Primitive::Text,
        };
        match self {
            Self::Unknown => None,
            Self::Scalar(t) => Some(Shape::Scalar(primitive(t))),
            Self::List(t) => Some(Shape::List(primitive(t.unwrap_or(EMPTY)))),
        }
    }
}

/// Whole numbers stand in for any other type where a list has no value yet.
const EMPTY: Type = Type::Int;

fn widest(a: Type, b: Type) -> Option<Type> {
    (a == b || (a != Type::Text && b != Type::Text)).then(|| a.max(b))
}

/// An array of `rows` entries from the cells of a column (row, value), in order of rows.
pub(super) fn build(
    kind: Kind,
    cells: Vec<(usize, Field)>,
    rows: usize,
) -> Result<Option<ArrayRef>, ArrowError> {
    match kind {
        Kind::Unknown => Ok(None),
        Kind::Scalar(t) => {
            let mut values = Values::new(t);
            let mut at = 0;
            for (row, cell) in cells {
                values.push_nulls(row - at);
                values.push(cell);
                at = row + 1;
            }
            values.push_nulls(rows - at);
            Ok(Some(values.finish()))
        }
        Kind::List(t) => {
            let mut values = Values::new(t.unwrap_or(EMPTY));
            let mut lengths = vec![0; rows];
            let mut valid = vec![false; rows];
            for (row, cell) in cells {
                if Kind::of(&cell) != Kind::Unknown {
                    lengths[row] = cell.list_len();
                    valid[row] = true;
                    values.extend(cell);
                }
            }
            let child = values.finish();
            let item = Arc::new(ArrowField::new_list_field(child.data_type().clone(), true));
            let nulls = valid.contains(&false).then(|| NullBuffer::new(BooleanBuffer::from(valid)));
            let list = ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), child, nulls)?;
            Ok(Some(Arc::new(list)))
        }
    }
}

/// Values of one type; missing numbers are NaN until the end.
enum Values {
    Bools(Vec<Option<bool>>),
    /// Exact whole numbers: scalars keep all 64 bits.
    Ints(Vec<i64>, NullBufferBuilder),
    Floats(Vec<f64>),
    Texts(Vec<Option<Box<str>>>),
}

impl Values {
    fn new(t: Type) -> Self {
        match t {
            Type::Bool => Self::Bools(Vec::new()),
            Type::Int => Self::Ints(Vec::new(), NullBufferBuilder::new(0)),
            Type::Float => Self::Floats(Vec::new()),
            Type::Text => Self::Texts(Vec::new()),
        }
    }

    fn push_nulls(&mut self, n: usize) {
        match self {
            Self::Bools(v) => v.resize(v.len() + n, None),
            Self::Ints(v, valid) => {
                v.resize(v.len() + n, 0);
                valid.append_n_nulls(n);
            }
            Self::Floats(v) => v.resize(v.len() + n, f64::NAN),
            Self::Texts(v) => v.resize(v.len() + n, None),
        }
    }

    /// Appends a scalar; what does not fit is null.
    fn push(&mut self, cell: Field) {
        match (self, cell) {
            (Self::Bools(v), Field::Bool(b)) => v.push(Some(b)),
            (Self::Ints(v, valid), Field::Int(i)) => {
                v.push(i);
                valid.append_non_null();
            }
            (Self::Ints(v, valid), Field::Bool(b)) => {
                v.push(i64::from(b));
                valid.append_non_null();
            }
            (Self::Floats(v), cell) => v.push(cell.number().unwrap_or(f64::NAN)),
            (Self::Texts(v), Field::Text(t)) => v.push(Some(t.into_boxed_str())),
            (values, _) => values.push_nulls(1),
        }
    }

    /// Appends the entries of a list; what does not fit is null.
    fn extend(&mut self, cell: Field) {
        let length = cell.list_len();
        match (self, cell) {
            (Self::Bools(v), Field::Bools(b)) => v.extend(b),
            (Self::Texts(v), Field::Texts(t)) => v.extend(t),
            (Self::Floats(v), cell) => match cell.into_numbers() {
                Some(numbers) => v.extend(numbers),
                None => v.resize(v.len() + length, f64::NAN),
            },
            (Self::Ints(v, valid), cell) => {
                let numbers = cell.into_numbers().unwrap_or_else(|| vec![f64::NAN; length]);
                for number in numbers {
                    valid.append(!number.is_nan());
                    v.push(exact(number));
                }
            }
            (values, _) => values.push_nulls(length),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Bools(v) => Arc::new(BooleanArray::from(v)),
            Self::Ints(v, mut valid) => Arc::new(Int64Array::new(ScalarBuffer::from(v), valid.finish())),
            Self::Floats(v) => {
                let missing = v.iter().any(|v| v.is_nan());
                let nulls = missing.then(|| v.iter().map(|v| !v.is_nan()).collect::<NullBuffer>());
                Arc::new(Float64Array::new(ScalarBuffer::from(v), nulls))
            }
            Self::Texts(v) => Arc::new(StringArray::from_iter(v)),
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // lists are whole only where f64 is exact; NaN is 0
fn exact(value: f64) -> i64 {
    value as i64
}
