//! Wilcoxon's signed-rank test of paired differences, two-sided, as SciPy's
//! `wilcoxon(d, method="auto")` computes it: exact for up to 50 differences without ties and zeros
//! and for up to 13 with them, else the normal approximation with the correction for ties.

use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks::{doubled_ranks, tie_term};

/// Differences (zeros included) up to which the test is exact.
const EXACT: usize = 50;
/// The same where there are ties or zeros.
const EXACT_WITH_TIES: usize = 13;

/// The two-sided p-value; 1 where all differences are zero or there are none.
#[must_use]
pub fn signed_rank(differences: &[f64]) -> f64 {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if nonzero.is_empty() {
        return 1.0;
    }
    let sizes: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let (ranks, ties) = doubled_ranks(&sizes);
    let plus = ranks.iter().zip(&nonzero).filter(|(_, d)| **d > 0.0).map(|(rank, _)| *rank).sum::<u64>();
    let plain = ties.is_empty() && nonzero.len() == differences.len();
    if differences.len() <= if plain { EXACT } else { EXACT_WITH_TIES } {
        return exact(&ranks, plus);
    }
    let n = nonzero.len() as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - tie_term(&ties) / 2.0) / 24.0;
    let z = (plus as f64 / 2.0 - mean) / variance.sqrt();
    (2.0 * Normal::standard().sf(z.abs())).min(1.0)
}

/// Every sign is as likely as the other: how many of the 2ⁿ choices give each sum of ranks.
fn exact(ranks: &[u64], plus: u64) -> f64 {
    let all = ranks.iter().sum::<u64>();
    let mut ways = vec![0.0; all as usize + 1];
    ways[0] = 1.0;
    let mut reached = 0;
    for rank in ranks.iter().map(|rank| *rank as usize) {
        for sum in (0..=reached).rev() {
            ways[sum + rank] += ways[sum];
        }
        reached += rank;
    }
    let smaller = plus.min(all - plus) as usize;
    let tail = ways[..=smaller].iter().sum::<f64>() / 2_f64.powi(ranks.len() as i32);
    (2.0 * tail).min(1.0)
}
