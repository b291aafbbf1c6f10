//! A gap between sampler and trainer that is nothing up to a step and then grows with every further one: the
//! distance that the policy has gone since the sampler last got its weights. Two engines that disagree with the
//! same weights do so by a level.
//!
//! Statistic: the mean square of ln μ − ln π of the median response of each step.
//! Threshold: at every step from one on it is above ten times that of all steps before; from there on it rises in
//! an order that chance gives in 1 of 1,000 runs (Mann and Kendall), and to ten times of where it began.

/// Steps are judged apart where the squares of the gap differ by this factor, those of the median response,
/// too: a fault that begins in the middle of a run lifts all of them from what rounding leaves to what is
/// worth naming, a token that is far out lifts one.
pub const APART: f64 = 10.0;
/// Standard errors of a rank correlation that chance exceeds in 1 of 1,000 runs.
const CRITICAL: f64 = 3.09;
/// The last steps that a level is taken over: one of so many.
const LAST: usize = 4;

/// A gap that grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The last step without a gap.
    pub last_without: i64,
    /// The first step with one.
    pub from_step: i64,
    /// The mean square of ln μ − ln π there, and over the last quarter of the steps with a gap.
    pub squares: [f64; 2],
}

impl Growth {
    /// The growth of the squares of a run's steps; `None` where there is none.
    pub fn of(steps: impl Iterator<Item = (i64, f64)>) -> Option<Self> {
        let steps: Vec<(i64, f64)> = steps.filter(|(_, square)| square.is_finite()).collect();
        let mut least_after = vec![f64::INFINITY; steps.len() + 1];
        for (at, (_, square)) in steps.iter().enumerate().rev() {
            least_after[at] = least_after[at + 1].min(*square);
        }
        let mut most_before = 0.0_f64;
        let begins = (1..steps.len()).find(|at| {
            most_before = most_before.max(steps[at - 1].1);
            least_after[*at] > APART * most_before
        })?;
        let with = &steps[begins..];
        let last = &with[with.len() - with.len().div_ceil(LAST)..];
        let end = last.iter().map(|(_, square)| square).sum::<f64>() / last.len() as f64;
        (end > APART * with[0].1 && order(with) > CRITICAL).then(|| Self {
            last_without: steps[begins - 1].0,
            from_step: with[0].0,
            squares: [with[0].1, end],
        })
    }
}

/// How far above chance the order of values is, in standard errors (Mann and Kendall).
fn order(steps: &[(i64, f64)]) -> f64 {
    let sign = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
    let pairs = steps.iter().enumerate().flat_map(|(i, a)| steps[i + 1..].iter().map(move |b| (a.1, b.1)));
    let n = steps.len() as f64;
    let score: f64 = pairs.map(|(a, b)| sign(a, b)).sum();
    score / (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(square: impl Fn(i64) -> f64) -> Option<Growth> {
        let scattered = |step: i64| square(step) * (1.0 + 0.2 * (step * 7 % 5) as f64);
        Growth::of((0..24).map(|step| (step, scattered(step))))
    }

    #[test]
    fn a_distance_that_grows_is_told_from_a_level() {
        let stuck = growth(|step| 1e-6 + 1e-3 * ((step - 9).max(0) as f64).powf(1.5));
        assert_eq!(stuck.map(|growth| (growth.last_without, growth.from_step)), Some((9, 10)));
        let never_fed = growth(|step| 1e-6 + 1e-3 * step as f64);
        assert_eq!(never_fed.map(|growth| growth.from_step), Some(1));
        // A level from the start on or from the middle on, one that doubles, and one that grows from the first step.
        assert_eq!(growth(|_| 0.02), None);
        assert_eq!(growth(|step| if step < 9 { 1e-6 } else { 0.02 }), None);
        assert_eq!(growth(|step| if step < 9 { 1e-6 } else { 0.02 + 1e-3 * step as f64 }), None);
        assert_eq!(growth(|step| 1e-4 * 1.4_f64.powi(step as i32)), None);
        // It got its weights again.
        assert_eq!(growth(|step| 1e-6 + 1e-3 * ((step - 9).max(0) % 9) as f64), None);
    }

    #[test]
    fn few_steps_tell_no_growth() {
        assert_eq!(Growth::of((0..6).map(|step| (step, 1e-6 + 1e-2 * (step * step) as f64))), None);
        assert_eq!(Growth::of(std::iter::empty()), None);
    }
}
