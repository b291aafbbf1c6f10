//! Lists of JSON, entry by entry: which kind they are is known with the first one.

use super::field::{Field, Numbers};

/// A list under construction; its kind is known with the first entry that is not null.
#[derive(Default)]
pub(super) enum ListBuilder {
    /// Nothing yet.
    #[default]
    Empty,
    /// Only nulls so far.
    Nulls(usize),
    /// Of the kind of its first entry that is no null.
    Typed(Field),
}

impl ListBuilder {
    /// Appends an entry; one that does not fit the others makes the list [`Field::Mixed`].
    pub(super) fn push(&mut self, value: Field) {
        let nulls = match self {
            Self::Typed(list) => return append(list, value),
            Self::Empty => 0,
            Self::Nulls(n) => *n,
        };
        *self = match value {
            Field::Null => Self::Nulls(nulls + 1),
            Field::Int(_) | Field::Float(_) => {
                Self::typed(Field::Numbers(Numbers::whole(vec![f64::NAN; nulls])), value)
            }
            Field::Bool(_) => Self::typed(Field::Bools(vec![None; nulls]), value),
            Field::Text(_) => Self::typed(Field::Texts(vec![None; nulls]), value),
            nested => Self::typed(Field::List(vec![Field::Null; nulls]), nested),
        };
    }

    fn typed(mut list: Field, value: Field) -> Self {
        append(&mut list, value);
        Self::Typed(list)
    }

    /// The list; one of nulls alone is of numbers that are missing.
    pub(super) fn finish(self) -> Field {
        match self {
            Self::Empty => Field::List(Vec::new()),
            // Nothing but nulls is what a trainer writes for a stream it did not compute.
            Self::Nulls(n) => Field::Numbers(Numbers::floats(vec![f64::NAN; n])),
            Self::Typed(list) => list,
        }
    }
}

/// What JSON has no number for, as Python writes it into a text.
fn is_not_finite(text: &str) -> bool {
    let bare = text.trim_start_matches(['-', '+']);
    ["nan", "inf", "infinity"].iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// A list of flags, or of texts that stand for what is not finite, as numbers.
fn as_numbers(list: &Field) -> Option<Numbers> {
    let values = match list {
        Field::Bools(flags) => flags.iter().map(|f| f.map_or(f64::NAN, |f| f64::from(u8::from(f)))).collect(),
        Field::Texts(texts) if texts.iter().flatten().all(|t| is_not_finite(t)) => {
            vec![f64::NAN; texts.len()]
        }
        _ => return None,
    };
    Some(Numbers::whole(values))
}

fn append(list: &mut Field, value: Field) {
    match (&mut *list, value) {
        #[allow(clippy::cast_precision_loss)] // `whole` is dropped where digits are lost
        (Field::Numbers(n), Field::Int(i)) => n.push(i as f64, true),
        (Field::Numbers(n), Field::Float(f)) => n.push(f, false),
        (Field::Numbers(n), Field::Null) => n.push(f64::NAN, true),
        // A mask of true, false, 0 and 1 says what one of 0 and 1 would.
        (Field::Numbers(n), Field::Bool(b)) => n.push(f64::from(u8::from(b)), true),
        (Field::Numbers(n), Field::Text(t)) if is_not_finite(&t) => n.push(f64::NAN, true),
        (Field::Bools(_) | Field::Texts(_), number @ (Field::Int(_) | Field::Float(_))) => {
            match as_numbers(list) {
                Some(numbers) => {
                    *list = Field::Numbers(numbers);
                    append(list, number);
                }
                None => *list = Field::Mixed,
            }
        }
        (Field::Bools(b), Field::Bool(v)) => b.push(Some(v)),
        (Field::Bools(b), Field::Null) => b.push(None),
        (Field::Texts(t), Field::Text(v)) => t.push(Some(v.into_boxed_str())),
        (Field::Texts(t), Field::Null) => t.push(None),
        (
            Field::List(l),
            v @ (Field::Null
            | Field::Object(_)
            | Field::List(_)
            | Field::Mixed
            | Field::Numbers(_)
            | Field::Bools(_)
            | Field::Texts(_)),
        ) => l.push(v),
        _ => *list = Field::Mixed,
    }
}
