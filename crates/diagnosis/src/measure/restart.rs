//! Steps at which a run was taken up again, and what jumped there.

use stapo_evidence::policies::{Policies, Step};

/// Series that are looked at: name and value of a step.
type Series = (&'static str, fn(&Step) -> Option<f64>);

const SERIES: [Series; 4] = [
    ("entropy", |step| step.entropy.mean()),
    ("distance to the reference", |step| step.trainer_to_reference.mean()),
    ("gap to the sampler", |step| (step.gap.tokens > 0).then(|| step.gap.rms())),
    ("length", |step| (step.responses > 0).then(|| step.tokens as f64 / step.responses as f64)),
];

/// A jump is beyond this many typical changes from step to step.
const JUMP: f64 = 8.0;
/// Steps on either side that it is held against.
const AROUND: usize = 4;

/// A step at which versions start anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    /// The first step after it.
    pub step: i64,
    /// The series that jump there.
    pub jumped: Vec<&'static str>,
    /// How many were looked at.
    pub looked_at: usize,
}

/// Steps at which the sampler's versions go back.
pub fn restarts(policies: &Policies) -> Vec<Restart> {
    let steps: Vec<(i64, &Step)> = policies.steps.iter().map(|(step, sums)| (*step, sums)).collect();
    (1..steps.len())
        .filter(|&i| matches!((steps[i - 1].1.oldest.0, steps[i].1.newest.0), (Some(before), Some(now)) if now < before))
        .map(|i| {
            let looked_at = SERIES.iter().filter_map(|(name, value)| {
                let values: Option<Vec<f64>> = steps.iter().map(|(_, step)| value(step)).collect();
                jumps(&values?, i).map(|jumps| (*name, jumps))
            });
            let looked_at: Vec<(&str, bool)> = looked_at.collect();
            let jumped = looked_at.iter().filter(|(_, jumps)| *jumps).map(|(name, _)| *name).collect();
            Restart { step: steps[i].0, jumped, looked_at: looked_at.len() }
        })
        .collect()
}

/// Whether the series jumps between `at` − 1 and `at`: by more than its changes around there. None where too few are.
fn jumps(values: &[f64], at: usize) -> Option<bool> {
    let from = at.saturating_sub(AROUND + 1);
    let until = (at + AROUND + 1).min(values.len());
    let mut changes: Vec<f64> =
        (from + 1..until).filter(|i| *i != at).map(|i| (values[i] - values[i - 1]).abs()).collect();
    if changes.len() < AROUND {
        return None;
    }
    changes.sort_by(f64::total_cmp);
    let typical = changes[changes.len() / 2];
    let size = values[at - 1].abs().max(values[at].abs());
    Some((values[at] - values[at - 1]).abs() > (JUMP * typical).max(0.05 * size))
}
