//! Counts of missing and bad values, and what follows from them.

use crate::error::{Error, Result};
use crate::ingest::schema::columns::{Column, PerColumn};

/// Share of missing or bad values above which a warning is due.
pub const WARN_SHARE: f64 = 0.01;
/// Share above which the run is refused unless the user allows it.
pub const FAIL_SHARE: f64 = 0.20;

/// Why single values of a column were not taken.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ColumnQuality {
    /// Values looked at (trained tokens).
    pub values: u64,
    /// Null in the log.
    pub null: u64,
    /// NaN or infinite in the log.
    pub not_finite: u64,
    /// Outside of the column's range (log-probability above 0, negative entropy, …).
    pub out_of_range: u64,
    /// A placeholder of the framework (constant zero, −9999).
    pub sentinel: u64,
    /// Where the first bad value is, in the order of files and rows.
    pub first_bad: Option<ValuePlace>,
}

/// A place in the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ValuePlace {
    /// Index of the file in the run.
    pub file: u32,
    /// Row of the file, from 0.
    pub row: u64,
    /// Position in the response.
    pub position: u64,
}

impl ColumnQuality {
    /// Values that were logged but cannot be used.
    pub fn bad(&self) -> u64 {
        self.not_finite + self.out_of_range + self.sentinel
    }

    /// Share of values that are missing or bad.
    pub fn missing_share(&self) -> f64 {
        if self.values == 0 { 0.0 } else { (self.null + self.bad()) as f64 / self.values as f64 }
    }

    /// Notes a bad value's place.
    pub fn note(&mut self, place: ValuePlace) {
        if self.first_bad.as_ref().is_none_or(|first| place < *first) {
            self.first_bad = Some(place);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.values += other.values;
        self.null += other.null;
        self.not_finite += other.not_finite;
        self.out_of_range += other.out_of_range;
        self.sentinel += other.sentinel;
        if let Some(place) = &other.first_bad {
            self.note(place.clone());
        }
    }
}

/// Counts of all columns.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Quality {
    columns: PerColumn<ColumnQuality>,
}

impl Quality {
    /// The counts of `column`, to add to.
    pub fn column(&mut self, column: Column) -> &mut ColumnQuality {
        self.columns.get_or_default(column)
    }

    /// The counts of `column`.
    pub fn get(&self, column: Column) -> Option<&ColumnQuality> {
        self.columns.get(column)
    }

    /// All counted columns.
    pub fn iter(&self) -> impl Iterator<Item = (Column, &ColumnQuality)> {
        self.columns.iter()
    }

    /// Adds the counts of another part of the run.
    pub fn merge(&mut self, other: &Self) {
        for (column, quality) in other.columns.iter() {
            self.column(column).merge(quality);
        }
    }

    /// Gives files other numbers.
    pub fn renumber(&mut self, file: impl Fn(u32) -> u32) {
        for column in Column::ALL {
            if let Some(place) = self.columns.get_mut(*column).and_then(|c| c.first_bad.as_mut()) {
                place.file = file(place.file);
            }
        }
    }

    /// Refuses a run of which too much is missing; where gaps are allowed, one that lacks a column
    /// altogether: no token would be left.
    pub fn check(
        &self,
        needed: &[Column],
        gaps_allowed: bool,
        name_of: impl Fn(u32) -> String,
    ) -> Result<()> {
        for (column, quality) in self.columns.iter() {
            let share = quality.missing_share();
            let too_many = if gaps_allowed { share >= 1.0 } else { share > FAIL_SHARE };
            if needed.contains(&column) && too_many {
                let first = quality.first_bad.as_ref();
                return Err(Error::TooManyMissing {
                    column: column.name(),
                    share: share * 100.0,
                    values: quality.values,
                    first: first
                        .map(|p| format!("{} row {} position {}", name_of(p.file), p.row, p.position))
                        .unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}
