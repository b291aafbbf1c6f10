//! Sequences of a pack, cut into blocks of queries that meet their keys together.

use std::ops::Range;

/// Queries that meet their keys together.
const BLOCK: usize = 64;

/// Rows of a pack that are one sequence.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub row: usize,
    pub tokens: usize,
}

impl Span {
    /// Its blocks of queries.
    pub fn blocks(self) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
        (0..self.tokens.div_ceil(BLOCK)).map(move |b| b * BLOCK..((b + 1) * BLOCK).min(self.tokens))
    }
}

/// Which keys the rows of a block of scores may see: `group` rows belong to one query, the first of
/// them to query `first`, and query i sees the keys 0..=i.
#[derive(Debug, Clone, Copy)]
pub struct Causal {
    pub first: usize,
    pub group: usize,
    pub rows: usize,
    pub keys: usize,
}

impl Causal {
    /// How many keys a row sees.
    #[inline(always)]
    pub fn visible(&self, row: usize) -> usize {
        self.first + (row % self.rows) / self.group + 1
    }
}
