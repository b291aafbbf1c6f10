//! From rows of a result to the columns of a frame.

use std::borrow::Cow;

use polars::prelude::{Column, DataFrame, NamedFrom, Series};

/// A frame in the making: one column after another, each read off the same rows. A value may be
/// given as it is or as an `Option`.
///
/// ```
/// use stapo_base::tables::Columns;
///
/// let rows = [(0_i64, Some(0.5)), (1, None)];
/// let frame = Columns::of(&rows).int("step", |r| r.0).float("reward", |r| r.1).frame();
/// assert_eq!((frame.height(), frame.width()), (2, 2));
/// ```
pub struct Columns<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Columns<'a, R> {
    /// No column yet, of these rows.
    #[must_use]
    pub fn of(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds whole numbers.
    #[must_use]
    pub fn int<T: Into<Option<i64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into()).collect();
        self.with(name, Values::Int(values))
    }

    /// Adds counts.
    #[must_use]
    pub fn count<T: Into<Option<u64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into()).collect();
        self.with(name, Values::Count(values))
    }

    /// Adds numbers.
    #[must_use]
    pub fn float<T: Into<Option<f64>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into()).collect();
        self.with(name, Values::Float(values))
    }

    /// Adds numbers that were logged with 32 bits.
    #[must_use]
    pub fn single<T: Into<Option<f32>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into()).collect();
        self.with(name, Values::Single(values))
    }

    /// Adds truth values.
    #[must_use]
    pub fn flag<T: Into<Option<bool>>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into()).collect();
        self.with(name, Values::Flag(values))
    }

    /// Adds texts.
    #[must_use]
    pub fn text<T: IntoText<'a>>(self, name: &str, of: impl Fn(&'a R) -> T) -> Self {
        let values = self.rows.iter().map(|row| of(row).into_text()).collect();
        self.with(name, Values::Text(values))
    }

    fn with(mut self, name: &str, values: Values<'_>) -> Self {
        push(&mut self.columns, name, values);
        self
    }

    /// The frame.
    #[must_use]
    pub fn frame(self) -> DataFrame {
        // Polars refuses unequal lengths and repeated names; here there are neither.
        DataFrame::new(self.rows.len(), self.columns).unwrap_or_default()
    }
}

/// The values of a column.
enum Values<'a> {
    Int(Vec<Option<i64>>),
    Count(Vec<Option<u64>>),
    Float(Vec<Option<f64>>),
    Single(Vec<Option<f32>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<Cow<'a, str>>>),
}

/// Adds a column. In one place: as a part of what calls it, it would be compiled for every column.
fn push(columns: &mut Vec<Column>, name: &str, values: Values<'_>) {
    let mut name = name.to_owned();
    while columns.iter().any(|column| *column.name() == name) {
        name.push('_');
    }
    let name = name.into();
    let series = match values {
        Values::Int(values) => Series::new(name, values),
        Values::Count(values) => Series::new(name, values),
        Values::Float(values) => Series::new(name, values),
        Values::Single(values) => Series::new(name, values),
        Values::Flag(values) => Series::new(name, values),
        Values::Text(values) => Series::new(name, values),
    };
    columns.push(series.into());
}

/// A text of a row, borrowed or made, or none.
pub trait IntoText<'a> {
    /// The text.
    fn into_text(self) -> Option<Cow<'a, str>>;
}

impl<'a> IntoText<'a> for &'a str {
    fn into_text(self) -> Option<Cow<'a, str>> {
        Some(Cow::Borrowed(self))
    }
}

impl<'a> IntoText<'a> for &'a String {
    fn into_text(self) -> Option<Cow<'a, str>> {
        Some(Cow::Borrowed(self))
    }
}

impl<'a> IntoText<'a> for String {
    fn into_text(self) -> Option<Cow<'a, str>> {
        Some(Cow::Owned(self))
    }
}

impl<'a> IntoText<'a> for Option<&'a str> {
    fn into_text(self) -> Option<Cow<'a, str>> {
        self.map(Cow::Borrowed)
    }
}

impl<'a> IntoText<'a> for Option<String> {
    fn into_text(self) -> Option<Cow<'a, str>> {
        self.map(Cow::Owned)
    }
}

impl<'a> IntoText<'a> for &'a Option<String> {
    fn into_text(self) -> Option<Cow<'a, str>> {
        self.as_deref().map(Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_stay_apart() {
        let frame = Columns::of(&[1_i64, 2]).int("n", |n| *n).int("n", |n| n + 1).frame();
        assert_eq!(frame.get_column_names(), ["n", "n_"]);
        assert_eq!(frame.shape(), (2, 2));
    }

    #[test]
    fn no_rows_keep_their_columns() {
        let none: [f64; 0] = [];
        let frame = Columns::of(&none).float("x", |x| *x).text("name", |_| "a").frame();
        assert_eq!(frame.shape(), (0, 2));
    }
}
