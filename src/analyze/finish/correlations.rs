//! Relations between quantities of a token, over tokens with w ≠ 0.

use rayon::prelude::*;

use crate::analyze::collect::sample::{Sample, SampledToken};
use crate::analyze::result::{ChangeBin, Correlation, MeasuredChange};
use crate::stats::quantile::linear_quantile;

/// Bins of the chart of measured against predicted change.
const CHANGE_BINS: usize = 20;

/// A pair of values that stands for `weight` tokens.
#[derive(Clone, Copy)]
struct Pair {
    x: f64,
    y: f64,
    weight: f64,
}

/// The tokens of both samples with the number of tokens each stands for; w ≠ 0 only.
pub fn weighted_tokens<'a>(
    rare: &'a Sample,
    common: &'a Sample,
) -> impl Iterator<Item = (&'a SampledToken, f64)> {
    let of = |sample: &'a Sample| {
        let weight = sample.weight();
        sample.tokens.iter().map(move |token| (token, weight))
    };
    of(rare).chain(of(common)).filter(|(token, _)| token.moves)
}

fn pearson(pairs: &[Pair]) -> Option<f64> {
    let total = pairs.iter().map(|p| p.weight).sum::<f64>();
    let mean = |value: fn(&Pair) -> f64| pairs.iter().map(|p| p.weight * value(p)).sum::<f64>() / total;
    let (mean_x, mean_y) = (mean(|p| p.x), mean(|p| p.y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for p in pairs {
        let (x, y) = (p.x - mean_x, p.y - mean_y);
        xx += p.weight * x * x;
        yy += p.weight * y * y;
        xy += p.weight * x * y;
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// Ranks with ties averaged; a pair counts as many times as tokens it stands for.
fn ranks(pairs: &[Pair], value: fn(&Pair) -> f64) -> Vec<f64> {
    let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
    order.par_sort_unstable_by(|a, b| {
        let of = |i: &u32| value(&pairs[*i as usize]);
        of(a).total_cmp(&of(b)).then(a.cmp(b))
    });
    let mut ranks = vec![0.0; pairs.len()];
    let mut below = 0.0;
    for tied in order.chunk_by(|a, b| value(&pairs[*a as usize]) == value(&pairs[*b as usize])) {
        let weight = tied.iter().map(|i| pairs[*i as usize].weight).sum::<f64>();
        tied.iter().for_each(|i| ranks[*i as usize] = below + weight / 2.0);
        below += weight;
    }
    ranks
}

fn spearman(pairs: &[Pair]) -> Option<f64> {
    let (x, y) = (ranks(pairs, |p| p.x), ranks(pairs, |p| p.y));
    let ranked: Vec<Pair> =
        pairs.iter().zip(x.into_iter().zip(y)).map(|(p, (x, y))| Pair { x, y, weight: p.weight }).collect();
    pearson(&ranked)
}

fn standard_error(pairs: usize) -> Option<f64> {
    (pairs > 1).then(|| 1.0 / ((pairs - 1) as f64).sqrt())
}

/// The relations that the paper derives: the norm with p and with H.
pub fn correlations(rare: &Sample, common: &Sample) -> Vec<Correlation> {
    let complete = rare.is_complete() && common.is_complete();
    type Value = fn(&SampledToken) -> f64;
    let quantities: [(&str, Value, &str, Value); 4] = [
        ("grad_norm", |t| f64::from(t.norm), "prob", |t| f64::from(t.logprob).exp()),
        ("grad_norm", |t| f64::from(t.norm), "entropy", |t| f64::from(t.entropy)),
        ("grad_norm/|A|", unit_norm, "prob", |t| f64::from(t.logprob).exp()),
        ("grad_norm/|A|", unit_norm, "entropy", |t| f64::from(t.entropy)),
    ];
    let correlation = |(x_name, x, y_name, y): (&str, Value, &str, Value)| {
        let pairs: Vec<Pair> = weighted_tokens(rare, common)
            .map(|(token, weight)| Pair { x: x(token), y: y(token), weight })
            .collect();
        Correlation {
            x: x_name.into(),
            y: y_name.into(),
            tokens: pairs.len() as u64,
            complete,
            pearson: pearson(&pairs),
            spearman: spearman(&pairs),
            sampling_error: if complete { 0.0 } else { standard_error(pairs.len()).unwrap_or(1.0) },
        }
    };
    quantities.into_iter().map(correlation).collect()
}

fn unit_norm(token: &SampledToken) -> f64 {
    f64::from(token.norm) / f64::from(token.advantage).abs()
}

/// Measured against predicted entropy change; `None` where nothing was measured.
pub fn measured_change(rare: &Sample, common: &Sample, mean: Option<f64>) -> Option<MeasuredChange> {
    let mut pairs: Vec<Pair> = weighted_tokens(rare, common)
        .filter(|(token, _)| token.measured_change.is_finite())
        .map(|(token, weight)| Pair {
            x: 0.5 * (f64::from(token.change_low) + f64::from(token.change_high)),
            y: f64::from(token.measured_change),
            weight,
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let (pearson, spearman) = (pearson(&pairs), spearman(&pairs));
    pairs.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let bin = |number: usize| {
        let from = number * pairs.len() / CHANGE_BINS;
        let to = (number + 1) * pairs.len() / CHANGE_BINS;
        change_bin(&pairs[from..to])
    };
    Some(MeasuredChange {
        tokens: pairs.len() as u64,
        complete: rare.is_complete() && common.is_complete(),
        mean,
        pearson,
        spearman,
        standard_error: standard_error(pairs.len()),
        bins: (0..CHANGE_BINS).filter_map(bin).collect(),
    })
}

fn change_bin(pairs: &[Pair]) -> Option<ChangeBin> {
    let mut measured: Vec<f64> = pairs.iter().map(|p| p.y).collect();
    measured.sort_by(f64::total_cmp);
    let quartile = |q| linear_quantile(&measured, q);
    let total = pairs.iter().map(|p| p.weight).sum::<f64>();
    let mean = |value: fn(&Pair) -> f64| pairs.iter().map(|p| p.weight * value(p)).sum::<f64>() / total;
    Some(ChangeBin {
        predicted_from: pairs.first()?.x,
        predicted_to: pairs.last()?.x,
        tokens: pairs.len() as u64,
        mean_predicted: mean(|p| p.x),
        mean_measured: mean(|p| p.y),
        measured_quartiles: [quartile(0.25)?, quartile(0.5)?, quartile(0.75)?],
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stats::correlation;

    #[test]
    fn weights_count_as_repetitions() {
        let values = [(0.0, 1.0), (1.0, 0.5), (2.0, 4.0), (2.0, 3.0), (5.0, 9.0)];
        let repeats = [1, 3, 2, 1, 2];
        let weighted: Vec<Pair> = values
            .iter()
            .zip(repeats)
            .map(|((x, y), n)| Pair { x: *x, y: *y, weight: f64::from(n) })
            .collect();
        let repeated: Vec<(f64, f64)> = values
            .iter()
            .zip(repeats)
            .flat_map(|(pair, n)| std::iter::repeat_n(*pair, usize::try_from(n).unwrap()))
            .collect();
        let (x, y): (Vec<f64>, Vec<f64>) = repeated.into_iter().unzip();
        let exact = correlation::spearman(&x, &y).unwrap();
        assert!((spearman(&weighted).unwrap() - exact).abs() < 1e-12);
        assert_eq!(pearson(&weighted[..1]), None);
    }
}
