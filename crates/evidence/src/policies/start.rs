//! The gap at the log's first step, taken apart.

use super::Sum;
use super::gap::{Gap, GapSums};
use super::token_loops::{CUT, clip};
use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, HashSample, Max};

/// Parts of a response by position: its first token, the next two, up to the twentieth, the rest.
pub const POSITIONS: usize = 4;
/// Responses of the first step that are kept.
const RESPONSES: usize = 1 << 14;

/// Sums over the first step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Start {
    /// By position.
    pub positions: [GapSums; POSITIONS],
    /// By ln π_old: below −4.6, below −0.7, above.
    pub by_probability: [GapSums; 3],
    /// In the first turn and in later ones.
    pub by_turn: [GapSums; 2],
    /// Against ln p + H, in two halves of the groups.
    pub support: [SupportHalf; 2],
    /// By response.
    pub responses: HashSample<StartResponse, RESPONSES>,
}

/// Σds, Σs² and Σd² of half of the groups, s = ln p + H.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct SupportHalf {
    /// Σds.
    pub product: Sum,
    /// Σs².
    pub support: Sum,
    /// Σd².
    pub squares: Sum,
}

/// The gap of one response.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct StartResponse {
    /// Tokens.
    pub tokens: u64,
    /// Σd².
    pub squares: Sum,
    /// Tokens of its prompt.
    pub prompt: Max<i64>,
}

impl Start {
    pub(super) fn add(&mut self, response: &Response<'_>, gap: &Gap, place: u64, group: u64) {
        self.positions.iter_mut().zip(&gap.parts).for_each(|(sums, part)| sums.add(part));
        let all = gap.all();
        let half = &mut self.support[usize::from(group & 1 == 1)];
        half.product.add(gap.with_support);
        half.support.add(gap.support);
        half.squares.add(all.squares);
        if let Some(kept) = self.responses.at(place) {
            kept.tokens += all.tokens;
            kept.squares.add(all.squares);
            response.prompt_len.into_iter().for_each(|len| kept.prompt.add(len));
        }
        self.add_tokens(response);
    }

    /// What has a class of its own at each token: the first step alone pays for it.
    fn add_tokens(&mut self, response: &Response<'_>) {
        let Some(rollout) = response.rollout else { return };
        let first_turn = response.turns.and_then(|turns| turns.first());
        for t in super::token_loops::trained(response) {
            let old = f64::from(response.logprob[t]);
            let d = clip(old - f64::from(rollout[t]), CUT);
            if !d.is_finite() {
                continue;
            }
            let probability = usize::from(old >= -4.6) + usize::from(old >= -0.7);
            let later = response.turns.is_some_and(|turns| Some(&turns[t]) != first_turn);
            for sums in [&mut self.by_probability[probability], &mut self.by_turn[usize::from(later)]] {
                sums.tokens += 1;
                sums.sum.add(d);
                sums.squares.add(d * d);
                sums.positive.add(if d > 0.0 { d * d } else { 0.0 });
            }
        }
    }
}
