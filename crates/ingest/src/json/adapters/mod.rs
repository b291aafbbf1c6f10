//! One raw row of a framework to the responses in it: flat lists, one entry a token.
//!
//! Frameworks whose rows are flat already pass through with their own names; reshaped ones come
//! out under canonical names.

mod atropos;
mod context;
mod nemo;
mod prime_export;
mod roll;
mod sequence;
mod texts;
mod tinker;
mod traces;
mod trajectory;

pub(super) use context::{Bad, Context, Responses};

use super::field::{Field, Object};
use crate::schema::alignment::ListAlignment;
use crate::schema::dialect::Dialect;

/// Why generation ended, where it is an object of its own (SGLang): its type.
fn name_reason(row: &mut Object) {
    for column in ["finish_reason", "stop_reason"] {
        let reason =
            row.get(column).and_then(Field::as_object).and_then(|reason| reason.get("type")).cloned();
        if let Some(reason @ Field::Text(_)) = reason {
            row.set(column, reason);
        }
    }
}

/// The responses in a raw row.
pub(super) fn responses(dialect: Dialect, mut row: Object, context: &Context) -> Responses {
    name_reason(&mut row);
    match dialect {
        Dialect::NemoRl => one(nemo::response(row)),
        Dialect::PrimeRlExport => one(Ok(prime_export::response(row))),
        Dialect::PrimeRlTraces if row.get("trajectory").is_some() => trajectory::responses(row, context),
        Dialect::PrimeRlTraces => traces::responses(row, context),
        Dialect::Atropos => atropos::responses(row, context),
        Dialect::RollBoard => one(Ok(roll::response(row))),
        Dialect::Tinker => one(Ok(tinker::response(row))),
        Dialect::SwiftText | Dialect::RollDumpText => texts::batch(row),
        dialect if dialect.writes_texts() || dialect == Dialect::Unknown => {
            one(Ok(texts::with_chats_as_texts(row)))
        }
        _ => one(Ok(row)),
    }
}

/// How the lists of the responses are laid out.
pub(super) const fn alignment(dialect: Dialect) -> Option<ListAlignment> {
    match dialect {
        Dialect::NemoRl | Dialect::PrimeRlTraces | Dialect::Atropos => Some(ListAlignment::Response),
        _ => dialect.alignment(),
    }
}

/// Corrects a dialect by what only the values tell: traces of an evaluation that kept no tokens
/// are texts.
pub(super) fn refine<'a>(dialect: Dialect, mut rows: impl Iterator<Item = &'a Object>) -> Dialect {
    let has_tokens = |row: &Object| traces::has_tokens(row) || trajectory::has_tokens(row);
    if dialect == Dialect::PrimeRlTraces && !rows.any(has_tokens) {
        return Dialect::VerifiersText;
    }
    dialect
}

fn one(row: Result<Object, Bad>) -> Responses {
    Box::new(std::iter::once(row))
}

#[cfg(test)]
mod tests;
