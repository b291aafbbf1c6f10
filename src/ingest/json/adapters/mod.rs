//! One raw row of a framework to the responses in it: flat lists, one entry a token.
//!
//! Frameworks whose rows are flat already pass through with their own names; reshaped ones come
//! out under canonical names.

mod atropos;
mod nemo;
mod prime_export;
mod roll;
mod sequence;
mod tinker;
mod traces;
mod trajectory;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::annotations::Annotations;
use super::field::{Field, Object};
use crate::ingest::schema::dialect::{Alignment, Dialect};

/// What an adapter may know beside the row.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// Name of the file without endings, for ids that are only unique in it.
    pub(super) stem: String,
    /// Ordinal of the raw row in the file.
    pub(super) row: u64,
    /// What was noted of its traces, beside it.
    pub(super) annotations: Option<Arc<Annotations>>,
}

impl Context {
    /// The context of a file.
    pub(super) fn new(path: &Path) -> Self {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default().to_owned();
        Self { stem, row: 0, annotations: None }
    }
}

/// Why a row cannot be reshaped.
#[derive(Debug, PartialEq)]
pub(super) struct Bad {
    /// The raw column.
    pub(super) column: Cow<'static, str>,
    /// What is wrong with it.
    pub(super) message: String,
}

impl Bad {
    fn new(column: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { column: column.into(), message: message.into() }
    }

    fn length(column: impl Into<Cow<'static, str>>, found: usize, other: &str, expected: usize) -> Self {
        Self::new(column, format!("{found} values, but `{other}` has {expected}"))
    }
}

/// The responses of one raw row, made when asked for: branches of a trace repeat their prefix, so
/// together they can be far larger than the row.
pub(super) type Responses = Box<dyn Iterator<Item = Result<Object, Bad>> + Send>;

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
        Dialect::SwiftText | Dialect::RollDumpText => {
            // A list here runs over the responses of a batch, not over tokens.
            row.retain(|_, value| !value.shape().is_list());
            one(Ok(row))
        }
        _ => one(Ok(row)),
    }
}

/// How the lists of the responses are laid out.
pub(super) const fn alignment(dialect: Dialect) -> Option<Alignment> {
    match dialect {
        Dialect::NemoRl | Dialect::PrimeRlTraces | Dialect::Atropos => Some(Alignment::Response),
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

/// Takes a list of numbers or flags; `Ok(None)` where it is absent or null.
fn take_numbers(row: &mut Object, column: &'static str) -> Result<Option<Vec<f64>>, Bad> {
    match row.take(column) {
        None | Some(Field::Null) => Ok(None),
        Some(field) => {
            field.into_numbers().map(Some).ok_or_else(|| Bad::new(column, "not a list of numbers"))
        }
    }
}

/// Whether a mask value is set; missing ones are not.
fn is_set(value: f64) -> bool {
    !value.is_nan() && value != 0.0
}

#[cfg(test)]
mod tests;
