//! What adapters are given, what they give back, and how they read single values.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::super::annotations::Annotations;
use super::super::field::{Field, Object};

/// What an adapter may know beside the row.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Name of the file without endings, for ids that are only unique in it.
    pub(crate) stem: String,
    /// Ordinal of the raw row in the file.
    pub(crate) row: u64,
    /// What was noted of its traces, beside it.
    pub(crate) annotations: Option<Arc<Annotations>>,
}

impl Context {
    /// The context of a file.
    pub(crate) fn new(path: &Path) -> Self {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default().to_owned();
        Self { stem, row: 0, annotations: None }
    }
}

/// Why a row cannot be reshaped.
#[derive(Debug, PartialEq)]
pub(crate) struct Bad {
    /// The raw column.
    pub(crate) column: Cow<'static, str>,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl Bad {
    pub(super) fn new(column: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { column: column.into(), message: message.into() }
    }

    pub(super) fn length(
        column: impl Into<Cow<'static, str>>,
        found: usize,
        other: &str,
        expected: usize,
    ) -> Self {
        Self::new(column, format!("{found} values, but `{other}` has {expected}"))
    }
}

/// The responses of one raw row, made when asked for: branches of a trace repeat their prefix, so
/// together they can be far larger than the row.
pub(crate) type Responses = Box<dyn Iterator<Item = Result<Object, Bad>> + Send>;

/// Takes a list of numbers or flags; `Ok(None)` where it is absent or null.
pub(super) fn take_numbers(row: &mut Object, column: &'static str) -> Result<Option<Vec<f64>>, Bad> {
    match row.take(column) {
        None | Some(Field::Null) => Ok(None),
        Some(field) => {
            field.into_numbers().map(Some).ok_or_else(|| Bad::new(column, "not a list of numbers"))
        }
    }
}

/// Whether a mask value is set; missing ones are not.
pub(super) fn is_set(value: f64) -> bool {
    !value.is_nan() && value != 0.0
}
