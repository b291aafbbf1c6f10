//! Counts of missing and bad values, and what follows from them.

use std::ops::Range;

use crate::schema::mapping::Mapping;
use crate::scope::Scope;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::{Column, Kind, Level, PerColumn};

/// Why single values of a column were not taken.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
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
pub struct Quality {
    columns: PerColumn<ColumnQuality>,
    /// Trained tokens and responses: the values a column would have if all files and batches had it.
    tokens: u64,
    responses: u64,
    /// Responses of evaluation that were left out.
    pub evaluation: u64,
    /// Values that are not a column's own: another one stands for them.
    stood_for: PerColumn<u64>,
    /// Responses with the ids of another one and other values, about; known once all are read.
    #[serde(skip)]
    pub repeated_ids: u64,
}

/// A column, and the one that stands for it where it is not there.
const STAND_INS: &[(Column, Column)] = &[
    (Column::Advantage, Column::AdvantageSeq),
    (Column::AdvantageSeq, Column::Advantage),
    (Column::LogprobNew, Column::Ratio),
    (Column::Ratio, Column::LogprobNew),
    (Column::TokenVersion, Column::PolicyVersion),
];

/// Whether rows that do not have the column lack something. Positions count from 0 without one, and
/// all tokens are trained on without a mask.
fn leaves_a_gap(column: Column) -> bool {
    match (column.level(), column.kind()) {
        (Level::Token, Kind::Int) => column != Column::Position,
        (_, Kind::Float | Kind::Double) => true,
        _ => false,
    }
}

fn has(batch: &TokenBatch, column: Column) -> bool {
    let (tokens, responses) = (&batch.tokens, &batch.responses);
    tokens.floats.get(column).is_some()
        || tokens.ints.get(column).is_some()
        || responses.floats.get(column).is_some()
        || responses.ints.get(column).is_some()
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

    /// Counts the values that columns could have in a batch, whether or not it has them; of the responses
    /// that are asked for.
    pub(crate) fn saw(&mut self, batch: &TokenBatch, mapping: &Mapping, scope: Scope) {
        let trained = |tokens: Range<usize>| {
            batch.mask().map_or(tokens.len(), |m| m[tokens].iter().filter(|f| **f == 1).count()) as u64
        };
        let is_asked = |i: usize| scope.contains(&batch.responses, i);
        let (trained, responses) = match scope.is_all() {
            true => (trained(0..batch.token_count()), batch.len()),
            false => {
                let those = (0..batch.len()).filter(|i| is_asked(*i));
                (those.clone().map(|i| trained(batch.range(i))).sum(), those.count())
            }
        };
        let begun = batch.responses.open_start.is_some();
        let responses = responses as u64 - u64::from(begun && is_asked(0));
        let is_left_out = |i: &usize| scope.leaves_out_evaluation(&batch.responses, *i);
        self.evaluation += (usize::from(begun)..batch.len()).filter(is_left_out).count() as u64;
        self.tokens += trained;
        self.responses += responses;
        for mapped in mapping.columns.iter().filter(|m| leaves_a_gap(m.column)) {
            self.column(mapped.column);
        }
        for (column, other) in STAND_INS {
            if !has(batch, *column) && has(batch, *other) {
                let values = if column.level() == Level::Token { trained } else { responses };
                *self.stood_for.get_or_default(*column) += values;
            }
        }
    }

    /// Counts the first response of a batch and its own values, where that was left for when it is
    /// known where it begins; of the responses that are asked for.
    pub(crate) fn began(&mut self, batch: &mut TokenBatch, scope: Scope) {
        let Some(start) = batch.responses.open_start.take().filter(|_| !batch.is_empty()) else { return };
        self.evaluation += u64::from(scope.leaves_out_evaluation(&batch.responses, 0));
        if !scope.contains(&batch.responses, 0) {
            return;
        }
        self.responses += 1;
        for (column, values) in batch.responses.floats.iter() {
            let counts = self.column(column);
            counts.values += 1;
            if values.first().is_none_or(|v| v.is_finite()) {
                continue;
            }
            if start.not_finite.contains(&column) {
                counts.not_finite += 1;
                counts.note(ValuePlace { file: batch.origin.file, row: start.row, position: 0 });
            } else {
                counts.null += 1;
            }
        }
        for (column, other) in STAND_INS.iter().filter(|(column, _)| column.level() == Level::Response) {
            if !has(batch, *column) && has(batch, *other) {
                *self.stood_for.get_or_default(*column) += 1;
            }
        }
    }

    /// The counts of a whole run: where a file or batch lacks a column that others have, its values are
    /// missing. Known only when all was read, whatever the order.
    pub fn settled(mut self) -> Self {
        for &column in Column::ALL {
            let expected = if column.level() == Level::Token { self.tokens } else { self.responses };
            let stood_for = self.stood_for.take(column).unwrap_or(0);
            let Some(counts) = self.columns.get_mut(column).filter(|_| leaves_a_gap(column)) else {
                continue;
            };
            counts.null += expected.saturating_sub(counts.values + stood_for);
            counts.values = counts.values.max(expected);
        }
        // A mask is worth a word only where some of it is missing.
        if self.columns.get(Column::Mask).is_some_and(|mask| mask.null == 0) {
            self.columns.take(Column::Mask);
        }
        self
    }

    /// Adds the counts of another part of the run.
    pub fn merge(&mut self, other: &Self) {
        for (column, quality) in other.columns.iter() {
            self.column(column).merge(quality);
        }
        self.tokens += other.tokens;
        self.responses += other.responses;
        self.evaluation += other.evaluation;
        for (column, values) in other.stood_for.iter() {
            *self.stood_for.get_or_default(column) += values;
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

    /// Fails where a needed column is there and has not a single value: no token would be left. What is missing of
    /// others is counted and said, however much it is: a run that turns NaN is known up to there.
    pub fn require_values(&self, needed: &[Column], name_of: impl Fn(u32) -> String) -> Result<()> {
        for (column, quality) in self.columns.iter() {
            if needed.contains(&column) && quality.missing_share() >= 1.0 {
                let first = quality.first_bad.as_ref();
                return Err(Error::NoValue {
                    column: column.name(),
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
