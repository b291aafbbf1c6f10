//! The verdict on every candidate: spurious or exploratory, and which come first in the ranking.

use std::collections::{BTreeMap, BinaryHeap};

use rayon::prelude::*;

use super::flagged::{FlaggedSource, risk};
use crate::collect::candidates::Candidate;
use stapo_base::error::Result;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::wide_sum::WideSum;
use stapo_batch::batch::Id;
use stapo_framework::batch::flags;
use stapo_result::cases::CASE_LIMIT;
use stapo_result::{FlagKind, FlaggedToken};

/// What became of the candidates of one batch.
#[derive(Clone, Debug, Default)]
pub struct BatchVerdict {
    /// Candidates.
    pub candidates: u64,
    /// Silenced.
    pub silenced: u64,
    /// Of these, with w ≠ 0: the others are clipped and have no norm.
    pub silenced_weighted: u64,
    /// Energy of the silenced.
    pub silenced_energy: ExactSum,
    /// Σ‖g‖⁴ of the silenced.
    pub silenced_squares: WideSum,
    /// Sum of the norms of the silenced.
    pub silenced_norm: ExactSum,
    /// Energy of the others.
    pub exploratory_energy: ExactSum,
}

impl BatchVerdict {
    /// Adds another batch.
    pub fn merge(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.silenced += other.silenced;
        self.silenced_weighted += other.silenced_weighted;
        self.silenced_energy.merge(&other.silenced_energy);
        self.silenced_squares.merge(&other.silenced_squares);
        self.silenced_norm.merge(&other.silenced_norm);
        self.exploratory_energy.merge(&other.exploratory_energy);
    }

    /// Candidates that are kept.
    pub fn exploratory(&self) -> u64 {
        self.candidates - self.silenced
    }
}

/// What became of the candidates of one id.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdVerdict {
    /// Silenced.
    pub silenced: u64,
    /// Kept.
    pub exploratory: u64,
}

/// The verdicts on all candidates.
pub struct Verdicts {
    /// By batch.
    pub batches: Vec<BatchVerdict>,
    /// By token id.
    pub ids: BTreeMap<i32, IdVerdict>,
    /// The first of the ranking: spurious before exploratory, highest risk first.
    pub top: Vec<FlaggedToken>,
    /// Whether ids of groups and of responses are texts, not numbers.
    pub text_ids: [bool; 2],
}

/// A candidate in the ranking; the greatest is the last.
struct RankedCandidate {
    rank: Rank,
    candidate: Candidate,
}

/// Kind, risk and number in the order of the table.
type Rank = (FlagKind, f64, u64);

impl RankedCandidate {
    fn order(&self, (kind, risk, number): Rank) -> std::cmp::Ordering {
        let (my_kind, my_risk, my_number) = self.rank;
        my_kind.cmp(&kind).then(risk.total_cmp(&my_risk)).then(my_number.cmp(&number))
    }

    fn is_after(&self, rank: Rank) -> bool {
        self.order(rank).is_gt()
    }
}

impl Ord for RankedCandidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order(other.rank)
    }
}

impl PartialOrd for RankedCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedCandidate {}

impl Verdicts {
    /// Judges all candidates.
    pub fn judge(source: &FlaggedSource) -> Result<Self> {
        let mut batches = vec![BatchVerdict::default(); source.keys.len()];
        let mut ids: BTreeMap<i32, IdVerdict> = BTreeMap::new();
        let mut ranking: BinaryHeap<RankedCandidate> = BinaryHeap::new();
        let mut number = 0;
        let mut text_ids = [false; 2];
        source.candidates.for_each(|candidate| {
            let Some((batch, tau_h)) = source.threshold(candidate) else { return Ok(()) };
            let verdict = &mut batches[batch];
            text_ids[0] |= matches!(candidate.group, Id::Text(_));
            text_ids[1] |= matches!(candidate.sample, Id::Text(_));
            let kind = FlaggedSource::kind(candidate, tau_h);
            let id = ids.entry(candidate.token_id).or_default();
            let energy = candidate.energy[1];
            verdict.candidates += 1;
            match kind {
                FlagKind::Spurious => {
                    verdict.silenced += 1;
                    verdict.silenced_weighted += u64::from(candidate.flags & flags::CLIPPED == 0);
                    verdict.silenced_energy.add(energy);
                    verdict.silenced_squares.add(energy * energy);
                    verdict.silenced_norm.add(energy.sqrt());
                    id.silenced += 1;
                }
                FlagKind::Exploratory => {
                    verdict.exploratory_energy.add(energy);
                    id.exploratory += 1;
                }
            }
            number += 1;
            let rank = (kind, risk(candidate), number);
            if ranking.len() < CASE_LIMIT || ranking.peek().is_some_and(|last| last.is_after(rank)) {
                if ranking.len() == CASE_LIMIT {
                    ranking.pop();
                }
                ranking.push(RankedCandidate { rank, candidate: candidate.clone() });
            }
            Ok(())
        })?;
        let top = ranking.into_sorted_vec().par_iter().filter_map(|r| source.row(&r.candidate)).collect();
        Ok(Self { batches, ids, top, text_ids })
    }

    /// All batches together.
    pub fn total(&self) -> BatchVerdict {
        let mut total = BatchVerdict::default();
        self.batches.iter().for_each(|batch| total.merge(batch));
        total
    }
}
