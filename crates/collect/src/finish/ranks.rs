//! Ranks of a quantity over many tokens, and what they say of two.

use rayon::prelude::*;

/// A quantity of many tokens with its ranks.
pub struct Ranked {
    /// The values.
    pub values: Vec<f64>,
    /// Indices by ascending value.
    pub order: Vec<u32>,
    ranks: Vec<f64>,
}

impl Ranked {
    /// Ranks with ties averaged; a token counts as many times as tokens it stands for.
    pub fn new(values: Vec<f64>, weights: &[f64]) -> Self {
        let mut keys = keys_of(&values);
        keys.par_sort_unstable();
        Self::in_order(values, &keys, |i| weights[i])
    }

    /// The same where each stands for itself.
    pub fn even(values: Vec<f64>) -> Self {
        let mut keys = keys_of(&values);
        keys.par_sort_unstable();
        Self::in_order(values, &keys, |_| 1.0)
    }

    fn in_order(values: Vec<f64>, keys: &[(u64, u32)], weight: impl Fn(usize) -> f64) -> Self {
        let order: Vec<u32> = keys.iter().map(|key| key.1).collect();
        let mut ranks = vec![0.0; values.len()];
        let mut below = 0.0;
        for tied in order.chunk_by(|a, b| values[*a as usize] == values[*b as usize]) {
            let together = tied.iter().map(|i| weight(*i as usize)).sum::<f64>();
            tied.iter().for_each(|i| ranks[*i as usize] = below + together / 2.0);
            below += together;
        }
        Self { values, order, ranks }
    }

    /// Pearson's correlation; `None` where either does not vary.
    pub fn pearson(&self, other: &Self, weights: &[f64]) -> Option<f64> {
        pearson(|i| self.values[i], |i| other.values[i], weights)
    }

    /// Spearman's rank correlation.
    pub fn spearman(&self, other: &Self, weights: &[f64]) -> Option<f64> {
        pearson(|i| self.ranks[i], |i| other.ranks[i], weights)
    }

    /// The same where each stands for itself.
    pub fn even_spearman(&self, other: &Self) -> Option<f64> {
        // Average ranks sum to the same whatever is tied: their mean is known.
        let mean = self.ranks.len() as f64 / 2.0;
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for (x, y) in self.ranks.iter().zip(&other.ranks) {
            let (x, y) = (x - mean, y - mean);
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
        quotient(xx, yy, xy)
    }
}

/// Value and index of each, which sort as the values do.
fn keys_of(values: &[f64]) -> Vec<(u64, u32)> {
    values.iter().zip(0..).map(|(value, i)| (ordered_bits(*value), i)).collect()
}

/// Bits that sort as the values do.
fn ordered_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
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
    quotient(xx, yy, xy)
}

fn quotient(xx: f64, yy: f64, xy: f64) -> Option<f64> {
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_base::stats::correlation;

    #[test]
    fn weights_count_as_repetitions() {
        let values: [(f64, f64); 5] = [(-3.0, 1.0), (1.0, 0.5), (2.0, 4.0), (2.0, 3.0), (5.0, 9.0)];
        let repeats = [1, 3, 2, 1, 2];
        let weights = repeats.map(f64::from);
        let x = Ranked::new(values.iter().map(|v| v.0).collect(), &weights);
        let y = Ranked::new(values.iter().map(|v| v.1).collect(), &weights);
        let repeated =
            values.iter().zip(repeats).flat_map(|(pair, n)| std::iter::repeat_n(*pair, n as usize));
        let (all_x, all_y): (Vec<f64>, Vec<f64>) = repeated.unzip();
        let exact = correlation::spearman(&all_x, &all_y).unwrap();
        assert!((x.spearman(&y, &weights).unwrap() - exact).abs() < 1e-12);
        assert!((Ranked::even(all_x).even_spearman(&Ranked::even(all_y)).unwrap() - exact).abs() < 1e-12);
        assert_eq!(x.order, [0, 1, 2, 3, 4]);
        assert_eq!(pearson(|_| 1.0, |i| i as f64, &weights), None);
        assert_eq!(Ranked::even(Vec::new()).even_spearman(&Ranked::even(Vec::new())), None);
    }
}
