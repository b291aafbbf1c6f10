//! Slices by decile of the response. Every response has them all, so they are counted in one place
//! each, without looking a key up.

use super::slice_keys::{DECILES, number_key};
use super::slices::{SliceTable, SliceTally, SlicedResponse};

/// What the tokens of each decile add up to.
#[derive(Clone, Debug)]
pub struct Deciles([SliceTally; DECILES]);

impl Default for Deciles {
    fn default() -> Self {
        Self(std::array::from_fn(|_| SliceTally::default()))
    }
}

impl Deciles {
    /// Adds a response.
    pub fn add(&mut self, response: &SlicedResponse<'_>) {
        let asked = response.asked;
        let length = asked.source.range(asked.index).len();
        let mut first = 0;
        for (decile, tally) in self.0.iter_mut().enumerate() {
            // The first token of the next one: token · 10 / length is above this decile.
            let next = ((decile + 1) * length).div_ceil(DECILES);
            let end = match asked.picks {
                None => next.min(asked.trained.len()),
                Some(picks) => first + picks[first..].partition_point(|token| (*token as usize) < next),
            };
            if end > first {
                tally.add(&response.stretch(first..end), response.replicate);
            }
            first = end;
        }
    }

    /// Adds them to the table of the dimension.
    pub fn pour(self, table: &mut SliceTable) {
        for (decile, tally) in self.0.iter().enumerate().filter(|(_, tally)| tally.tokens > 0) {
            table.at(number_key(decile as f64)).merge(tally);
        }
    }
}
