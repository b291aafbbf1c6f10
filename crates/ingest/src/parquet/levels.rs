//! Levels of the values of a page: which start a row, and which are there.

use bytes::Bytes;
use parquet::errors::Result;

use super::run_length::{HybridRuns, bad};

/// Reads `values` levels of at most `most`.
pub fn walk(levels: Bytes, most: i16, values: usize, each: &mut dyn FnMut(u32, usize)) -> Result<()> {
    let most = u32::try_from(most).map_err(|_| bad("levels that cannot be"))?;
    let mut runs = HybridRuns::new(levels, u32::BITS - most.leading_zeros())?;
    let mut left = values;
    while left > 0 {
        let run = runs.next_run()?;
        if run.value > most {
            return Err(bad("a level above its maximum"));
        }
        let count = run.len.min(left);
        each(run.value, count);
        left -= count;
    }
    Ok(())
}

/// The most values that one row, or the rows of one batch, have.
pub struct RowLengths {
    batch_rows: u64,
    open: u64,
    batch: u64,
    rows_in_batch: u64,
    /// The most so far.
    pub largest: u64,
}

impl RowLengths {
    /// For batches of at most `batch_rows` rows.
    pub fn new(batch_rows: u64) -> Self {
        Self { batch_rows, open: 0, batch: 0, rows_in_batch: 0, largest: 0 }
    }

    /// Adds values, each of which starts a row or none of which does.
    pub fn add(&mut self, starts: bool, values: u64) {
        if starts {
            // Several rows of one value each.
            self.rows_in_batch += values;
            if self.rows_in_batch > self.batch_rows {
                self.rows_in_batch = 1;
                self.batch = 0;
            }
            self.batch += values.min(self.batch_rows.max(1));
            self.open = 1;
        } else {
            self.open += values;
            self.batch += values;
        }
        self.largest = self.largest.max(self.open).max(self.batch);
    }
}
