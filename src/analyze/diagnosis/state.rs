//! How the run stands.

use super::causes::Examined;
use super::damage::at_floor;
use super::patient::Patient;
use crate::analyze::collect::signs::CollectedSigns;
use crate::analyze::result::{Cause, CauseCode, Confidence, RunState};
use crate::stats::sustained::{FALSE_ALARMS, FEWEST_STEPS, SCATTER_ALARMS};

/// The state of a run in which this was found. Healthy is only what was looked at: everything whose
/// columns are logged. A run that never had an advantage was not trained: nothing could be damaged.
pub fn state(patient: &Patient<'_>, examined: &Examined, untrained: bool) -> RunState {
    let damage = &patient.changes.damage;
    if !damage.is_empty() {
        let right = patient.right().map(|right| right.signal());
        let goal = right.and_then(|name| patient.series(&name)).or_else(|| patient.series("reward"));
        let lost = goal.is_some_and(at_floor);
        let gone = damage.iter().any(|d| d.signal == "entropy");
        return if lost || gone { RunState::Collapsed } else { RunState::Damaged };
    }
    let is_likely = |c: &Cause| c.confidence == Confidence::Likely && c.code != CauseCode::DeadGroups;
    if examined.causes.iter().any(is_likely) {
        RunState::Suspicious
    } else if untrained && !patient.plan.stand_in.any() {
        RunState::Untrained
    } else if patient.analysis.steps.len() < FEWEST_STEPS || patient.plan.stand_in.any() || examined.too_few {
        RunState::Unknown
    } else {
        RunState::Healthy
    }
}

/// How sure the statements about series are.
pub fn statement(steps: usize, signs: &CollectedSigns) -> String {
    let sampled = match signs.facts.level {
        0 => String::new(),
        level => format!("; within groups from a sample of one group in {}", 1_u64 << level.min(63)),
    };
    if steps < FEWEST_STEPS {
        let word = if steps == 1 { "step is" } else { "steps are" };
        return format!("{steps} {word} too few to tell whether anything changed for good{sampled}");
    }
    format!(
        "a signal that does not change is called changed in at most {} of 1,000 runs of {steps} steps, each \
         way, and one that scatters from step to step in at most {} of 1,000{sampled}",
        1_000.0 * FALSE_ALARMS,
        1_000.0 * SCATTER_ALARMS
    )
}
