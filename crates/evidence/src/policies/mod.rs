//! What the policies that a log holds say of one another, token by token: the trainer's before the step (π_old) and at
//! the loss (π_θ), the sampler's (μ), the reference's.
//!
//! Tokens of a response are summed in plain doubles, in their order; responses are added to sums that do not depend on
//! order. What is asked of the training's start alone is collected at the log's first step, what is asked of the last
//! mini-batch at the greatest number of one, and errors stand on a sample of groups by hash.

mod finite;
mod gap;
mod groups;
mod moved;
mod shifts;
mod start;
mod step;
mod token_loops;

pub use finite::{Faulty, FirstFault};
pub use gap::GapSums;
pub use groups::{PushGroup, REGRESSORS, Scatter, Siblings, SurprisalGroup};
pub use moved::Moved;
pub use shifts::{Moments, Shifts};
pub use start::{POSITIONS, Start, StartResponse, SupportHalf};
pub use step::{Distance, Step, Weights};

use self::gap::Gap;
use crate::Response;
use crate::hash::mix;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, First, FixedSum, HashSample, Last, Max, Min};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Sums of terms that are clipped: at most 25 a token, so that 10^10 tokens fit.
pub type Sum = FixedSum<24>;

/// Groups whose sums are kept for errors clustered by group.
pub const GROUPS: usize = 1 << 16;
/// Groups whose first tokens are compared.
pub const SIBLINGS: usize = 1 << 12;
/// Responses that stand for all where each counts once.
pub const RESPONSES: usize = 1 << 12;
/// Responses whose columns are held against each other one token aside.
pub const ALIGNED: usize = 1 << 9;

/// Sums over trained tokens.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Policies {
    /// By step.
    pub steps: BTreeMap<i64, Step>,
    /// The gap by step and version of the sampler's weights.
    pub versions: BTreeMap<(i64, i64), GapSums>,
    /// The first value that is not finite.
    pub first_fault: Min<FirstFault>,
    /// The gap at the log's first step, taken apart.
    pub start: First<i64, Start>,
    /// Surprisal against entropy, by group.
    pub surprisal: HashSample<SurprisalGroup, GROUPS>,
    /// First tokens of siblings, by group.
    pub siblings: HashSample<Siblings, SIBLINGS>,
    /// Root mean square of ln π_θ − ln π_old of responses in the step's first update.
    pub update_zero: HashSample<Max<f64>, RESPONSES>,
    /// What the last update of a step moved by, by group.
    pub push: Last<i64, HashSample<PushGroup, GROUPS>>,
    /// Correlations at the same token and beside it.
    pub shifts: HashSample<Shifts, ALIGNED>,
}

impl Policies {
    pub(crate) fn add(&mut self, response: &Response<'_>) {
        let place = mix(response.hash, 0);
        let group = mix(response.step.cast_unsigned(), response.group);
        let faulty = Faulty::of(response);
        let gap = response.rollout.map(|rollout| Gap::of(response, rollout));
        let moved = response.new.map(|new| Moved::of(response, new));

        self.steps.entry(response.step).or_default().add(response, &faulty, gap.as_ref(), moved.as_ref());
        if let Some(fault) = faulty.first {
            self.first_fault.add(fault.of(response));
        }
        if let Some(siblings) = self.siblings.at(group) {
            siblings.add(response);
        }
        if let Some(shifts) = self.shifts.at(place).filter(|_| !response.logprob.is_empty()) {
            shifts.add(response);
        }
        if let Some(gap) = gap.filter(|gap| gap.tokens() > 0) {
            if let Some(version) = response.version {
                self.versions.entry((response.step, version)).or_default().add(&gap.all());
            }
            if let Some(start) = self.start.at(response.step) {
                start.add(response, &gap, place, group);
            }
            if let Some(surprisal) = self.surprisal.at(group) {
                surprisal.add(&gap);
            }
        }
        if let (Some(moved), Some(update)) = (moved, response.update) {
            if update == 0
                && let Some(rms) = moved.rms()
                && let Some(kept) = self.update_zero.at(place)
            {
                kept.add(rms);
            }
            if let Some(kept) = self.push.at(Reverse(update)).and_then(|groups| groups.at(group)) {
                kept.add(response);
            }
        }
    }

    /// The greatest number of an update, and what it moved by.
    #[must_use]
    pub fn last_update(&self) -> Option<(i64, &HashSample<PushGroup, GROUPS>)> {
        self.push.0.as_ref().map(|(Reverse(update), groups)| (*update, groups))
    }
}
