//! The test of Mann and Whitney for two independent samples, two-sided, as SciPy's
//! `mannwhitneyu(x, y, method="auto")` computes it: exact without ties where one sample has at most
//! 8 values, else the normal approximation with corrections for ties and continuity.

use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks::{doubled_ranks, tie_term};

/// Values of the smaller sample up to which the test is exact.
const EXACT: usize = 8;
/// Beyond this product of sizes the exact counts would take longer than they are worth.
const EXACT_PRODUCT: usize = 1 << 20;

/// The two-sided p-value; 1 where a sample is empty or all values are equal.
#[must_use]
pub fn rank_sum(x: &[f64], y: &[f64]) -> f64 {
    if x.is_empty() || y.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = x.iter().chain(y).copied().collect();
    let (ranks, ties) = doubled_ranks(&all);
    let (n1, n2) = (x.len() as f64, y.len() as f64);
    let u1 = ranks[..x.len()].iter().sum::<u64>() as f64 / 2.0 - n1 * (n1 + 1.0) / 2.0;
    let u = u1.max(n1 * n2 - u1);
    let few = x.len().min(y.len());
    if ties.is_empty() && few <= EXACT && x.len() * y.len() <= EXACT_PRODUCT {
        return exact(few, x.len().max(y.len()), (n1 * n2 - u) as usize);
    }
    let n = n1 + n2;
    let variance = n1 * n2 / 12.0 * ((n + 1.0) - tie_term(&ties) / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (u - n1 * n2 / 2.0 - 0.5) / variance.sqrt();
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// Every order is as likely as the others: the coefficients of the Gaussian binomial
/// Π (1 − q^(many + i)) / (1 − q^i) count those with each U.
fn exact(few: usize, many: usize, smaller: usize) -> f64 {
    let mut ways = vec![0.0; few * many + 1];
    ways[0] = 1.0;
    for i in 1..=few {
        for u in (many + i..ways.len()).rev() {
            ways[u] -= ways[u - many - i];
        }
        for u in i..ways.len() {
            ways[u] += ways[u - i];
        }
    }
    let all = ways.iter().sum::<f64>();
    (2.0 * ways[..=smaller].iter().sum::<f64>() / all).min(1.0)
}
