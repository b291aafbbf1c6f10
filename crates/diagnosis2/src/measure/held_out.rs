//! The score on held-out rows, question by question: an earlier window of evaluations against the last fifth of them.

use stapo_evidence::rewards::{HeldOut, Rewards};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Questions that a difference stands on.
const FEWEST: usize = 8;
/// A fall has to lose this part of what the score had above its floor, and of its range.
const OF_HEIGHT: f64 = 0.2;
const OF_RANGE: f64 = 0.05;

/// A fall of the held-out score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fall {
    /// Mean before, over the window that it fell from.
    pub before: f64,
    /// Mean over the last fifth of the evaluations.
    pub after: f64,
    /// Last step of that window.
    pub from: i64,
    /// Chance of it where the score does not change, over all windows that were tried.
    pub chance: f64,
    /// Questions.
    pub questions: usize,
}

/// Scores of a question, summed over evaluations up to each.
type Sums = Vec<[f64; 2]>;

/// The fall that chance explains least, of those that are large.
pub fn fall(rewards: &Rewards) -> Option<Fall> {
    let rows = || rewards.held_out.sets().flatten();
    let mut steps: Vec<i64> = rows().map(|row| row.step).collect();
    steps.sort_unstable();
    steps.dedup();
    let last = steps.len() - steps.len().div_ceil(5).min(steps.len());
    let scores = || rows().map(|row| f64::from(row.reward));
    let (low, high) = (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
    let questions: Vec<Sums> = rewards.held_out.sets().map(|set| sums(set, &steps)).collect();
    let (mut best, mut looks) = (None::<Fall>, 0_u32);
    let mut width = 1;
    while width <= last {
        for start in 0..=last - width {
            looks += 1;
            let windows = [[start, start + width], [last, steps.len()]];
            let Some((before, after, chance, questions)) = difference(&questions, windows) else { continue };
            let is_large = before - after > (OF_HEIGHT * (before - low)).max(OF_RANGE * (high - low));
            if is_large && best.is_none_or(|best| chance < best.chance) {
                let from = steps[start + width - 1];
                best = Some(Fall { before, after, from, chance, questions });
            }
        }
        width *= 2;
    }
    best.map(|fall| Fall { chance: (fall.chance * f64::from(looks)).min(1.0), ..fall })
}

fn sums(set: &[HeldOut], steps: &[i64]) -> Sums {
    let mut sums = vec![[0.0; 2]; steps.len() + 1];
    for row in set {
        if let Ok(at) = steps.binary_search(&row.step) {
            sums[at + 1][0] += 1.0;
            sums[at + 1][1] += f64::from(row.reward);
        }
    }
    for at in 1..sums.len() {
        let [n, sum] = sums[at - 1];
        sums[at][0] += n;
        sums[at][1] += sum;
    }
    sums
}

/// Means of both windows, and the one-sided chance of their difference: by question where enough were asked in both, else
/// over those of either.
fn difference(questions: &[Sums], windows: [[usize; 2]; 2]) -> Option<(f64, f64, f64, usize)> {
    let mean = |sums: &Sums, [from, to]: [usize; 2]| {
        let n = sums[to][0] - sums[from][0];
        (n > 0.0).then(|| (sums[to][1] - sums[from][1]) / n)
    };
    let [before, after] = windows.map(|window| questions.iter().map(move |sums| mean(sums, window)));
    let pairs: Vec<[f64; 2]> =
        before.clone().zip(after.clone()).filter_map(|(a, b)| Some([a?, b?])).collect();
    if pairs.len() >= FEWEST {
        let moved = moments(pairs.iter().map(|[a, b]| a - b));
        let [a, b] = [0, 1].map(|side| moments(pairs.iter().map(move |pair| pair[side])).mean);
        return Some((a, b, moved.chance(0.0, moved.n - 1.0)?, pairs.len()));
    }
    let [a, b] = [moments(before.flatten()), moments(after.flatten())];
    let n = a.n.min(b.n);
    let error = b.error_square();
    let moved = Moments { mean: a.mean - b.mean, ..a };
    if n < FEWEST as f64 {
        return None;
    }
    Some((a.mean, b.mean, moved.chance(error, n - 1.0)?, n as usize))
}

struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

fn moments(values: impl Iterator<Item = f64> + Clone) -> Moments {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n.max(1.0);
    Moments { n, mean, squares: values.map(|value| (value - mean).powi(2)).sum() }
}

impl Moments {
    fn error_square(&self) -> f64 {
        self.squares / (self.n - 1.0).max(1.0) / self.n.max(1.0)
    }

    /// One-sided chance of this mean where it is 0, with the square of another's error and these degrees of freedom.
    fn chance(&self, other: f64, freedom: f64) -> Option<f64> {
        let error = (self.error_square() + other).sqrt();
        if error <= 0.0 {
            // The same difference at every question.
            return Some(if self.mean > 0.0 { 0.5_f64.powf(self.n) } else { 1.0 });
        }
        Some(StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()?.sf(self.mean / error))
    }
}
