//! Sums over the tokens that rules touch.

use ndarray::Array2;

use super::batch::BatchContext;
use super::factor::factor;
use crate::analyze::collect::sample::SampledToken;
use crate::framework::rules::Rule;

const RULES: usize = Rule::TABLE.len();
/// A weight that changes by less is not counted as changed.
const CHANGE: f64 = 0.01;

/// What one rule does, in tokens and energy.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneRule {
    /// Tokens that get no gradient.
    pub silenced: f64,
    /// Tokens whose weight shrinks by more than 1 %.
    pub damped: f64,
    /// Tokens whose weight grows by more than 1 %.
    pub amplified: f64,
    positive_energy: f64,
    negative_energy: f64,
    /// Σ n(n−1)e²f² and Σ n(n−1)e²f⁴: the variance from sampling.
    square: f64,
    fourth: f64,
}

/// What all rules do.
#[derive(Clone, Debug)]
pub struct RuleTally {
    rules: [OneRule; RULES],
    /// Tokens that both of two rules touch.
    both: Array2<f64>,
    base: OneRule,
}

impl Default for RuleTally {
    fn default() -> Self {
        Self {
            rules: [OneRule::default(); RULES],
            both: Array2::zeros((RULES, RULES)),
            base: OneRule::default(),
        }
    }
}

impl RuleTally {
    /// Adds a token that stands for `weight` tokens.
    pub fn add(&mut self, context: &BatchContext, token: &SampledToken, weight: f64) {
        let energy = token.energy();
        let spread = weight * (weight - 1.0) * energy * energy;
        let positive = token.advantage > 0.0;
        add_energy(&mut self.base, positive, weight * energy);
        self.base.square += spread;
        let p = f64::from(token.logprob).exp();
        let mut touched = [0.0; RULES];
        for (number, rule) in Rule::TABLE.into_iter().enumerate() {
            let (factor, chance) = factor(rule, context, token, p);
            let kept = factor * factor * (1.0 - chance);
            let one = &mut self.rules[number];
            add_energy(one, positive, weight * energy * kept);
            one.square += spread * kept;
            one.fourth += spread * kept * kept;
            let changed =
                (factor - 1.0).abs() > CHANGE || (rule == Rule::KlCov && context.is_held_back(token));
            touched[number] = if changed { 1.0 } else { chance };
            if factor == 0.0 {
                one.silenced += weight;
            } else if changed && factor > 1.0 {
                one.amplified += weight;
            } else if changed {
                one.damped += weight;
            }
            one.silenced += weight * chance;
        }
        for a in 0..RULES {
            if touched[a] > 0.0 {
                for b in 0..RULES {
                    let both = if a == b { touched[a] } else { touched[a] * touched[b] };
                    self.both[[a, b]] += weight * both;
                }
            }
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
            a.positive_energy += b.positive_energy;
            a.negative_energy += b.negative_energy;
            a.square += b.square;
            a.fourth += b.fourth;
        }
        self.both += &other.both;
    }

    /// What one rule does.
    pub fn rule(&self, rule: Rule) -> &OneRule {
        &self.rules[rule as usize]
    }

    /// Tokens touched by both rules.
    pub fn both(&self, a: Rule, b: Rule) -> f64 {
        self.both[[a as usize, b as usize]]
    }

    /// Energy under the rule over the base's.
    pub fn kept(&self, rule: Rule) -> Option<f64> {
        let energy = |one: &OneRule| one.positive_energy + one.negative_energy;
        ratio(energy(self.rule(rule)), energy(&self.base))
    }

    /// The same for A > 0.
    pub fn positive_kept(&self, rule: Rule) -> Option<f64> {
        ratio(self.rule(rule).positive_energy, self.base.positive_energy)
    }

    /// The same for A < 0.
    pub fn negative_kept(&self, rule: Rule) -> Option<f64> {
        ratio(self.rule(rule).negative_energy, self.base.negative_energy)
    }

    /// Standard error of [`Self::kept`] from sampling tokens.
    pub fn sampling_error(&self, rule: Rule) -> f64 {
        let (one, base) = (self.rule(rule), &self.base);
        let kept = self.kept(rule).unwrap_or(0.0);
        let variance = one.fourth - 2.0 * kept * one.square + kept * kept * base.square;
        let energy = base.positive_energy + base.negative_energy;
        if energy > 0.0 { variance.max(0.0).sqrt() / energy } else { 0.0 }
    }
}

fn add_energy(one: &mut OneRule, positive: bool, energy: f64) {
    if positive {
        one.positive_energy += energy;
    } else {
        one.negative_energy += energy;
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
