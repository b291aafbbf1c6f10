//! What rules need to know about a batch.

use crate::collect::sample::SampledToken;
use crate::collect::tally::{BatchTally, Quantity};
use stapo_framework::rules::{
    BatchMeans, ENTROPY_SHARE, STARE_TARGET, covariance_picks, high_entropy_count, is_clip_covariance,
    stare_count,
};
use stapo_framework::s2t::{EARLY_QUANTILE, S2tSettings, is_low_entropy};

/// The largest values of a batch: all above a value, and of those equal to it a part. Which ones of
/// them a trainer takes hangs on the order of its tokens; here each counts in part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestPart {
    from: f64,
    share_of_tied: f64,
}

impl LargestPart {
    const NONE: Self = Self { from: f64::INFINITY, share_of_tied: 0.0 };

    /// The `count` largest of values that each stand for as many as their weight says.
    pub fn of(mut values: Vec<(f64, f64)>, count: f64) -> Self {
        values.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut above = 0.0;
        for tied in values.chunk_by(|a, b| a.0 == b.0) {
            let weight = tied.iter().map(|(_, weight)| weight).sum::<f64>();
            if above + weight >= count {
                return Self { from: tied[0].0, share_of_tied: (count - above) / weight };
            }
            above += weight;
        }
        // All of them.
        Self { from: f64::NEG_INFINITY, share_of_tied: 1.0 }
    }

    /// The part of a token of this value that belongs to them.
    pub fn part(&self, value: f64) -> f64 {
        if value > self.from {
            1.0
        } else if value == self.from {
            self.share_of_tied
        } else {
            0.0
        }
    }
}

/// Thresholds and means of one batch.
pub struct BatchContext {
    /// τ_h of the late preset.
    late: Option<f64>,
    /// The 0.80-quantile of H over all tokens: τ_h of the early preset.
    early: Option<f64>,
    /// The fifth of all tokens with the highest entropy.
    high_entropy: LargestPart,
    /// Probability that `clip_cov` picks an eligible token.
    clip_chance: f64,
    means: BatchMeans,
    held_back: LargestPart,
    boosted: LargestPart,
}

/// What is known of a batch beside its tokens.
pub struct BatchFacts<'a> {
    /// Its tally.
    pub tally: &'a BatchTally,
    /// The 0.80-quantile of H over all its tokens.
    pub early: Option<f64>,
    /// Whether the entropies of all its tokens were kept.
    pub sortable: bool,
    /// Whether the candidates of the run are those of the presets.
    pub knows_candidates: bool,
}

impl BatchContext {
    /// Finds the thresholds of a batch over all its tokens, also those that learn nothing; every
    /// token stands for as many as its weight says.
    pub fn new(facts: &BatchFacts<'_>, tokens: &[(&SampledToken, f64)]) -> Self {
        let BatchFacts { tally, early, .. } = *facts;
        let complete = tally.counts.tokens - tally.counts.missing;
        let mean = |quantity| tally.sum(quantity) / complete.max(1) as f64;
        let mut context = Self {
            late: late_threshold(facts, tokens),
            early,
            high_entropy: high_entropy(facts, complete),
            clip_chance: 0.0,
            means: BatchMeans { advantage: mean(Quantity::Advantage), logprob: mean(Quantity::Logprob) },
            held_back: LargestPart::NONE,
            boosted: LargestPart::NONE,
        };
        let picks = covariance_picks(complete as usize) as f64;
        let eligible: f64 =
            tokens.iter().filter(|(t, _)| context.is_clip_eligible(t)).map(|(_, weight)| weight).sum();
        if eligible > 0.0 {
            context.clip_chance = (picks / eligible).min(1.0);
        }
        let covariances = tokens.iter().map(|(t, weight)| (context.covariance(t), *weight)).collect();
        context.held_back = LargestPart::of(covariances, picks);
        if mean(Quantity::Entropy) < STARE_TARGET {
            let rewarded = tokens.iter().filter(|(t, _)| t.advantage > 0.0);
            let surprisals: Vec<(f64, f64)> = rewarded.map(|(t, w)| (-f64::from(t.logprob), *w)).collect();
            context.boosted = LargestPart::of(surprisals, stare_count(tally.counts.positive as usize) as f64);
        }
        context
    }

    fn covariance(&self, token: &SampledToken) -> f64 {
        self.means.covariance(f64::from(token.advantage), f64::from(token.logprob))
    }

    fn is_clip_eligible(&self, token: &SampledToken) -> bool {
        !token.is_clipped() && is_clip_covariance(self.covariance(token))
    }

    /// The probability that `clip_cov` picks the token.
    pub fn clip_chance(&self, token: &SampledToken) -> f64 {
        if self.is_clip_eligible(token) { self.clip_chance } else { 0.0 }
    }

    /// The part of the token that `kl_cov` holds back.
    pub fn held_back(&self, token: &SampledToken) -> f64 {
        self.held_back.part(self.covariance(token))
    }

    /// The part of the token that `stare` boosts.
    pub fn boosted(&self, token: &SampledToken) -> f64 {
        if token.advantage > 0.0 { self.boosted.part(-f64::from(token.logprob)) } else { 0.0 }
    }

    /// The part of the token that `entropy20` leaves out.
    pub fn low_entropy(&self, token: &SampledToken) -> f64 {
        1.0 - self.high_entropy.part(f64::from(token.entropy))
    }

    /// H below τ_h of the late preset.
    pub fn is_below_late(&self, token: &SampledToken) -> bool {
        self.late.is_some_and(|tau| is_low_entropy(token.entropy, tau))
    }

    /// H below τ_h of the early preset.
    pub fn is_below_early(&self, token: &SampledToken) -> bool {
        self.early.is_some_and(|tau| is_low_entropy(token.entropy, tau))
    }
}

/// τ_h of the late preset: over all candidates, also those that clipping cuts.
fn late_threshold(facts: &BatchFacts<'_>, tokens: &[(&SampledToken, f64)]) -> Option<f64> {
    let settings = S2tSettings::v5();
    if facts.knows_candidates {
        return settings.threshold(&mut facts.tally.candidate_entropies.clone());
    }
    let rule = settings.rule();
    let candidates = tokens.iter().filter(|(t, _)| rule.is_candidate(t.logprob, t.advantage));
    settings.threshold(&mut candidates.map(|(t, _)| t.entropy).collect())
}

// Those above the early preset's threshold are the share of tokens that `entropy20` trains.
const _: () = assert!(1.0 - ENTROPY_SHARE == EARLY_QUANTILE);

/// The fifth of all tokens with the highest entropy; from the histogram's quantile where the
/// entropies are too many to sort.
fn high_entropy(facts: &BatchFacts<'_>, complete: u64) -> LargestPart {
    if facts.sortable {
        let entropies = facts.tally.kept.all().map(|h| (f64::from(*h), 1.0)).collect();
        return LargestPart::of(entropies, high_entropy_count(complete as usize) as f64);
    }
    facts.early.map_or(LargestPart::NONE, |from| LargestPart { from, share_of_tied: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_reach_the_count() {
        let values = || vec![(1.0, 4.0), (9.0, 1.0), (5.0, 4.0)];
        let parts = |count: f64| {
            let largest = LargestPart::of(values(), count);
            [9.0, 5.0, 1.0].map(|value| largest.part(value))
        };
        assert_eq!(parts(1.0), [1.0, 0.0, 0.0]);
        assert_eq!(parts(2.0), [1.0, 0.25, 0.0]);
        assert_eq!(parts(6.0), [1.0, 1.0, 0.25]);
        assert_eq!(parts(10.0), [1.0, 1.0, 1.0]);
        assert_eq!(LargestPart::of(vec![(0.5, 1.0); 4], 1.0).part(0.5), 0.25, "no more than asked for");
    }
}
