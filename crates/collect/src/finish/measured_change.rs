//! The entropy change that was measured against the one predicted, over tokens with w ≠ 0.

use super::ranks::Ranked;
use crate::collect::run_sample::Sample;
use crate::collect::sample::SampledToken;
use stapo_base::stats::quantile::linear_quantile;
use stapo_result::{ChangeBin, MeasuredChange};

/// Bins of the chart of measured against predicted change.
const CHANGE_BINS: usize = 20;

/// The tokens of both samples with the number of tokens each stands for; w ≠ 0 only.
pub fn weighted_tokens<'a>(
    rare: &'a Sample,
    common: &'a Sample,
) -> impl Iterator<Item = (&'a SampledToken, f64)> {
    rare.weighted().chain(common.weighted()).filter(|(token, _)| token.moves)
}

/// Such tokens in a list, gone through often.
pub struct WeightedTokens<'a> {
    tokens: Vec<&'a SampledToken>,
    weights: Vec<f64>,
    /// Whether they are all there are.
    complete: bool,
}

impl<'a> WeightedTokens<'a> {
    /// Those of both samples with w ≠ 0.
    pub fn moving(rare: &'a Sample, common: &'a Sample) -> Self {
        let (tokens, weights) = weighted_tokens(rare, common).unzip();
        Self { tokens, weights, complete: rare.is_complete() && common.is_complete() }
    }

    /// Those of which the entropy change was measured.
    fn measured(&self) -> Self {
        let all = self.tokens.iter().copied().zip(self.weights.iter().copied());
        let (tokens, weights) = all.filter(|(token, _)| token.measured_change.is_finite()).unzip();
        Self { tokens, weights, complete: self.complete }
    }

    fn ranked(&self, of: impl Fn(&SampledToken) -> f32) -> Ranked {
        Ranked::new(self.tokens.iter().map(|token| of(token).into()).collect(), &self.weights)
    }
}

fn standard_error(tokens: usize) -> Option<f64> {
    (tokens > 1).then(|| 1.0 / ((tokens - 1) as f64).sqrt())
}

/// Measured against predicted entropy change; `None` where nothing was measured.
pub fn measured_change(moving: &WeightedTokens<'_>, mean: Option<f64>) -> Option<MeasuredChange> {
    let known = moving.measured();
    let WeightedTokens { tokens, weights, complete } = &known;
    if tokens.is_empty() {
        return None;
    }
    let predicted = known.ranked(|t| 0.5 * (t.change_low + t.change_high));
    let measured = known.ranked(|t| t.measured_change);
    let bin = |number: usize| {
        let from = number * tokens.len() / CHANGE_BINS;
        let to = (number + 1) * tokens.len() / CHANGE_BINS;
        change_bin(&predicted, &measured, weights, &predicted.order[from..to])
    };
    Some(MeasuredChange {
        tokens: tokens.len() as u64,
        complete: *complete,
        mean,
        pearson: predicted.pearson(&measured, weights),
        spearman: predicted.spearman(&measured, weights),
        standard_error: standard_error(tokens.len()),
        bins: (0..CHANGE_BINS).filter_map(bin).collect(),
    })
}

fn change_bin(predicted: &Ranked, measured: &Ranked, weights: &[f64], tokens: &[u32]) -> Option<ChangeBin> {
    let value = |of: &Ranked, i: u32| of.values[i as usize];
    let mut values: Vec<f64> = tokens.iter().map(|i| value(measured, *i)).collect();
    values.sort_unstable_by(f64::total_cmp);
    let quartile = |q| linear_quantile(&values, q);
    let total = tokens.iter().map(|i| weights[*i as usize]).sum::<f64>();
    let mean = |of: &Ranked| tokens.iter().map(|i| weights[*i as usize] * value(of, *i)).sum::<f64>() / total;
    Some(ChangeBin {
        predicted_from: value(predicted, *tokens.first()?),
        predicted_to: value(predicted, *tokens.last()?),
        tokens: tokens.len() as u64,
        mean_predicted: mean(predicted),
        mean_measured: mean(measured),
        measured_quartiles: [quartile(0.25)?, quartile(0.5)?, quartile(0.75)?],
    })
}
