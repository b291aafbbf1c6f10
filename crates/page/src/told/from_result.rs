//! From the diagnosis of a result.

use stapo_result::diagnosis::{self, Confidence, Diagnosis, RunState};
use stapo_result::signal_name::SignalName;

use super::{Cause, Change, Course, Evidence, Loss, Signal, State, Sure, Told, fifth};

impl Told {
    /// What a diagnosis says; `steps` are the logged ones.
    #[must_use]
    pub fn of(diagnosis: &Diagnosis) -> Self {
        let signals: Vec<Signal> = diagnosis.signals.iter().map(signal).collect();
        Self {
            state: state(diagnosis.state),
            course: signals.iter().find(|signal| signal.name == "reward").and_then(course),
            losses: diagnosis.damage.iter().map(loss).collect(),
            causes: diagnosis.causes.iter().map(cause).collect(),
            not_checked: (diagnosis.not_checked.iter())
                .map(|not| (not.code.name().to_owned(), not.needs.clone()))
                .collect(),
            changes: diagnosis.onsets.iter().map(change).collect(),
            signals,
            certainty: diagnosis.statement.clone(),
        }
    }
}

fn state(state: RunState) -> State {
    match state {
        RunState::Healthy => State::Healthy,
        RunState::Suspicious => State::Suspicious,
        RunState::Damaged => State::Damaged,
        RunState::Collapsed => State::Collapsed,
        RunState::Untrained => State::Undecided,
        RunState::Unknown => State::Unknown,
    }
}

fn course(reward: &Signal) -> Option<Course> {
    let (start, end) = (fifth(&reward.points, false)?, fifth(&reward.points, true)?);
    let means = reward.points.iter().map(|point| point.1).filter(|v| v.is_finite());
    let best = means.clone().fold(end, f64::max);
    let (floor, top) = reward.range.unwrap_or((means.fold(0.0, f64::min), best.max(1.0)));
    Some(Course { start, best, end, floor, top })
}

fn signal(signal: &diagnosis::Signal) -> Signal {
    Signal {
        name: signal.name.as_str().to_owned(),
        points: signal.points.iter().map(|(step, value, _)| (*step as f64, *value)).collect(),
        range: signal.range.map(|[low, high]| (low, high)),
    }
}

fn loss(damage: &diagnosis::Damage) -> Loss {
    let name = named(&damage.signal);
    Loss { name, step: damage.from_step, before: damage.before, after: damage.after }
}

fn change(onset: &diagnosis::Onset) -> Change {
    Change { name: named(&onset.signal), step: onset.step, up: onset.direction == diagnosis::Direction::Up }
}

fn named(signal: &SignalName) -> String {
    signal.as_str().to_owned()
}

fn cause(cause: &diagnosis::Cause) -> Cause {
    Cause {
        code: cause.code.name().to_owned(),
        sure: match cause.confidence {
            // What costs samples is no fault of the run.
            _ if cause.code.name() == "dead_groups" => Sure::Note,
            Confidence::Likely => Sure::Likely,
            Confidence::Possible => Sure::Possible,
        },
        onset: cause.from_step,
        slice: None,
        sentence: cause.message.clone(),
        advice: cause.hint.clone(),
        evidence: cause.evidence.iter().map(evidence).collect(),
        follows_from: None,
    }
}

fn evidence(of: &stapo_result::Evidence) -> Evidence {
    Evidence { what: of.what.clone(), value: of.value, healthy: None }
}
