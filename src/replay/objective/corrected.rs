//! Any objective, its terms weighted or dropped by a ratio that has no gradient: the gap between sampler
//! and trainer (tis, icepop and the masks), or a ρ that has run away (ratio_cap).
//!
//! A weight multiplies a token's term and leaves the denominator as it is; a mask takes tokens out of
//! both, as trainers that reject samples do.

use super::{Gate, Mean, MiniBatch, Objective, Weighed};
use crate::framework::rules::{Rule, icepop_weight, is_inside, tis_weight};

/// What is done to tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Correction {
    /// Weight min(1, C/ρ): the token's weight is at most C·A.
    RatioCap(f64),
    /// Weight min(r, C).
    Tis(f64),
    /// Weight r inside of the bounds, else 0.
    Icepop((f64, f64)),
    /// Tokens with r out of bounds are dropped.
    MisToken((f64, f64)),
    /// Responses with eˢ out of bounds are dropped.
    MisSequence((f64, f64)),
    /// Responses with e^(−s/T) out of bounds are dropped.
    MisGeometric((f64, f64)),
}

/// A base objective with a correction.
pub struct Corrected {
    /// The base.
    pub base: Box<dyn Objective>,
    /// What is done to its tokens.
    pub correction: Correction,
}

/// What becomes of a token.
enum Fate {
    Weight(f64),
    Dropped,
}

impl Corrected {
    /// The fate of every token. Without the sampler's log-probabilities there is nothing to correct.
    fn fates(&self, batch: &MiniBatch<'_>) -> Vec<Fate> {
        let all = batch.trained.len();
        let masked = |inside: bool| if inside { Fate::Weight(1.0) } else { Fate::Dropped };
        if let Correction::RatioCap(cap) = self.correction {
            return (0..all).map(|t| Fate::Weight((cap / batch.ratio(t)).min(1.0))).collect();
        }
        let Some(rollout) = batch.rollout else { return (0..all).map(|_| Fate::Weight(1.0)).collect() };
        let gap = |t: usize| f64::from(batch.old[t]) - f64::from(rollout[t]);
        let sums: Vec<(f64, f64)> = (0..batch.responses())
            .map(|r| batch.trained_of(r).fold((0.0, 0.0), |(s, n), t| (s + gap(t), n + 1.0)))
            .collect();
        let owner = batch.response_of_tokens();
        let fate = |t: usize| {
            let (sum, count) = sums[owner[t]];
            match self.correction {
                Correction::RatioCap(_) => Fate::Weight(1.0),
                Correction::Tis(cap) => Fate::Weight(tis_weight(gap(t).exp(), cap)),
                Correction::Icepop(bounds) => Fate::Weight(icepop_weight(gap(t).exp(), bounds)),
                Correction::MisToken(bounds) => masked(is_inside(gap(t).exp(), bounds)),
                Correction::MisSequence(bounds) => masked(is_inside(sum.exp(), bounds)),
                Correction::MisGeometric(bounds) => masked(is_inside((-sum / count).exp(), bounds)),
            }
        };
        (0..all).map(fate).collect()
    }
}

impl Objective for Corrected {
    fn rule(&self) -> Rule {
        match self.correction {
            Correction::RatioCap(_) => Rule::RatioCap,
            Correction::Tis(_) => Rule::Tis,
            Correction::Icepop(_) => Rule::Icepop,
            Correction::MisToken(_) => Rule::MisToken,
            Correction::MisSequence(_) => Rule::MisSequence,
            Correction::MisGeometric(_) => Rule::MisGeometric,
        }
    }

    fn describe(&self) -> String {
        let base = self.base.rule().name();
        match self.correction {
            Correction::RatioCap(cap) => format!("{base} with ρ in the gradient capped at {cap}"),
            Correction::Tis(cap) => format!("{base} weighted by min(π_old/μ, {cap})"),
            Correction::Icepop((low, high)) => {
                format!("{base} weighted by π_old/μ from {low} to {high}, 0 outside")
            }
            Correction::MisToken((low, high)) => {
                format!("{base} without tokens whose π_old/μ is outside {low} to {high}")
            }
            Correction::MisSequence((low, high)) => {
                format!("{base} without responses whose π_old/μ is outside {low} to {high}")
            }
            Correction::MisGeometric((low, high)) => {
                format!("{base} without responses whose mean μ/π_old is outside {low} to {high}")
            }
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

    fn mean(&self, batch: &MiniBatch<'_>) -> Mean {
        self.base.mean(batch)
    }

    fn passes(&self) -> usize {
        self.base.passes()
    }

    fn needs_teacher(&self) -> bool {
        self.base.needs_teacher()
    }

    fn gate(&self) -> Option<Gate> {
        self.base.gate()
    }

    fn is_random(&self) -> bool {
        self.base.is_random()
    }
}
