//! Sums over the tokens that rules touch.

use super::batch::BatchContext;
use super::factor::{Treatment, treatment};
use crate::collect::sample::SampledToken;
use stapo_framework::rules::Rule;

const RULES: usize = Rule::TABLE.len();
/// A weight that changes by less is not counted as changed.
const CHANGE: f64 = 0.01;

/// Energy of the tokens with A > 0 and with A < 0.
pub type SignedEnergy = [f64; 2];

/// What one rule does, in tokens and energy.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneRule {
    /// Tokens that get no gradient.
    pub silenced: f64,
    /// Tokens whose weight shrinks in size by more than 1 %.
    pub damped: f64,
    /// Tokens whose weight grows in size by more than 1 %, also from nothing, and to either sign.
    pub amplified: f64,
    energy: SignedEnergy,
    /// What it takes away from the base's energy.
    removed: SignedEnergy,
    /// Σ n(n−1)e²f² and Σ n(n−1)e²f⁴: the variance from sampling.
    square: f64,
    fourth: f64,
}

/// What all rules do.
#[derive(Clone, Debug, Default)]
pub struct RuleTally {
    rules: [OneRule; RULES],
    base: OneRule,
}

impl RuleTally {
    /// Adds a token with an advantage that stands for `weight` tokens.
    pub fn add(&mut self, context: &BatchContext, token: &SampledToken, weight: f64) {
        let (energy, clipped) = (token.unclipped_energy(), token.is_clipped());
        let spread = weight * (weight - 1.0) * energy * energy;
        let sign = usize::from(token.advantage < 0.0);
        let before = if clipped { 0.0 } else { 1.0 };
        self.base.energy[sign] += weight * energy * before;
        self.base.square += spread * before;
        let p = f64::from(token.logprob).exp();
        for (number, rule) in Rule::TABLE.into_iter().enumerate() {
            let treatment = treatment(rule, context, token, p);
            let kept = treatment.energy();
            let one = &mut self.rules[number];
            one.energy[sign] += weight * energy * kept;
            one.removed[sign] += weight * energy * (before - kept);
            one.square += spread * kept * before;
            one.fourth += spread * kept * kept;
            one.count(&treatment, before, weight);
        }
    }

    /// Adds another batch.
    pub fn merge(&mut self, other: &Self) {
        for (a, b) in
            self.rules.iter_mut().chain([&mut self.base]).zip(other.rules.iter().chain([&other.base]))
        {
            a.silenced += b.silenced;
            a.damped += b.damped;
            a.amplified += b.amplified;
            for sign in 0..2 {
                a.energy[sign] += b.energy[sign];
                a.removed[sign] += b.removed[sign];
            }
            a.square += b.square;
            a.fourth += b.fourth;
        }
    }

    /// What one rule does.
    pub fn rule(&self, rule: Rule) -> &OneRule {
        &self.rules[rule as usize]
    }

    /// Energy under the rule over the base's: of all tokens, with A > 0, with A < 0. Where the energy
    /// of all tokens is given, what the rule takes away is held against it, which is exact where it
    /// touches only tokens that were all kept; else both come from the same sample.
    pub fn kept(&self, rule: Rule, all: Option<SignedEnergy>) -> [Option<f64>; 3] {
        let one = self.rule(rule);
        let (part, whole) = match all {
            Some(all) => ([all[0] - one.removed[0], all[1] - one.removed[1]], all),
            None => (one.energy, self.base.energy),
        };
        [ratio(part[0] + part[1], whole[0] + whole[1]), ratio(part[0], whole[0]), ratio(part[1], whole[1])]
    }

    /// Standard error of the energy kept from sampling tokens.
    pub fn sampling_error(&self, rule: Rule) -> f64 {
        let (one, base) = (self.rule(rule), &self.base);
        let kept = self.kept(rule, None)[0].unwrap_or(0.0);
        let variance = one.fourth - 2.0 * kept * one.square + kept * kept * base.square;
        let energy = base.energy[0] + base.energy[1];
        if energy > 0.0 { variance.max(0.0).sqrt() / energy } else { 0.0 }
    }
}

impl OneRule {
    /// Counts what became of a token whose weight was `before`, as a share of ρA.
    fn count(&mut self, treatment: &Treatment, before: f64, weight: f64) {
        for (chance, after) in treatment.outcomes() {
            if (after - before).abs() <= CHANGE * before || chance == 0.0 || (after == 0.0 && before == 0.0) {
                continue;
            }
            if after == 0.0 {
                self.silenced += weight * chance;
            } else if after.abs() > before {
                self.amplified += weight * chance;
            } else {
                self.damped += weight * chance;
            }
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(before: f64, selected: f64) -> [f64; 3] {
        let mut one = OneRule::default();
        one.count(&Treatment { chance: 1.0, selected, other: 1.0 }, before, 16.0);
        [one.silenced, one.damped, one.amplified]
    }

    #[test]
    fn a_weight_grows_from_nothing_to_either_sign() {
        assert_eq!(counted(0.0, -1.2), [0.0, 0.0, 16.0], "clipping cuts it, the penalty turns it round");
        assert_eq!(counted(0.0, 0.4), [0.0, 0.0, 16.0]);
        assert_eq!(counted(1.0, -0.3), [0.0, 16.0, 0.0]);
        assert_eq!(counted(1.0, -1.3), [0.0, 0.0, 16.0]);
        assert_eq!(counted(1.0, 0.0), [16.0, 0.0, 0.0]);
        assert_eq!(
            [counted(1.0, 1.0), counted(0.0, 0.0)],
            [[0.0; 3]; 2],
            "kl_cov at a ratio of 1 touches nothing"
        );
    }
}
