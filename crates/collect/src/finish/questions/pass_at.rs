//! pass@k and its intervals.

use std::collections::BTreeMap;

use stapo_base::stats::bootstrap::{
    drawn_means, interval, normal_interval, squares_about_mean, unbiased_squares, widened,
};

/// Draws of the bootstrap.
const DRAWS: usize = 1000;
const SEED: u64 = 14;
/// Groups that are drawn. The mean of more is normal, and its interval needs no draws.
const DRAWN: usize = 2048;
const CONFIDENCE: f64 = 0.95;
/// Groups that are drawn from together at least.
const POOL: usize = 16;

/// Groups of one size and number of right responses: (n, c) and how many.
pub type Sizes = BTreeMap<(u32, u32), u64>;

/// 1 − C(n−c, k)/C(n, k): the chance that one of k responses, drawn from n of which c are right, is.
pub fn pass_at_k(n: u32, c: u32, k: u32) -> f64 {
    if n - c < k {
        return 1.0;
    }
    let wrong = (n - c + 1..=n).fold(1.0, |product, i| product * (1.0 - f64::from(k) / f64::from(i)));
    1.0 - wrong
}

/// k = 1, 2, 4, … and the size of the largest group.
pub fn orders(sizes: &Sizes) -> impl Iterator<Item = u32> + use<> {
    let largest = sizes.keys().map(|(n, _)| *n).max().unwrap_or(0);
    let powers = std::iter::successors(Some(1_u32), |k| k.checked_mul(2)).take_while(move |k| *k < largest);
    powers.chain([largest]).filter(|k| *k > 0)
}

/// Σ over groups of pass@k, and of how many groups: those of at least k responses.
fn sums(sizes: &Sizes, k: u32) -> [f64; 2] {
    let large = sizes.iter().filter(|((n, _), _)| *n >= k);
    large.fold([0.0; 2], |[sum, groups], ((n, c), count)| {
        let count = *count as f64;
        [sum + count * pass_at_k(*n, *c, k), groups + count]
    })
}

/// The mean of pass@k over groups of at least k responses.
pub fn mean(sizes: &Sizes, k: u32) -> Option<f64> {
    let [sum, groups] = sums(sizes, k);
    (groups > 0.0).then(|| sum / groups)
}

/// The interval of pass@k over a run: the groups of every step are drawn anew, those of small steps
/// together with their neighbours'. `steps` holds the groups of each step in an order that depends on
/// their ids alone.
pub fn run_interval<S: AsRef<[(u32, u32)]>>(steps: &[S], k: u32) -> Option<[f64; 2]> {
    let of_step = |groups: &S| -> Vec<f64> {
        groups.as_ref().iter().filter(|(n, _)| *n >= k).map(|(n, c)| pass_at_k(*n, *c, k)).collect()
    };
    let pools = pooled(steps.iter().map(of_step));
    let groups = pools.iter().map(Vec::len).sum();
    let found =
        if groups > DRAWN { normal_interval(&pools, CONFIDENCE) } else { drawn_interval(&pools, groups) };
    found.map(|ends| ends.map(|end| end.clamp(0.0, 1.0)))
}

/// Neighbouring steps put together until they have [`POOL`] groups: one group alone does not scatter,
/// and a few scatter less about their own mean than about the true one.
fn pooled(steps: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut pools: Vec<Vec<f64>> = Vec::new();
    for values in steps {
        match pools.last_mut().filter(|last| last.len() < POOL) {
            Some(last) => last.extend(values),
            None => pools.push(values),
        }
    }
    if let Some(small) = pools.pop_if(|last| last.len() < POOL) {
        match pools.last_mut() {
            Some(last) => last.extend(small),
            None => pools.push(small),
        }
    }
    pools
}

fn drawn_interval(steps: &[Vec<f64>], groups: usize) -> Option<[f64; 2]> {
    let means = drawn_means(steps, DRAWS, SEED);
    // Drawn values scatter about their stratum's mean as if that were the true one.
    let drawn: f64 = steps.iter().map(|values| squares_about_mean(values)).sum();
    let factor = if drawn > 0.0 { (unbiased_squares(steps) / drawn).sqrt() } else { 1.0 };
    let mean = steps.iter().flatten().sum::<f64>() / groups as f64;
    interval(&means, CONFIDENCE, groups).map(|ends| widened(ends, mean, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stapo_base::stats::random::Random;

    /// Over all ways to draw k of n responses.
    fn naive(n: u32, c: u32, k: u32) -> f64 {
        let (mut all, mut passed) = (0_u64, 0_u64);
        for set in 0_u32..1 << n {
            if set.count_ones() == k {
                all += 1;
                passed += u64::from(set & ((1 << c) - 1) != 0);
            }
        }
        passed as f64 / all as f64
    }

    proptest! {
        #[test]
        fn pass_at_k_is_the_share_of_all_draws(n in 1..11_u32, c in 0..11_u32, k in 1..11_u32) {
            let (c, k) = (c.min(n), k.min(n));
            prop_assert!((pass_at_k(n, c, k) - naive(n, c, k)).abs() < 1e-12);
        }
    }

    /// Groups that come one, two or three a step scatter as those of large steps do, and no end leaves
    /// what a share can be.
    #[test]
    fn small_steps_are_no_surer() {
        let mut random = Random::new(3, 0);
        for (steps, size) in [(100, 1), (100, 2), (60, 3), (1_000, 2), (1_050, 2), (2_100, 1)] {
            let groups: Vec<Vec<(u32, u32)>> = (0..steps)
                .map(|_| (0..size).map(|_| (1, u32::from(random.unit() < 0.5))).collect())
                .collect();
            let [low, high] = run_interval(&groups, 1).unwrap_or_default();
            let expected = 1.96 * 0.5 / f64::from(steps * size).sqrt();
            let found = (high - low) / 2.0;
            assert!((found / expected - 1.0).abs() < 0.15, "{steps} × {size}: {found} for {expected}");
        }
        let mut one_wrong = vec![vec![(1, 1); 2]; 1_050];
        one_wrong[7][1] = (1, 0);
        assert!(run_interval(&one_wrong, 1).is_some_and(|[low, high]| low > 0.99 && high <= 1.0));
    }

    #[test]
    fn many_groups_need_no_draws() {
        // Steps of other sizes and pass rates; 2,000 groups in all.
        let of_step = |step: u32| (0..20 + step % 60).map(move |i| (8, (i * i + 3 * step) % 9)).collect();
        let steps: Vec<Vec<(u32, u32)>> = (0..40).map(of_step).collect();
        for k in [1, 4] {
            let values: Vec<Vec<f64>> =
                steps.iter().map(|s| s.iter().map(|(n, c)| pass_at_k(*n, *c, k)).collect()).collect();
            let groups = values.iter().map(Vec::len).sum();
            let drawn = drawn_interval(&values, groups).unwrap_or_default();
            let normal = normal_interval(&values, CONFIDENCE).unwrap_or_default();
            let width = drawn[1] - drawn[0];
            assert!(width > 0.0);
            for (a, b) in drawn.iter().zip(normal) {
                // The ends of 1,000 draws scatter by about a twentieth of the width.
                assert!((a - b).abs() < 0.15 * width, "{drawn:?} {normal:?}");
            }
        }
    }
}
