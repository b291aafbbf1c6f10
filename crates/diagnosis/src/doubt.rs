//! Causes that another one makes doubtful.

use super::patient::Patient;
use stapo_result::{Cause, CauseCode, Confidence, Damage, StepRow};

/// Parts of the reward that fell as a grader failed, likely or possibly, were not given up: what is no more than possible
/// without it goes.
pub fn drop_what_a_grader_took(causes: &mut Vec<Cause>, patient: &Patient<'_>) {
    let failed: Vec<i64> = told_nothing(causes).filter_map(|cause| cause.from_step).collect();
    let is_lost = |damage: &Damage| is_near(&patient.analysis.steps, &failed, damage.from_step);
    let mut parts = patient.changes.damage.iter().filter(|damage| damage.signal.is_part()).peekable();
    if parts.peek().is_some() && parts.all(is_lost) {
        let is_open = |cause: &Cause| {
            cause.code == CauseCode::RewardHacking && cause.confidence == Confidence::Possible
        };
        causes.retain(|cause| !is_open(cause));
    }
}

/// The steps at which a reward likely began to tell nothing: what falls there was not given up for something else.
pub fn grader_failed(causes: &[Cause]) -> impl Iterator<Item = i64> {
    let likely = told_nothing(causes).filter(|cause| cause.confidence == Confidence::Likely);
    likely.filter_map(|cause| cause.from_step)
}

fn told_nothing(causes: &[Cause]) -> impl Iterator<Item = &Cause> {
    causes.iter().filter(|cause| cause.code == CauseCode::UninformativeReward)
}

/// Whether a step is one of some steps of a run, after its first, or next to one: a jump is dated by noise, too.
pub fn is_near(steps: &[StepRow], some: &[i64], step: i64) -> bool {
    let place = |step: i64| steps.partition_point(|row| row.step < step);
    some.iter().map(|one| place(*one)).any(|at| at > 0 && at.abs_diff(place(step)) <= 1)
}

/// Where columns are shifted against each other, what holds them against each other tells of the shift.
pub fn doubt_what_is_misaligned(causes: &mut [Cause]) {
    let is_misaligned =
        |cause: &Cause| cause.code == CauseCode::MisalignedLog && cause.confidence == Confidence::Likely;
    if !causes.iter().any(is_misaligned) {
        return;
    }
    for cause in causes.iter_mut().filter(|cause| compares_columns(cause.code)) {
        cause.confidence = Confidence::Possible;
        cause.message = format!("{} (by columns that are misaligned: mend that first)", cause.message);
    }
}

/// Whether a cause is judged by log-probabilities and entropies of the same tokens.
fn compares_columns(code: CauseCode) -> bool {
    match code {
        CauseCode::EntropyOfAnotherPolicy
        | CauseCode::ObservationTrained
        | CauseCode::SamplerTemperature
        | CauseCode::SamplerTruncation
        | CauseCode::StaleSampler
        | CauseCode::LargeUpdates
        | CauseCode::UnboundedRatio
        | CauseCode::PrecisionGap
        | CauseCode::SpuriousTokens => true,
        CauseCode::MisalignedLog
        | CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::UninformativeReward
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::PhantomAdvantage
        | CauseCode::Truncation
        | CauseCode::DeadGroups => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(code: CauseCode, confidence: Confidence) -> Cause {
        let (message, hint) = ("it is so".into(), String::new());
        Cause { code, confidence, from_step: None, before_step: None, message, hint, evidence: Vec::new() }
    }

    #[test]
    fn a_shifted_log_makes_doubtful_what_compares_its_columns() {
        let told = |misaligned: Confidence| {
            let mut causes = [
                cause(CauseCode::MisalignedLog, misaligned),
                cause(CauseCode::LargeUpdates, Confidence::Likely),
                cause(CauseCode::DeadGroups, Confidence::Likely),
            ];
            doubt_what_is_misaligned(&mut causes);
            let [_, updates, groups] = causes;
            assert_eq!((groups.confidence, groups.message.as_str()), (Confidence::Likely, "it is so"));
            (updates.confidence, updates.message.contains("misaligned"))
        };
        assert_eq!(told(Confidence::Likely), (Confidence::Possible, true));
        assert_eq!(told(Confidence::Possible), (Confidence::Likely, false));
    }
}
