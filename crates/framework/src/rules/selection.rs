//! How many tokens of a batch a rule selects, and which.

use super::numbers::{COVARIANCE_SHARE, ENTROPY_SHARE, STARE_SHARE};

/// Tokens of `count` that learn in `entropy20`: ⌈0.2 n⌉, those of the highest entropy; of equal ones
/// the first in the log's order.
#[must_use]
pub fn high_entropy_count(count: usize) -> usize {
    share_of(ENTROPY_SHARE, count, f64::ceil)
}

/// Tokens of `count` with A > 0 that `stare` boosts: ⌈0.1 n⌉.
#[must_use]
pub fn stare_count(count: usize) -> usize {
    share_of(STARE_SHARE, count, f64::ceil)
}

/// Tokens of `count` that `clip_cov` and `kl_cov` touch: max(1, ⌊share·n⌋).
#[must_use]
pub fn covariance_picks(count: usize) -> usize {
    share_of(COVARIANCE_SHARE, count, f64::floor).max(1)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn share_of(share: f64, count: usize, round: fn(f64) -> f64) -> usize {
    round(share * count as f64) as usize
}

/// The `count` tokens with the largest values; of equal ones the first.
pub fn largest(among: impl Iterator<Item = usize>, count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut tokens: Vec<usize> = among.collect();
    tokens.sort_by(|a, b| value(*b).total_cmp(&value(*a)).then(a.cmp(b)));
    tokens.truncate(count);
    tokens
}

/// Means of a batch over its trained tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// Ā.
    pub advantage: f64,
    /// The mean of ln π.
    pub logprob: f64,
}

impl BatchMeans {
    /// (A − Ā)(ln π − mean ln π) of a token, by which `clip_cov` and `kl_cov` choose.
    #[must_use]
    pub fn covariance(&self, advantage: f64, logprob: f64) -> f64 {
        (advantage - self.advantage) * (logprob - self.logprob)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_round_as_their_papers_do() {
        assert_eq!([0, 1, 5, 6, 10].map(high_entropy_count), [0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 10, 11].map(stare_count), [0, 1, 1, 2]);
        assert_eq!([0, 4_999, 10_000].map(covariance_picks), [1, 1, 2]);
    }

    #[test]
    fn ties_go_to_the_first() {
        let values = [1.0, 3.0, 3.0, 2.0, 3.0];
        assert_eq!(largest(0..5, 2, |t| values[t]), [1, 2]);
        assert_eq!(largest(0..5, 4, |t| values[t]), [1, 2, 4, 3]);
    }
}
