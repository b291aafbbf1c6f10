//! Any objective, its terms weighted or dropped by a ratio that has no gradient: the gap between sampler
//! and trainer (tis, icepop and the masks), or a ρ that has run away (ratio_cap).
//!
//! A weight multiplies a token's term and leaves the denominator as it is; a mask takes tokens out of
//! both, as trainers that reject samples do.

use super::{MiniBatch, Objective, Weighed};
use stapo_framework::corrections::{Correction, ResponseRatios};
use stapo_framework::rules::{Rule, ratio_cap_factor};

/// What terms are weighed or dropped by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighing {
    /// Weight min(1, C/ρ): the token's weight is at most C·A.
    RatioCap(f64),
    /// A correction of the gap between sampler and trainer, r = π_old/μ.
    Gap(Correction),
}

/// A base objective with a correction.
pub struct Corrected {
    /// The base.
    pub base: Box<dyn Objective>,
    /// What is done to its tokens.
    pub weighing: Weighing,
}

/// What becomes of a token.
enum Fate {
    Weight(f64),
    Dropped,
}

impl Corrected {
    /// The fate of every token. Without the sampler's log-probabilities there is nothing to correct.
    fn fates(&self, batch: &MiniBatch<'_>) -> Vec<Fate> {
        let all = 0..batch.trained.len();
        match (self.weighing, batch.rollout) {
            (Weighing::RatioCap(cap), _) => {
                all.map(|t| Fate::Weight(ratio_cap_factor(batch.ratio(t), cap))).collect()
            }
            (Weighing::Gap(_), None) => all.map(|_| Fate::Weight(1.0)).collect(),
            (Weighing::Gap(correction), Some(rollout)) => corrected(batch, rollout, correction),
        }
    }
}

fn corrected(batch: &MiniBatch<'_>, rollout: &[f32], correction: Correction) -> Vec<Fate> {
    let gap = |t: usize| f64::from(batch.old[t]) - f64::from(rollout[t]);
    // Of a response, the rules here look at the sum and the number of tokens only.
    let add = |sums: ResponseRatios, t: usize| ResponseRatios {
        tokens: sums.tokens + 1,
        sum: sums.sum + gap(t),
        ..sums
    };
    let responses: Vec<ResponseRatios> =
        (0..batch.responses()).map(|r| batch.trained_of(r).fold(ResponseRatios::default(), add)).collect();
    let owner = batch.response_of_tokens();
    let fate = |t: usize| {
        let (weight, inside) = correction.weight(gap(t).exp(), &responses[owner[t]]);
        if correction.is_mask() && !inside { Fate::Dropped } else { Fate::Weight(weight) }
    };
    (0..batch.trained.len()).map(fate).collect()
}

impl Objective for Corrected {
    fn rule(&self) -> Rule {
        match self.weighing {
            Weighing::RatioCap(_) => Rule::RatioCap,
            Weighing::Gap(Correction::TokenTis(_)) => Rule::Tis,
            Weighing::Gap(Correction::TokenIcePop(..)) => Rule::Icepop,
            Weighing::Gap(Correction::TokenMis(..)) => Rule::MisToken,
            Weighing::Gap(Correction::SequenceMis(..)) => Rule::MisSequence,
            Weighing::Gap(_) => Rule::MisGeometric,
        }
    }

    fn describe(&self) -> String {
        let base = self.base.rule().name();
        match self.weighing {
            Weighing::RatioCap(cap) => format!("{base} with ρ in the gradient capped at {cap}"),
            Weighing::Gap(Correction::TokenTis(cap)) => format!("{base} weighted by min(π_old/μ, {cap})"),
            Weighing::Gap(Correction::TokenIcePop(low, high)) => {
                format!("{base} weighted by π_old/μ from {low} to {high}, 0 outside")
            }
            Weighing::Gap(Correction::TokenMis(low, high)) => {
                format!("{base} without tokens whose μ/π_old is outside {low} to {high}")
            }
            Weighing::Gap(Correction::SequenceMis(low, high)) => {
                format!("{base} without responses whose μ/π_old is outside {low} to {high}")
            }
            Weighing::Gap(Correction::GeometricMis(low, high)) => {
                format!("{base} without responses whose mean μ/π_old is outside {low} to {high}")
            }
            Weighing::Gap(other) => format!("{base} with {other}"),
        }
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = self.base.weigh(batch);
        let mut dropped = 0;
        for (t, fate) in self.fates(batch).into_iter().enumerate().filter(|(t, _)| batch.trained[*t]) {
            match fate {
                Fate::Weight(weight) => {
                    weighed.terms[t].loss *= weight;
                    weighed.terms[t].slope *= weight;
                }
                Fate::Dropped => {
                    dropped += u64::from(weighed.kept[t]);
                    weighed.kept[t] = false;
                }
            }
        }
        if matches!(self.rule(), Rule::MisToken | Rule::MisSequence | Rule::MisGeometric) {
            weighed.counts.silenced = Some(weighed.counts.silenced.unwrap_or(0) + dropped);
            let kept = weighed.kept.iter().filter(|k| **k).count() as u64;
            weighed.counts.kept = weighed.counts.kept.map(|_| kept);
        }
        weighed
    }

    fn base(&self) -> Option<&dyn Objective> {
        Some(&*self.base)
    }
}
