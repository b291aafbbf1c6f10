//! What the page needs of a diagnosis. One file converts it, so that a change of the diagnosis changes one file here.

mod from_result;

use crate::document::Tone;

/// How a run stands, in the order in which it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// From some step on its numbers are not finite.
    NotFinite,
    /// What it had is gone.
    Collapsed,
    /// It lost what it had.
    Damaged,
    /// The reward does not leave its start.
    NotLearning,
    /// A likely cause, and nothing lost.
    Suspicious,
    /// It learned, or is at its best.
    Healthy,
    /// Too short or too noisy to say.
    Undecided,
    /// Nothing to judge by.
    #[default]
    Unknown,
}

impl State {
    /// The word of the first screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotFinite => "Not finite",
            Self::Collapsed => "Collapsed",
            Self::Damaged => "Damaged",
            Self::NotLearning => "Not learning",
            Self::Suspicious => "Suspicious",
            Self::Healthy => "Healthy",
            Self::Undecided => "Undecided",
            Self::Unknown => "Unknown",
        }
    }

    /// Its colour and sign.
    #[must_use]
    pub fn tone(self) -> Tone {
        match self {
            Self::NotFinite | Self::Collapsed | Self::Damaged => Tone::Bad,
            Self::NotLearning => Tone::Flat,
            Self::Suspicious => Tone::Suspicious,
            Self::Healthy => Tone::Healthy,
            Self::Undecided | Self::Unknown => Tone::Open,
        }
    }
}

/// The reward from its start to its end: the same numbers in every sentence, chart and table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// Mean of the first tenth of the steps.
    pub start: f64,
    /// The best it had.
    pub best: f64,
    /// Mean of the last fifth of the steps.
    pub end: f64,
    /// The least that a response can have.
    pub floor: f64,
    /// The most.
    pub top: f64,
}

/// What a diagnosis says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// How the run stands.
    pub state: State,
    /// The reward; absent where none is logged.
    pub course: Option<Course>,
    /// What got worse for good, the earliest first.
    pub losses: Vec<Loss>,
    /// The best explanation first.
    pub causes: Vec<Cause>,
    /// What this log cannot tell: the cause, and what to log.
    pub not_checked: Vec<(String, String)>,
    /// When quantities changed for good, the earliest first.
    pub changes: Vec<Change>,
    /// Quantities over the steps.
    pub signals: Vec<Signal>,
    /// How sure statements about series are.
    pub certainty: String,
}

/// A quantity that got worse for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Which.
    pub name: String,
    /// The task or data source that lost; none for the whole run.
    pub slice: Option<String>,
    /// From this step on.
    pub step: i64,
    /// Its level before.
    pub before: f64,
    /// Its level at the end.
    pub after: f64,
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// Beyond what a healthy run shows.
    Likely,
    /// Seen, but another explanation is at hand.
    Possible,
    /// No fault: worth knowing.
    Note,
}

impl Sure {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Possible => "possible",
            Self::Note => "note",
        }
    }
}

/// A cause that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Its stable name, such as `stale_sampler`.
    pub code: String,
    /// How sure.
    pub sure: Sure,
    /// The first step at which it shows.
    pub onset: Option<i64>,
    /// The task or data source that it is confined to.
    pub slice: Option<String>,
    /// What was found, with numbers; may quote the log.
    pub sentence: String,
    /// What to do, where no page says it.
    pub advice: String,
    /// The numbers behind it, the one that decides first.
    pub evidence: Vec<Evidence>,
    /// The cause that it follows from.
    pub follows_from: Option<String>,
}

/// A number behind a cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What was measured.
    pub what: String,
    /// How much.
    pub value: f64,
    /// What a healthy run has.
    pub healthy: Option<String>,
}

/// A quantity that changed for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which.
    pub name: String,
    /// The first step of the change.
    pub step: i64,
    /// Whether it rises.
    pub up: bool,
}

/// A quantity over the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// Its name; also that of its column.
    pub name: String,
    /// Step and value.
    pub points: Vec<(f64, f64)>,
    /// The ends of its values.
    pub range: Option<(f64, f64)>,
}

impl Told {
    /// The cause that explains most, where one is more than a note.
    #[must_use]
    pub fn first_cause(&self) -> Option<&Cause> {
        let first =
            self.causes.iter().find(|cause| cause.sure == Sure::Likely && cause.follows_from.is_none());
        // On a healthy run nothing explains what is not there.
        first.filter(|_| self.state != State::Healthy)
    }

    /// A quantity by its name.
    #[must_use]
    pub fn signal(&self, name: &str) -> Option<&Signal> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// Where a quantity first changed for good.
    #[must_use]
    pub fn change(&self, name: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.name == name)
    }
}

/// Mean of the first or the last fifth of the steps: the start and the end of whatever is shown.
#[must_use]
pub fn fifth(points: &[(f64, f64)], last: bool) -> Option<f64> {
    let fine: Vec<f64> = points.iter().map(|point| point.1).filter(|v| v.is_finite()).collect();
    let count = fine.len().div_ceil(5);
    let part = if last { fine.get(fine.len() - count..) } else { fine.get(..count) }?;
    (count > 0).then(|| part.iter().sum::<f64>() / count as f64)
}
