//! The signals over the steps, and when each changed for good: the order of events.

use crate::state::Verdict;
use stapo_base::stats::sustained::{Direction, Point, sustained};
use stapo_collect::plan::Plan;
use stapo_result::{Onset, RunCore, Signal, SignalName, StepRow};

/// Two policies whose k3 is below this differ by rounding alone: by 1e-4 in ln p.
const SAME_POLICY: f64 = 1e-8;

/// Step, value and, where known, its standard error.
type SignalPoint = (i64, f64, Option<f64>);

/// A quantity of a step, and how its changes are looked for.
struct OfSteps {
    name: SignalName,
    value: fn(&StepRow) -> Option<f64>,
    /// In its logarithm, above what rounding leaves.
    log_above: Option<f64>,
}

const fn plain(name: SignalName, value: fn(&StepRow) -> Option<f64>) -> OfSteps {
    OfSteps { name, value, log_above: None }
}

const fn log(name: SignalName, above: f64, value: fn(&StepRow) -> Option<f64>) -> OfSteps {
    OfSteps { name, value, log_above: Some(above) }
}

const OF_STEPS: &[OfSteps] = &[
    plain(SignalName::Entropy, |row| row.mean_entropy),
    plain(SignalName::Length, |row| row.mean_length),
    plain(SignalName::DeadGroups, |row| {
        let groups = row.groups.filter(|groups| *groups > 0)? as f64;
        Some(row.zero_advantage_groups? as f64 / groups)
    }),
    log(SignalName::EffectiveNumber, 0.0, |row| row.concentration.effective_number.filter(|_| row.teaches())),
    log(SignalName::UpdateK3, SAME_POLICY, |row| row.update_k3),
    log(SignalName::EngineK3, SAME_POLICY, |row| row.mismatch.as_ref().map(|m| m.kl)),
    log(SignalName::ReferenceK3, SAME_POLICY, |row| row.reference_k3),
    log(SignalName::LargestRatio, 0.0, |row| row.largest_ratio),
    plain(SignalName::ClippedShare, |row| row.clipped_share),
    plain(SignalName::SpuriousEnergyShare, |row| row.spurious_energy_share.filter(|_| row.teaches())),
];

/// Signals as they are shown, and the order of events.
pub fn signals(
    plan: &Plan,
    judged: &Verdict,
    held_out: &Verdict,
    analysis: &RunCore,
) -> (Vec<Signal>, Vec<Onset>) {
    let mut signals = Vec::new();
    let mut onsets = Vec::new();
    let mut add = |signal: Signal, log_above: Option<f64>| {
        onsets.extend([Direction::Up, Direction::Down].into_iter().filter_map(|direction| {
            let step = onset(&signal, log_above, direction)?;
            Some(Onset { signal: signal.name.clone(), step, direction })
        }));
        signals.push(signal);
    };
    courses(judged, SignalName::of_series).for_each(|signal| add(signal, None));
    courses(held_out, |_| SignalName::HeldOut).take(1).for_each(|signal| add(signal, None));
    for of in OF_STEPS {
        let needs_entropy = matches!(of.name, SignalName::Entropy);
        let needs_advantage = matches!(of.name, SignalName::DeadGroups | SignalName::ClippedShare);
        let needs_energy = matches!(of.name, SignalName::EffectiveNumber | SignalName::SpuriousEnergyShare);
        let missing = &plan.stand_in;
        if needs_entropy && missing.entropy
            || needs_advantage && missing.advantage
            || needs_energy && missing.any()
        {
            continue;
        }
        let points: Vec<SignalPoint> =
            analysis.steps.iter().filter_map(|row| Some((row.step, (of.value)(row)?, None))).collect();
        if !points.is_empty() {
            add(Signal { name: of.name.clone(), points, range: None }, of.log_above);
        }
    }
    let rates: [(SignalName, Vec<SignalPoint>); 2] =
        [(SignalName::Truncated, cut(analysis)), (SignalName::Repetition, repetition(analysis))];
    for (name, points) in rates.into_iter().filter(|(_, points)| !points.is_empty()) {
        add(Signal { name, points, range: None }, None);
    }
    onsets.sort_by_key(|onset| onset.step);
    (signals, onsets)
}

/// Series of the whole run by step, as the state was judged by them.
fn courses<'a>(
    verdict: &'a Verdict,
    name: impl Fn(&str) -> SignalName + 'a,
) -> impl Iterator<Item = Signal> + 'a {
    verdict.courses.iter().filter(|course| course.slice.is_none()).map(move |course| Signal {
        name: name(&course.series),
        points: course.steps.iter().zip(&course.means).map(|(step, mean)| (*step, *mean, None)).collect(),
        range: Some([course.gain.floor, course.gain.top]),
    })
}

fn cut(analysis: &RunCore) -> Vec<SignalPoint> {
    let steps = analysis.answers.truncated.iter().flat_map(|truncated| &truncated.steps);
    steps.map(|row| (row.step, row.share, None)).collect()
}

fn repetition(analysis: &RunCore) -> Vec<SignalPoint> {
    let steps = analysis.answers.repetition.iter().flat_map(|repetition| &repetition.steps);
    steps.map(|row| (row.step, row.stuck_share, None)).collect()
}

/// Where a signal changed for good.
fn onset(signal: &Signal, log_above: Option<f64>, direction: Direction) -> Option<i64> {
    let point = |&(step, value, error): &SignalPoint| match log_above {
        None => Some(Point { step, value, error }),
        Some(_) => (value > 0.0).then(|| Point { step, value: value.ln(), error: None }),
    };
    let points: Vec<Point> = signal.points.iter().filter_map(point).collect();
    let change = sustained(&points, direction)?;
    let is_rounding = log_above.is_some_and(|above| change.before.max(change.after) < above.ln());
    (!is_rounding).then_some(change.onset)
}
