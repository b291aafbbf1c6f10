//! State that is collected in pieces: any split of a log, any order of its pieces, the same bytes.
//!
//! A struct whose fields accumulate does so itself (`#[derive(Accumulate)]`); the leaves are here: counts, sums that do
//! not depend on order, extremes, and samples by the smallest hash, whose size does not grow with the log.

// The derive names the trait by the crate's path, also here.
extern crate self as stapo_accumulate;

mod containers;
pub mod exact_sum;
mod extremes;
mod fixed_sum;
mod sample;

pub use exact_sum::ExactSum;
pub use extremes::{First, Last, Max, Min, TopK};
pub use fixed_sum::FixedSum;
pub use sample::HashSample;
pub use stapo_accumulate_derive::Accumulate;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// State of a part of a log. Merging is commutative and associative to the byte, with `default()` as its neutral element.
pub trait Accumulate: Default + Serialize + DeserializeOwned {
    /// Adds what was collected elsewhere.
    fn merge(&mut self, other: Self);

    /// Drops what only further pieces would need, once all are merged.
    fn settle(&mut self) {}
}

/// A count.
impl Accumulate for u64 {
    fn merge(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

/// Whether it was seen anywhere.
impl Accumulate for bool {
    fn merge(&mut self, other: Self) {
        *self |= other;
    }
}

impl Accumulate for ExactSum {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}
