//! From the diagnosis of a result.

use stapo_result::diagnosis::{self, Confidence, Diagnosis, RewardCourse, RunState};
use stapo_result::signal_name::SignalName;

use super::{Cause, Change, Course, Evidence, Loss, Signal, State, Sure, Told};

impl Told {
    /// What a diagnosis says; `steps` are the logged ones.
    #[must_use]
    pub fn of(diagnosis: &Diagnosis) -> Self {
        let signals: Vec<Signal> = diagnosis.signals.iter().map(signal).collect();
        Self {
            state: diagnosis.state.into(),
            course: diagnosis.reward.map(course),
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

impl From<RunState> for State {
    fn from(state: RunState) -> Self {
        match state {
            RunState::NotFinite => Self::NotFinite,
            RunState::Collapsed => Self::Collapsed,
            RunState::Damaged => Self::Damaged,
            RunState::NotLearning => Self::NotLearning,
            RunState::Suspicious => Self::Suspicious,
            RunState::Healthy => Self::Healthy,
            RunState::Undecided => Self::Undecided,
            RunState::Unknown => Self::Unknown,
        }
    }
}

fn course(reward: RewardCourse) -> Course {
    let RewardCourse { start, best, end, floor, top } = reward;
    Course { start, best, end, floor, top }
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
    Loss {
        name,
        slice: damage.slice.clone(),
        step: damage.from_step,
        before: damage.before,
        after: damage.after,
    }
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
            Confidence::Likely => Sure::Likely,
            Confidence::Possible => Sure::Possible,
            Confidence::Note => Sure::Note,
        },
        onset: cause.from_step,
        slice: cause.slice.clone(),
        sentence: cause.message.clone(),
        advice: cause.hint.clone(),
        evidence: cause.evidence.iter().map(evidence).collect(),
        follows_from: cause.follows_from.as_ref().map(|from| from.name().to_owned()),
    }
}

fn evidence(of: &stapo_result::Evidence) -> Evidence {
    Evidence { what: of.what.clone(), value: of.value, healthy: of.healthy.clone() }
}
