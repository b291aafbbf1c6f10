//! Serial correlation: how many of the steps of a series count.

use statrs::distribution::{ContinuousCDF, Normal};

/// Independent blocks that a series is never cut below.
pub const FEWEST_BLOCKS: usize = 6;
/// Values below which a correlation of neighbours says nothing.
const FEWEST_VALUES: usize = 8;

/// How the values of a series hang together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Serial {
    /// Correlation of neighbours about the straight trend; `None` with too few values.
    pub autocorrelation: Option<f64>,
    /// How many independent values the series is worth.
    pub effective: f64,
    /// Neighbours that are to be taken together, so that blocks are about independent.
    pub block: usize,
    /// How much wider an interval has to be, since blocks still hang together at their ends.
    pub inflation: f64,
    /// Whether even the longest blocks that leave [`FEWEST_BLOCKS`] are too short.
    pub unresolved: bool,
}

/// Looks at the correlation of neighbours. It counts where it is above its standard error in
/// independent series, corrected for its bias towards −∞ in short series (Kendall); a first-order
/// process is worth n(1 − ρ)/(1 + ρ) independent values. Blocks are formed only where it is above
/// what independent values give in 19 of 20 series.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn serial(values: &[f64]) -> Serial {
    let n = values.len() as f64;
    let independent =
        Serial { autocorrelation: None, effective: n, block: 1, inflation: 1.0, unresolved: false };
    if values.len() < FEWEST_VALUES {
        return independent;
    }
    let residuals = about_line(values);
    let square = residuals.iter().map(|r| r * r).sum::<f64>();
    // What rounding leaves of a straight line is no correlation.
    let size = values.iter().map(|v| v * v).sum::<f64>();
    if square <= 1e-24 * size {
        return independent;
    }
    let found = residuals.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / square;
    let independent = Serial { autocorrelation: Some(found), ..independent };
    if found <= 1.0 / n.sqrt() {
        return independent;
    }
    let corrected = ((n * found + 2.0) / (n - 4.0)).clamp(0.0, 0.98);
    let effective = n * (1.0 - corrected) / (1.0 + corrected);
    if found <= 1.645 / n.sqrt() {
        return Serial { effective, inflation: (n / effective).sqrt(), ..independent };
    }
    // Powers of four: few different lengths, so that draws serve many series.
    let wanted = next_power_of_four((n / effective).ceil() as usize);
    let longest = (values.len() / FEWEST_BLOCKS).max(1);
    let block = wanted.min(longest);
    Serial {
        autocorrelation: Some(found),
        effective,
        block,
        inflation: inflation(corrected, block as f64),
        unresolved: block < wanted,
    }
}

/// A p-value whose statistic scatters more than the test knows, by `inflation`.
#[must_use]
pub fn deflated(p: f64, inflation: f64) -> f64 {
    if inflation <= 1.0 || p <= 0.0 || p >= 1.0 {
        return p;
    }
    let normal = Normal::standard();
    2.0 * normal.cdf(normal.inverse_cdf(p / 2.0) / inflation)
}

/// The mean of a long first-order series scatters more than blocks of it say: √ of the ratio.
fn inflation(rho: f64, block: f64) -> f64 {
    let lost = 2.0 * rho * (1.0 - rho.powf(block)) / (block * (1.0 - rho * rho));
    (1.0 / (1.0 - lost).max(0.04)).sqrt()
}

fn next_power_of_four(n: usize) -> usize {
    let power = n.max(1).next_power_of_two();
    if power.trailing_zeros().is_multiple_of(2) { power } else { 2 * power }
}

/// Residuals of the least-squares line.
fn about_line(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let (mut xx, mut xy) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 - centre;
        xx += x * x;
        xy += x * (value - mean);
    }
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    values.iter().enumerate().map(|(i, v)| v - mean - slope * (i as f64 - centre)).collect()
}

/// The means of blocks of `block` neighbours; a shorter rest joins the last block.
#[must_use]
pub fn block_means(values: &[f64], block: usize) -> Vec<f64> {
    let blocks = values.len() / block.max(1);
    if block <= 1 || blocks == 0 {
        return values.to_vec();
    }
    let end = |b: usize| if b + 1 == blocks { values.len() } else { (b + 1) * block };
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    (0..blocks).map(|b| mean(&values[b * block..end(b)])).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stats::random::Random;
    use crate::stats::wilcoxon::signed_rank;

    fn first_order(random: &mut Random, n: usize, rho: f64) -> Vec<f64> {
        let mut value = random.normal() / (1.0 - rho * rho).sqrt();
        (0..n)
            .map(|_| {
                value = rho * value + random.normal();
                value
            })
            .collect()
    }

    #[test]
    fn independent_values_stay_alone() {
        let mut random = Random::new(1, 0);
        let alone = (0..2_000).filter(|_| serial(&first_order(&mut random, 40, 0.0)).block == 1).count();
        assert!(alone > 1_880, "{alone} of 2000");
        assert_eq!(serial(&[0.0; 30]).block, 1);
        assert_eq!(serial(&(0..30).map(f64::from).collect::<Vec<_>>()).block, 1, "a trend is no noise");
        assert_eq!(serial(&[1.0, 2.0]).autocorrelation, None);
    }

    #[test]
    fn correlated_values_count_less() {
        let mut random = Random::new(2, 0);
        let found: Vec<Serial> = (0..200).map(|_| serial(&first_order(&mut random, 400, 0.8))).collect();
        let mean = found.iter().map(|s| s.effective).sum::<f64>() / 200.0;
        assert!((30.0..60.0).contains(&mean), "{mean}, not 400/9");
        assert!(found.iter().all(|s| (4..=64).contains(&s.block)));
        let short: Vec<Serial> = (0..200).map(|_| serial(&first_order(&mut random, 24, 0.95))).collect();
        assert!(short.iter().any(|s| s.unresolved));
        assert!(short.iter().all(|s| 24 / s.block >= FEWEST_BLOCKS));
    }

    /// Two runs of one method drift apart and together again: a test over single steps calls most
    /// of them different, a test over blocks few.
    #[test]
    fn blocks_keep_drifting_runs_from_being_called_different() {
        let mut random = Random::new(5, 0);
        let (mut plain, mut blocked) = (0, 0);
        for _ in 0..1_000 {
            let values = first_order(&mut random, 120, 0.7);
            plain += u32::from(signed_rank(&values) < 0.05);
            let found = serial(&values);
            blocked +=
                u32::from(deflated(signed_rank(&block_means(&values, found.block)), found.inflation) < 0.05);
        }
        assert!(plain > 300, "{plain}");
        assert!(blocked < 70, "{blocked}");
    }

    #[test]
    fn scatter_makes_p_values_larger() {
        assert_eq!((deflated(0.01, 1.0), deflated(1.0, 2.0), deflated(0.0, 2.0)), (0.01, 1.0, 0.0));
        // 1.96 standard deviations that are twice as large are 0.98.
        assert!((deflated(0.05, 2.0) - 0.327_1).abs() < 1e-3, "{}", deflated(0.05, 2.0));
    }

    #[test]
    fn blocks_take_the_rest_along() {
        assert_eq!(block_means(&[1.0, 3.0, 5.0, 7.0, 12.0], 2), [2.0, 8.0]);
        assert_eq!(block_means(&[1.0, 3.0], 1), [1.0, 3.0]);
        assert_eq!(block_means(&[1.0, 3.0], 4), [1.0, 3.0]);
    }
}
