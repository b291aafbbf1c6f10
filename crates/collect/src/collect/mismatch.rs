//! Trainer against inference engine.

use super::questions::difference::ResponseDifference;
use super::tally::{BatchTally, Quantity, ResponseSums};

/// Adds the differences of a response's tokens, which `known` adds up: what the steps say of them is what the ledger says.
pub fn add(known: &ResponseDifference, tally: &mut BatchTally, sums: &mut ResponseSums) {
    tally.counts.compared += known.tokens;
    tally.largest_difference = tally.largest_difference.max(known.max_abs);
    sums.add(Quantity::Difference, known.sum);
    sums.add(Quantity::AbsoluteDifference, known.absolute);
    sums.add(Quantity::Divergence, known.k3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::questions::difference::TokenDifferences;

    /// A token of d = −60 or 60 counts as what it is, and the small ones beside it keep their digits.
    #[test]
    fn far_differences_are_not_cut() {
        let mut tokens = TokenDifferences::default();
        for far in [60.0_f32, -60.0] {
            tokens.fill(&[far - 0.5, -0.5, -0.5], &[-0.5, -0.5, -0.500_001]);
            let (mut tally, mut sums) = (BatchTally::new(0), ResponseSums::default());
            add(&ResponseDifference::of(&tokens), &mut tally, &mut sums);
            let (d, small) = (f64::from(far), f64::from(-0.5_f32) - f64::from(-0.500_001_f32));
            let exact = d.exp() - 1.0 - d + small * small / 2.0 * (1.0 + small / 3.0);
            let found = sums.get(Quantity::Divergence);
            assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
            assert_eq!((tally.counts.compared, tally.largest_difference), (3, 60.0));
        }
    }
}
