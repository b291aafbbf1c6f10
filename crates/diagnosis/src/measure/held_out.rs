//! The score on held-out rows, question by question: an earlier window of evaluations against the last fifth of them.
//!
//! Errors are those of questions and of the policy's own wobble from one evaluation to the next. The latter is taken from
//! second differences of the means, less the part that the questions' errors have in them; neighbouring evaluations are taken
//! to be correlated by 0.7, the most that was seen (0.4 to 0.7; training rewards have none).

use super::groups::median;
use stapo_evidence::rewards::{HeldOut, Rewards};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Questions that a difference stands on.
const FEWEST: usize = 8;
/// Evaluations.
const FEWEST_STEPS: usize = 4;
/// Correlation of neighbouring evaluations.
const CORRELATION: f64 = 0.7;
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
    if steps.len() < FEWEST_STEPS {
        return None;
    }
    // A single bad evaluation is not the end of a run of five.
    let tail = steps.len().div_ceil(5).max(if steps.len() > FEWEST_STEPS { 2 } else { 1 });
    let last = steps.len() - tail;
    let scores = || rows().map(|row| f64::from(row.reward));
    let (low, high) = (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
    let questions: Vec<Sums> = rewards.held_out.sets().map(|set| sums(set, &steps)).collect();
    let means: Vec<f64> = (0..steps.len())
        .map(|at| moments(questions.iter().filter_map(|sums| mean(sums, [at, at + 1]))).mean)
        .collect();
    let [wobble, wobble_freedom] = wobble(&questions, &means);
    let without_lowest = without_lowest(&means[last..]);
    let (mut best, mut looks) = (None::<Fall>, 0_u32);
    let mut width = 1;
    while width <= last {
        for start in 0..=last - width {
            looks += 1;
            let windows = [[start, start + width], [last, steps.len()]];
            let Some(Difference { before, after, error_square: of_questions, questions }) =
                difference(&questions, windows)
            else {
                continue;
            };
            let of_wobble = of_mean(wobble, width) + of_mean(wobble, tail);
            let error_square = [of_questions, of_wobble];
            // Welch and Satterthwaite.
            let freedom = [(questions - 1) as f64, wobble_freedom];
            let Some(chance) = chance(before - after, error_square, freedom) else { continue };
            // Also without its lowest evaluation.
            let is_large = before - after.max(without_lowest)
                > (OF_HEIGHT * (before - low)).max(OF_RANGE * (high - low));
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

/// Means of two windows, and the square of the error that questions leave in their difference.
struct Difference {
    before: f64,
    after: f64,
    error_square: f64,
    questions: usize,
}

/// By question where enough were asked in both windows, else over those of either.
fn difference(questions: &[Sums], windows: [[usize; 2]; 2]) -> Option<Difference> {
    let [before, after] = windows.map(|window| questions.iter().map(move |sums| mean(sums, window)));
    let pairs: Vec<[f64; 2]> =
        before.clone().zip(after.clone()).filter_map(|(a, b)| Some([a?, b?])).collect();
    let of = |a: Moments, b: Moments, error_square: f64, questions: usize| {
        (questions >= FEWEST).then_some(Difference { before: a.mean, after: b.mean, error_square, questions })
    };
    if pairs.len() >= FEWEST {
        let [a, b] = [0, 1].map(|side| moments(pairs.iter().map(move |pair| pair[side])));
        let moved = moments(pairs.iter().map(|[a, b]| a - b));
        return of(a, b, moved.error_square(), pairs.len());
    }
    let [a, b] = [moments(before.flatten()), moments(after.flatten())];
    let (error_square, questions) = (a.error_square() + b.error_square(), a.n.min(b.n));
    of(a, b, error_square, questions)
}

fn mean(sums: &Sums, [from, to]: [usize; 2]) -> Option<f64> {
    let n = sums[to][0] - sums[from][0];
    (n > 0.0).then(|| (sums[to][1] - sums[from][1]) / n)
}

/// Variance of an evaluation's mean beyond what its questions leave, and its degrees of freedom.
fn wobble(questions: &[Sums], means: &[f64]) -> [f64; 2] {
    let neighbours = (1..means.len()).filter_map(|at| difference(questions, [[at - 1, at], [at, at + 1]]));
    let of_questions = median(neighbours.map(|d| d.error_square / 2.0).collect()).unwrap_or(0.0);
    let seconds = means.windows(3).map(|m| (m[0] - 2.0 * m[1] + m[2]).powi(2)).collect();
    // The median of squares of a normal with variance 6 σ²; with correlated neighbours it has 6 − 8 ρ + 2 ρ².
    let independent = median(seconds).unwrap_or(0.0) / 2.73 - of_questions;
    let factor = 6.0 / (6.0 - 8.0 * CORRELATION + 2.0 * CORRELATION * CORRELATION);
    // What is less than half of the questions' own cannot be told from it, and is taken for as much.
    let least = 0.5 * of_questions;
    if independent <= least {
        [least * factor, questions.len() as f64]
    } else {
        // A median of so few squares, half a degree of freedom each.
        [independent * factor, ((means.len() - 2) / 2) as f64]
    }
}

fn without_lowest(means: &[f64]) -> f64 {
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let others = (means.len() - 1).max(1) as f64;
    if means.len() > 1 { (means.iter().sum::<f64>() - lowest) / others } else { lowest }
}

/// Variance of the mean of so many correlated evaluations.
fn of_mean(variance: f64, evaluations: usize) -> f64 {
    let worth = evaluations as f64 * (1.0 - CORRELATION) / (1.0 + CORRELATION);
    variance / worth.max(1.0)
}

/// One-sided chance of a fall of this size, by the squares of two errors and their degrees of freedom.
fn chance(fall: f64, squares: [f64; 2], freedom: [f64; 2]) -> Option<f64> {
    let sum: f64 = squares.iter().sum();
    if sum <= 0.0 {
        return Some(if fall > 0.0 { 0.0 } else { 1.0 });
    }
    let fourths: f64 = squares.iter().zip(freedom).map(|(square, freedom)| square * square / freedom).sum();
    Some(StudentsT::new(0.0, 1.0, (sum * sum / fourths).max(1.0)).ok()?.sf(fall / sum.sqrt()))
}

struct Moments {
    n: usize,
    mean: f64,
    squares: f64,
}

fn moments(values: impl Iterator<Item = f64> + Clone) -> Moments {
    let n = values.clone().count();
    let mean = values.clone().sum::<f64>() / n.max(1) as f64;
    Moments { n, mean, squares: values.map(|value| (value - mean).powi(2)).sum() }
}

impl Moments {
    fn error_square(&self) -> f64 {
        self.squares / (self.n.max(2) - 1) as f64 / self.n.max(1) as f64
    }
}
