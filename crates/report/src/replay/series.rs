//! Values along the arms of a replay, over their seeds.

use crate::draw::{Dash, Ink, Mark, Pen};
use stapo_framework::rules::Rule;
use stapo_result::replay::ReplayResult;
use stapo_result::replay::{ArmResult, Update};

/// Points of a line at most; longer replays are averaged.
const POINTS: usize = 240;
const INKS: [Ink; 6] = [Ink::Exploratory, Ink::Spurious, Ink::Green, Ink::Purple, Ink::Orange, Ink::Neutral];
const MARKS: [Mark; 6] = [Mark::Dot, Mark::Diamond, Mark::Square, Mark::Up, Mark::Down, Mark::Cross];

/// How objective number `place` is drawn everywhere.
pub fn pen(place: usize) -> (Pen, Mark) {
    let dash = Dash::ALL[(place + place / INKS.len()) % Dash::ALL.len()];
    (Pen::new(INKS[place % INKS.len()]).width(1.9).dash(dash), MARKS[place % MARKS.len()])
}

/// A point: x, mean over seeds, smallest, largest.
pub type Spread = (f64, f64, f64, f64);

/// The arms of an objective that came to their end; all of them where none did.
pub fn arms_of(result: &ReplayResult, objective: Rule) -> Vec<&ArmResult> {
    let mine: Vec<&ArmResult> = result.arms.iter().filter(|a| a.objective == objective).collect();
    let finished: Vec<&ArmResult> = mine.iter().copied().filter(|a| a.stopped.is_none()).collect();
    if finished.is_empty() { mine } else { finished }
}

/// A value over mini-batches. It is taken of all updates that an objective makes of a mini-batch, so
/// that objectives with several of them lie over the others.
pub fn over_batches(
    result: &ReplayResult,
    objective: Rule,
    value: impl Fn(&[Update]) -> Option<f64>,
) -> Vec<Spread> {
    let same = |a: &Update, b: &Update| (a.step, a.epoch, a.minibatch) == (b.step, b.epoch, b.minibatch);
    let lines: Vec<Vec<f64>> = arms_of(result, objective)
        .iter()
        .map(|arm| arm.updates.chunk_by(same).map(|batch| value(batch).unwrap_or(f64::NAN)).collect())
        .collect();
    let length = lines.iter().map(Vec::len).max().unwrap_or(0);
    let stride = length.div_ceil(POINTS).max(1);
    (0..length)
        .step_by(stride)
        .filter_map(|from| {
            let means: Vec<f64> = lines
                .iter()
                .filter_map(|line| mean(line.get(from..(from + stride).min(line.len()))?))
                .collect();
            let x = from as f64 + 1.0 + (stride.min(length - from) - 1) as f64 / 2.0;
            spread(x, &means)
        })
        .collect()
}

/// Mean, smallest and largest of the finite values.
pub fn spread(x: f64, values: &[f64]) -> Option<Spread> {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let low = finite.iter().copied().min_by(f64::total_cmp)?;
    let high = finite.iter().copied().max_by(f64::total_cmp)?;
    Some((x, mean(&finite)?, low, high))
}

/// Mean of the finite values.
pub fn mean(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
}
