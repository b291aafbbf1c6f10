//! Which tokens of a response are trained.

use crate::collect::columns::{Columns, PickedColumns};
use stapo_batch::batch::TokenBatch;

/// The trained tokens of a response that have all values; used again from response to response.
#[derive(Debug, Default)]
pub struct Picked {
    /// Tokens that the mask leaves in training.
    pub in_training: usize,
    all: bool,
    tokens: Vec<u32>,
    columns: PickedColumns,
}

impl Picked {
    /// Picks those of response `index`; `complete` where no value of the batch is missing.
    pub fn choose(&mut self, source: &TokenBatch, columns: &Columns<'_>, index: usize, complete: bool) {
        let range = source.range(index);
        let mask = source.mask().map(|mask| &mask[range.clone()]);
        self.in_training = mask.map_or(range.len(), |m| m.iter().filter(|f| **f == 1).count());
        self.all = complete && self.in_training == range.len();
        if self.all {
            return;
        }
        let whole = columns.slice(range.clone());
        self.all = self.in_training == range.len() && whole.is_complete(range.len());
        if !self.all {
            self.pick(&whole, mask, range.len(), complete);
            self.columns.fill(&whole, &self.tokens);
        }
    }

    fn pick(&mut self, whole: &Columns<'_>, mask: Option<&[u8]>, tokens: usize, complete: bool) {
        let picks = &mut self.tokens;
        picks.clear();
        picks.resize(tokens, 0);
        let mut picked = 0;
        // Each is written, and the next written over it where it is not trained: masks are hard to guess.
        let mut pick = |t: usize, is: bool| {
            picks[picked] = t as u32;
            picked += usize::from(is);
        };
        let has = (0..tokens).map(|t| whole.has(t));
        match (mask, whole.required(tokens)) {
            (Some(mask), _) if complete => (0..).zip(mask).for_each(|(t, flag)| pick(t, *flag == 1)),
            (Some(mask), Some([l, h, a])) => {
                for (t, (((flag, l), h), a)) in mask.iter().zip(l).zip(h).zip(a).enumerate() {
                    pick(t, (*flag == 1) & l.is_finite() & h.is_finite() & a.is_finite());
                }
            }
            (Some(mask), None) => {
                has.zip(mask).enumerate().for_each(|(t, (has, m))| pick(t, has & (*m == 1)))
            }
            (None, _) => has.enumerate().for_each(|(t, has)| pick(t, has)),
        }
        picks.truncate(picked);
    }

    /// The columns of the picked tokens, and their indices where not all of `whole` are.
    pub fn of<'a>(&'a self, whole: &Columns<'a>) -> (Columns<'a>, Option<&'a [u32]>) {
        match self.all {
            true => (*whole, None),
            false => (self.columns.columns(), Some(&self.tokens)),
        }
    }
}
