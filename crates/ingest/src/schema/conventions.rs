//! Which of two ways a file goes, where its rows may go either: kept as the first row of each, so that the order
//! of reading does not matter.

use std::sync::atomic::{AtomicU64, Ordering};

use stapo_batch::columns::Column;

/// The first row that goes each of two ways; the largest number where none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EitherWay(u64, u64);

impl EitherWay {
    fn merge(&mut self, other: Self) {
        *self = Self(self.0.min(other.0), self.1.min(other.1));
    }
}

/// What the rows of a file look like. A log does one of two: where it seems to do both, entries are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FirstRows {
    /// As many values as tokens, or one less.
    values: EitherWay,
    /// An advantage a token, or one a response.
    advantages: EitherWay,
}

impl FirstRows {
    /// Adds those of another part of the file.
    pub fn merge(&mut self, other: Self) {
        self.values.merge(other.values);
        self.advantages.merge(other.advantages);
    }

    /// The first row that goes another way than one before it, the column (or `tokens`) it does so in, and how.
    pub fn conflict(&self, tokens: Column) -> Option<(u64, Column, String)> {
        let told = |EitherWay(a, b): EitherWay, column: Column, ways: [[&str; 2]; 2]| {
            let (row, other, [is, _], [_, was]) = match a > b {
                true => (a, b, ways[0], ways[1]),
                false => (b, a, ways[1], ways[0]),
            };
            let both = a.max(b) != u64::MAX;
            both.then(|| (row, column, format!("the row has {is}, row {other} has {was}")))
        };
        let values = [["as many values as tokens", "as many"], ["one value less than tokens", "one less"]];
        let advantages = [["one value a token", "one a token"], ["one value in all", "one in all"]];
        told(self.values, tokens, values).or_else(|| told(self.advantages, Column::Advantage, advantages))
    }
}

/// The same while rows are read.
#[derive(Debug)]
pub struct Conventions {
    values: [AtomicU64; 2],
    advantages: [AtomicU64; 2],
}

impl Default for Conventions {
    fn default() -> Self {
        let none = || [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];
        Self { values: none(), advantages: none() }
    }
}

impl Conventions {
    /// A row with as many values as tokens.
    pub fn saw_equal(&self, row: u64) {
        self.values[0].fetch_min(row, Ordering::Relaxed);
    }

    /// A row with one value less.
    pub fn saw_one_less(&self, row: u64) {
        self.values[1].fetch_min(row, Ordering::Relaxed);
    }

    /// A row with more than one advantage.
    pub fn saw_advantages_of_tokens(&self, row: u64) {
        self.advantages[0].fetch_min(row, Ordering::Relaxed);
    }

    /// A row of several tokens with one advantage.
    pub fn saw_advantage_of_response(&self, row: u64) {
        self.advantages[1].fetch_min(row, Ordering::Relaxed);
    }

    /// The first row of each kind so far.
    pub fn first_rows(&self) -> FirstRows {
        let first = |[a, b]: &[AtomicU64; 2]| EitherWay(a.load(Ordering::Relaxed), b.load(Ordering::Relaxed));
        FirstRows { values: first(&self.values), advantages: first(&self.advantages) }
    }
}
