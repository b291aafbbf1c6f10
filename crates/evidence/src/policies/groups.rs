//! Sums a group, for what is compared within groups and for errors clustered by group.

use super::Sum;
use super::gap::Gap;
use super::token_loops::{CUT, at, clip, trained};
use crate::{Response, mix};
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, FixedSum, HashSample, Max, Min};

/// Surprisal less entropy of trained tokens with a sampler's value.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct SurprisalGroup {
    /// Tokens.
    pub tokens: u64,
    /// Σ(−ln p − H).
    pub excess: Sum,
    /// ΣH.
    pub entropy: Sum,
}

impl SurprisalGroup {
    pub(super) fn add(&mut self, gap: &Gap) {
        self.tokens += gap.with_entropy;
        self.excess.add(gap.surprisal);
        self.entropy.add(gap.entropy);
    }
}

/// Sums of squares close to the squares of sums: more digits, fewer terms.
type Precise = FixedSum<36>;

/// Mean and scatter of a few values.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Scatter {
    /// How many.
    pub count: u64,
    sum: Precise,
    squares: Precise,
}

impl Scatter {
    fn add(&mut self, value: f64) {
        let value = clip(value, 50.0);
        self.count += 1;
        self.sum.add(value);
        self.squares.add(value * value);
    }

    /// Σ of squared deviations from the mean.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let mean = self.sum.value() / self.count.max(1) as f64;
        (self.squares.value() - mean * self.sum.value()).max(0.0)
    }
}

/// Groups of more siblings are not in use.
const LARGEST_GROUP: u64 = 128;
/// Different first tokens of a group that are kept.
const FIRST_TOKENS: usize = 64;

/// The first tokens of a group's responses: their prompt is the same, so the policy there is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Siblings {
    /// H.
    pub entropy: Scatter,
    /// ln π_old by token.
    pub logprob: HashSample<Scatter, FIRST_TOKENS>,
    least_prompt: Min<u64>,
    greatest_prompt: Max<u64>,
    shortest_prompt: Min<i64>,
    longest_prompt: Max<i64>,
}

impl Siblings {
    pub(super) fn add(&mut self, response: &Response<'_>) {
        if response.is_empty() {
            return;
        }
        response.prompt.into_iter().for_each(|prompt| {
            self.least_prompt.add(prompt);
            self.greatest_prompt.add(prompt);
        });
        response.prompt_len.into_iter().for_each(|len| {
            self.shortest_prompt.add(len);
            self.longest_prompt.add(len);
        });
        let entropy = at(response.entropy, 0);
        if entropy.is_finite() {
            self.entropy.add(entropy);
        }
        let token = response.tokens.map(|ids| ids[0]).filter(|id| *id != i32::MIN);
        let first = response.logprob.first().filter(|logprob| logprob.is_finite());
        if let Some((token, logprob)) = token.zip(first)
            && let Some(kept) = self.logprob.at(mix(token.cast_unsigned().into(), 0))
        {
            kept.add(f64::from(*logprob));
        }
    }

    /// Whether they have one prompt, as far as the log tells: where it says nothing of prompts, so many responses are a
    /// batch and no group.
    #[must_use]
    pub fn share_a_prompt(&self) -> bool {
        let is_told = self.least_prompt.0.is_some() || self.shortest_prompt.0.is_some();
        self.least_prompt.0 == self.greatest_prompt.0
            && self.shortest_prompt.0 == self.longest_prompt.0
            && (is_told || self.entropy.count <= LARGEST_GROUP)
    }
}

/// Regressors: 1, A, ln π_ref − ln π_old, −(ln p + H).
pub const REGRESSORS: usize = 4;
/// A group of any number of tokens fits.
type Product = FixedSum<22>;

/// Sums of the regression of e = ln π_θ − ln π_old at the step's last update.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct PushGroup {
    /// Its step.
    pub step: Max<i64>,
    /// Tokens.
    pub tokens: u64,
    /// Z′Z.
    products: [[Product; REGRESSORS]; REGRESSORS],
    /// Z′e.
    with_move: [Product; REGRESSORS],
}

impl PushGroup {
    pub(super) fn add(&mut self, response: &Response<'_>) {
        let mut products = [[0.0; REGRESSORS]; REGRESSORS];
        let (mut with_move, mut tokens) = ([0.0; REGRESSORS], 0);
        for t in trained(response) {
            let old = f64::from(response.logprob[t]);
            let e = clip(at(response.new, t) - old, 1.0);
            // What is not logged pulls nothing; what is missing at one token leaves it out.
            let pull = response.reference.map_or(0.0, |reference| clip(f64::from(reference[t]) - old, CUT));
            let rare = response.entropy.map_or(0.0, |entropy| clip(-(old + f64::from(entropy[t])), CUT));
            let advantage = f64::from(response.advantage_at(t));
            let advantage = if advantage.is_nan() { 0.0 } else { advantage.clamp(-10.0, 10.0) };
            if !(e.is_finite() && pull.is_finite() && rare.is_finite()) {
                continue;
            }
            tokens += 1;
            let z = [1.0, advantage, pull, rare];
            for ((row, with_move), left) in products.iter_mut().zip(&mut with_move).zip(z) {
                *with_move += left * e;
                row.iter_mut().zip(z).for_each(|(sum, right)| *sum += left * right);
            }
        }
        self.step.add(response.step);
        self.tokens += tokens;
        self.products.as_flattened_mut().iter_mut().zip(products.as_flattened()).for_each(
            |(sum, product)| {
                sum.add(*product);
            },
        );
        self.with_move.iter_mut().zip(with_move).for_each(|(sum, product)| sum.add(product));
    }

    /// Z′Z.
    #[must_use]
    pub fn products(&self) -> [[f64; REGRESSORS]; REGRESSORS] {
        self.products.map(|row| row.map(Product::value))
    }

    /// Z′e.
    #[must_use]
    pub fn with_move(&self) -> [f64; REGRESSORS] {
        self.with_move.map(Product::value)
    }
}
