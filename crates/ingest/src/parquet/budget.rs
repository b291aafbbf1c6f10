//! What reading a unit may take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use parquet::errors::{ParquetError, Result};

use super::text_bytes::TextBytes;
use crate::memory_turns::wait_for_memory;
use stapo_batch::limits::Limits;

/// What the columns of one unit share: the limits, what their pages take, and why one was refused.
#[derive(Clone, Default)]
pub struct Budget {
    limits: Limits,
    taken: Arc<AtomicU64>,
    /// Bytes of texts in the batch at hand.
    texts: Arc<AtomicU64>,
    refused: Arc<OnceLock<String>>,
    batch_rows: u64,
    keeps_dictionaries: bool,
}

/// The texts of one column, and how many of their bytes are counted.
pub type ColumnTexts = Arc<Mutex<(TextBytes, u64)>>;

impl Budget {
    /// For a unit whose batches have at most `batch_rows` rows; whether texts stay places in a dictionary.
    pub fn new(limits: Limits, batch_rows: usize, keeps_dictionaries: bool) -> Self {
        Self { limits, batch_rows: batch_rows as u64, keeps_dictionaries, ..Self::default() }
    }

    /// For the texts of one column.
    pub fn column_texts(&self) -> ColumnTexts {
        Arc::new(Mutex::new((TextBytes::new(self.batch_rows, self.keeps_dictionaries), 0)))
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Rows of a batch, at most.
    pub fn batch_rows(&self) -> u64 {
        self.batch_rows
    }

    /// Gives back what a page took.
    pub fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Why something was refused for its size.
    pub fn refusal(&self) -> Option<String> {
        self.refused.get().cloned()
    }

    /// Refuses something for its size.
    pub fn refuse(&self, why: String) -> ParquetError {
        let error = ParquetError::General(why.clone());
        let _ = self.refused.set(why);
        error
    }

    /// Counts a page in place of the one before it.
    pub fn replace(&self, before: u64, now: u64) -> Result<()> {
        if now > self.limits.piece() {
            return Err(self.refuse(self.limits.too_much("a page", now)));
        }
        self.taken.fetch_sub(before, Ordering::Relaxed);
        let all = self.taken.fetch_add(now, Ordering::Relaxed) + now;
        if all > Limits::SHARE {
            wait_for_memory();
        }
        if all > self.limits.pages() {
            return Err(self.refuse(self.limits.too_much("pages that are needed together", all)));
        }
        Ok(())
    }

    /// Counts the texts of a column's batch in place of those before.
    pub fn replace_texts(&self, before: u64, now: u64) -> Result<()> {
        self.texts.fetch_sub(before, Ordering::Relaxed);
        let all = self.texts.fetch_add(now, Ordering::Relaxed) + now;
        if all > Limits::SHARE {
            wait_for_memory();
        }
        if all > self.limits.pages() {
            return Err(self.refuse(self.limits.too_much("the texts of some rows", all)));
        }
        Ok(())
    }
}
