//! Relations between quantities of a token, over tokens with w ≠ 0.

use crate::collect::run_sample::Sample;
use crate::collect::sample::SampledToken;
use stapo_base::stats::quantile::linear_quantile;
use stapo_result::{ChangeBin, Correlation, MeasuredChange};

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
        Ranked::new(self.tokens.iter().map(|token| of(token)).collect(), &self.weights)
    }
}

/// A quantity of many tokens with its ranks.
struct Ranked {
    values: Vec<f32>,
    /// Indices by ascending value.
    order: Vec<u32>,
    ranks: Vec<f64>,
}

impl Ranked {
    /// Ranks with ties averaged; a token counts as many times as tokens it stands for.
    fn new(values: Vec<f32>, weights: &[f64]) -> Self {
        let key = |(i, value): (usize, &f32)| (u64::from(ordered_bits(*value)) << 32) | i as u64;
        let mut keys: Vec<u64> = values.iter().enumerate().map(key).collect();
        keys.sort_unstable();
        let order: Vec<u32> = keys.iter().map(|key| (*key & u64::from(u32::MAX)) as u32).collect();
        let mut ranks = vec![0.0; values.len()];
        let mut below = 0.0;
        for tied in order.chunk_by(|a, b| values[*a as usize] == values[*b as usize]) {
            let weight = tied.iter().map(|i| weights[*i as usize]).sum::<f64>();
            tied.iter().for_each(|i| ranks[*i as usize] = below + weight / 2.0);
            below += weight;
        }
        Self { values, order, ranks }
    }

    fn pearson(&self, other: &Self, weights: &[f64]) -> Option<f64> {
        pearson(|i| f64::from(self.values[i]), |i| f64::from(other.values[i]), weights)
    }

    fn spearman(&self, other: &Self, weights: &[f64]) -> Option<f64> {
        pearson(|i| self.ranks[i], |i| other.ranks[i], weights)
    }
}

/// Bits that sort as the values do.
fn ordered_bits(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
}

fn pearson(x: impl Fn(usize) -> f64, y: impl Fn(usize) -> f64, weights: &[f64]) -> Option<f64> {
    let total = weights.iter().sum::<f64>();
    let mean =
        |of: &dyn Fn(usize) -> f64| weights.iter().enumerate().map(|(i, w)| w * of(i)).sum::<f64>() / total;
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (i, weight) in weights.iter().enumerate() {
        let (x, y) = (x(i) - mean_x, y(i) - mean_y);
        xx += weight * x * x;
        yy += weight * y * y;
        xy += weight * x * y;
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

fn standard_error(tokens: usize) -> Option<f64> {
    (tokens > 1).then(|| 1.0 / ((tokens - 1) as f64).sqrt())
}

/// The relations that the paper derives: the norm with p and with H.
#[allow(clippy::cast_possible_truncation)]
pub fn correlations(moving: &WeightedTokens<'_>) -> Vec<Correlation> {
    let WeightedTokens { tokens, weights, complete } = moving;
    let norms = [
        ("grad_norm", moving.ranked(|t| t.norm)),
        ("grad_norm/|A|", moving.ranked(|t| t.norm / t.advantage.abs())),
    ];
    let others = [
        ("prob", moving.ranked(|t| f64::from(t.logprob).exp() as f32)),
        ("entropy", moving.ranked(|t| t.entropy)),
    ];
    let correlation = |(x_name, x): &(&str, Ranked), (y_name, y): &(&str, Ranked)| Correlation {
        x: (*x_name).into(),
        y: (*y_name).into(),
        tokens: tokens.len() as u64,
        complete: *complete,
        pearson: x.pearson(y, weights),
        spearman: x.spearman(y, weights),
        sampling_error: if *complete { 0.0 } else { standard_error(tokens.len()).unwrap_or(1.0) },
    };
    norms.iter().flat_map(|norm| others.iter().map(|other| correlation(norm, other))).collect()
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
    let value = |of: &Ranked, i: u32| f64::from(of.values[i as usize]);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_base::stats::correlation;

    #[test]
    fn weights_count_as_repetitions() {
        let values: [(f32, f32); 5] = [(-3.0, 1.0), (1.0, 0.5), (2.0, 4.0), (2.0, 3.0), (5.0, 9.0)];
        let repeats = [1, 3, 2, 1, 2];
        let weights = repeats.map(f64::from);
        let x = Ranked::new(values.iter().map(|v| v.0).collect(), &weights);
        let y = Ranked::new(values.iter().map(|v| v.1).collect(), &weights);
        let repeated =
            values.iter().zip(repeats).flat_map(|(pair, n)| std::iter::repeat_n(*pair, n as usize));
        let (all_x, all_y): (Vec<f64>, Vec<f64>) =
            repeated.map(|(x, y)| (f64::from(x), f64::from(y))).unzip();
        let exact = correlation::spearman(&all_x, &all_y).unwrap();
        assert!((x.spearman(&y, &weights).unwrap() - exact).abs() < 1e-12);
        assert_eq!(x.order, [0, 1, 2, 3, 4]);
        assert_eq!(pearson(|_| 1.0, |i| i as f64, &weights), None);
    }
}
