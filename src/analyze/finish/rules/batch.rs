//! What rules need to know about a batch.

use crate::analyze::collect::sample::SampledToken;
use crate::analyze::collect::tally::{BatchTally, Quantity};
use crate::framework::rules::{STARE_TARGET, covariance_picks, is_clip_covariance, stare_count};
use crate::framework::s2t::S2tSettings;
use crate::stats::quantile::select_quantile;

/// Thresholds and means of one batch.
pub struct BatchContext {
    /// τ_h of the late preset.
    pub late: Option<f64>,
    /// The 0.80-quantile of H over all tokens.
    pub early: Option<f64>,
    /// Probability that `clip_cov` picks an eligible token.
    pub clip_chance: f64,
    mean_advantage: f64,
    mean_logprob: f64,
    held_back_from: f64,
    boosted_below: f32,
}

impl BatchContext {
    /// Finds the thresholds of a batch; every token stands for as many as its weight says.
    pub fn new(tally: &BatchTally, early: Option<f64>, tokens: &[(&SampledToken, f64)]) -> Self {
        let complete = tally.counts.tokens - tally.counts.missing;
        let mean = |quantity| tally.sum(quantity) / complete.max(1) as f64;
        let late = S2tSettings::v5();
        let rule = late.rule();
        let candidates = tokens.iter().filter(|(t, _)| rule.is_candidate(t.logprob, t.advantage));
        let mut entropies: Vec<f32> = candidates.map(|(t, _)| t.entropy).collect();
        let mut context = Self {
            late: select_quantile(&mut entropies, 0.75),
            early,
            clip_chance: 0.0,
            mean_advantage: mean(Quantity::Advantage),
            mean_logprob: mean(Quantity::Logprob),
            held_back_from: f64::INFINITY,
            boosted_below: f32::NEG_INFINITY,
        };
        let picks = covariance_picks(complete as usize) as f64;
        let eligible: f64 =
            tokens.iter().filter(|(t, _)| context.is_clip_eligible(t)).map(|(_, weight)| weight).sum();
        if eligible > 0.0 {
            context.clip_chance = (picks / eligible).min(1.0);
        }
        let covariances = tokens.iter().map(|(t, weight)| (context.covariance(t), *weight)).collect();
        context.held_back_from = nth_largest(covariances, picks).unwrap_or(f64::INFINITY);
        if mean(Quantity::Entropy) < STARE_TARGET {
            let rewarded = tokens.iter().filter(|(t, _)| t.advantage > 0.0);
            let surprisals: Vec<(f64, f64)> = rewarded.map(|(t, w)| (-f64::from(t.logprob), *w)).collect();
            let boosted = stare_count(tally.counts.positive as usize) as f64;
            let least = nth_largest(surprisals, boosted);
            context.boosted_below = least.map_or(f32::NEG_INFINITY, |surprisal| -surprisal as f32);
        }
        context
    }

    /// (A − Ā)(ln π − mean ln π).
    fn covariance(&self, token: &SampledToken) -> f64 {
        (f64::from(token.advantage) - self.mean_advantage) * (f64::from(token.logprob) - self.mean_logprob)
    }

    /// Whether `clip_cov` may pick the token.
    pub fn is_clip_eligible(&self, token: &SampledToken) -> bool {
        is_clip_covariance(self.covariance(token))
    }

    /// Whether `kl_cov` holds the token back.
    pub fn is_held_back(&self, token: &SampledToken) -> bool {
        self.covariance(token) >= self.held_back_from
    }

    /// Whether `stare` boosts the token.
    pub fn is_boosted(&self, token: &SampledToken) -> bool {
        token.advantage > 0.0 && token.logprob <= self.boosted_below
    }
}

/// The value that `count` of the weighted values reach.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nth_largest(mut values: Vec<(f64, f64)>, count: f64) -> Option<f64> {
    let descending = |a: &(f64, f64), b: &(f64, f64)| b.0.total_cmp(&a.0);
    // Every value stands for one token at least: only the first `count` can matter.
    let enough = count.ceil() as usize;
    if enough < values.len() {
        values.select_nth_unstable_by(enough, descending);
        values.truncate(enough);
    }
    values.sort_unstable_by(descending);
    let mut seen = 0.0;
    let reached = values.into_iter().find(|(_, weight)| {
        seen += weight;
        seen >= count
    });
    reached.map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_reach_the_count() {
        let values = || vec![(1.0, 4.0), (9.0, 1.0), (5.0, 4.0)];
        assert_eq!(nth_largest(values(), 1.0), Some(9.0));
        assert_eq!(nth_largest(values(), 2.0), Some(5.0));
        assert_eq!(nth_largest(values(), 6.0), Some(1.0));
        assert_eq!(nth_largest(values(), 10.0), None);
    }
}
