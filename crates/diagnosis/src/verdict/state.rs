//! How the run stands.

use crate::causes::Examined;
use crate::damage::changes::at_floor;
use crate::patient::Patient;
use crate::responses::copies::Copies;
use crate::signals::series::Series;
use stapo_base::format::{counted, grouped};
use stapo_base::stats::sustained::{FALSE_ALARMS, FEWEST_STEPS, SCATTER_ALARMS};
use stapo_collect::collect::signs::CollectedSigns;
use stapo_result::{Cause, CauseCode, Confidence, Damage, RunState, SignalName};

/// The state of a run in which this was found. Healthy is only what was looked at: everything whose
/// columns are logged, of responses of their own step. A run that never had an advantage was not trained: nothing could
/// be damaged.
pub fn state(patient: &Patient<'_>, examined: &Examined, untrained: bool, copies: &Copies) -> RunState {
    let damage = &patient.changes.damage;
    if !damage.is_empty() {
        let gone = damage.iter().any(|d| d.signal == SignalName::Entropy);
        return if gone || is_lost(patient) { RunState::Collapsed } else { RunState::Damaged };
    }
    let is_likely = |c: &Cause| c.confidence == Confidence::Likely && c.code != CauseCode::DeadGroups;
    if examined.causes.iter().any(is_likely) {
        RunState::Suspicious
    } else if untrained && !patient.plan.stand_in.any() {
        RunState::Untrained
    } else if patient.analysis.steps.len() < FEWEST_STEPS
        || patient.plan.stand_in.any()
        || examined.too_few
        || !is_rewarded(patient)
        || copies.hiding().is_some()
    {
        RunState::Unknown
    } else {
        RunState::Healthy
    }
}

/// Whether what the run was trained for is near its floor at the end.
fn is_lost(patient: &Patient<'_>) -> bool {
    let right = patient.right().map(|right| right.signal());
    let goal = right.and_then(|name| patient.series(&name)).or_else(|| patient.series(&SignalName::Reward));
    goal.is_some_and(at_floor)
}

/// Whether entropy exploded, and what the run was trained for was not lost before: then that is what happened.
pub fn exploded(patient: &Patient<'_>) -> bool {
    let damage = &patient.changes.damage;
    let Some(rise) = damage.iter().find(|d| d.signal == SignalName::Entropy && d.after > d.before) else {
        return false;
    };
    let fell = |d: &Damage| d.signal.says_how_well() && d.from_step < rise.from_step;
    !(is_lost(patient) && damage.iter().any(fell))
}

/// The last step at which anything says how well responses do.
pub fn rewarded_to(series: &[Series]) -> Option<i64> {
    let ends =
        series.iter().filter(|series| series.name.says_how_well()).filter_map(|series| series.points.last());
    ends.map(|point| point.step).max()
}

/// Whether that is so for all but a quarter of the steps: without it the loss that matters most cannot be seen.
fn is_rewarded(patient: &Patient<'_>) -> bool {
    let steps = &patient.analysis.steps;
    let without = |last: i64| steps.iter().filter(|row| row.step > last).count();
    rewarded_to(patient.series).is_some_and(|last| 4 * without(last) <= steps.len())
}

/// How sure the statements about series are.
pub fn statement(steps: usize, signs: &CollectedSigns) -> String {
    let sampled = match signs.facts.level {
        0 => String::new(),
        level => format!(
            "; causes and counts of groups and of responses in them are of one group in {}, drawn by chance ({} responses)",
            1_u64 << level.min(63),
            grouped(signs.facts.responses.len() as u64)
        ),
    };
    if steps < FEWEST_STEPS {
        let steps = counted(steps as u64, "step is", "steps are");
        return format!("{steps} too few to tell whether anything changed for good{sampled}");
    }
    format!(
        "a signal that does not change is called changed in at most {} of 1,000 runs of {} steps, each \
         way, and one that scatters from step to step in at most {} of 1,000{sampled}",
        1_000.0 * FALSE_ALARMS,
        grouped(steps as u64),
        1_000.0 * SCATTER_ALARMS
    )
}
