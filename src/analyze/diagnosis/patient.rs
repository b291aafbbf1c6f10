//! What a cause is looked for in.

use super::damage::Changes;
use super::signals::{PASS_RATE, Series};
use crate::analyze::collect::signs::CollectedSigns;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::plan::Plan;
use crate::analyze::result::{Cause, CauseCode, Confidence, Evidence, RunCore};
use crate::ingest::{Column, Run};
use crate::stats::sustained::Change;

/// Words in the name of a part of the reward that says whether the answer is right.
const RIGHT: [&str; 7] = ["answer", "correct", "accura", "pass", "solve", "success", "exact"];

/// A run and everything that was found so far.
pub struct Patient<'a> {
    /// The run.
    pub run: &'a Run,
    /// Resolved settings.
    pub plan: &'a Plan,
    /// What was collected for the diagnosis.
    pub signs: &'a CollectedSigns,
    /// The rest of the result.
    pub analysis: &'a RunCore,
    /// Signals over the steps.
    pub series: &'a [Series],
    /// Their lasting changes.
    pub changes: &'a Changes,
}

/// What says whether an answer is right.
#[derive(Clone, Copy, Debug)]
pub struct Right<'a> {
    /// The user's condition, or the name of the part.
    pub name: &'a str,
    /// The part of the reward that it is read from; `None` for the reward itself.
    pub part: Option<usize>,
    given: bool,
}

impl Right<'_> {
    /// Whether a response is right; `None` where its value is missing.
    pub fn of(&self, fact: &ResponseFact) -> Option<bool> {
        if self.given {
            return fact.right;
        }
        let value = self.part.and_then(|part| fact.parts.get(part)).copied()?;
        value.is_finite().then_some(value > 0.5)
    }

    /// The signal that follows it.
    pub fn signal(&self) -> String {
        if self.given { PASS_RATE.into() } else { format!("reward/{}", self.name) }
    }
}

/// What looking for a cause gives.
pub enum Finding {
    /// It is not there.
    Absent,
    /// The log cannot tell: what it would need.
    NotChecked(&'static str),
    /// It is there.
    Found(Cause),
}

impl<'a> Patient<'a> {
    /// Whether the log has a column.
    pub fn has(&self, column: Column) -> bool {
        self.run.has(column)
    }

    /// The groups of responses, each with its responses.
    pub fn groups(&self) -> impl Iterator<Item = &'a [ResponseFact]> {
        self.signs.facts.groups()
    }

    /// The groups from a step on.
    pub fn groups_from(&self, step: i64) -> impl Iterator<Item = &'a [ResponseFact]> {
        self.groups().filter(move |group| group[0].step >= step)
    }

    /// A signal.
    pub fn series(&self, name: &str) -> Option<&'a Series> {
        self.series.iter().find(|series| series.name == name)
    }

    /// The lasting changes of a signal.
    pub fn changes_of(&self, name: &str) -> impl Iterator<Item = &'a Change> {
        self.changes.found.iter().filter(move |(known, _)| known == name).map(|(_, change)| change)
    }

    /// What says whether an answer is right: the user's condition, else a part of the reward whose
    /// name says so.
    pub fn right(&self) -> Option<Right<'a>> {
        let parts = &self.plan.reward_parts;
        let index = |name: &str| parts.iter().position(|part| part == name);
        if let Some(rule) = &self.plan.questions.pass {
            return Some(Right { name: rule.text(), part: rule.part().and_then(index), given: true });
        }
        let is_right = |name: &String| RIGHT.iter().any(|word| name.to_lowercase().contains(word));
        let part = parts.iter().position(is_right)?;
        Some(Right { name: &parts[part], part: Some(part), given: false })
    }

    /// The first step at which something was damaged.
    pub fn damaged_from(&self) -> Option<i64> {
        self.changes.damage.first().map(|damage| damage.from_step)
    }
}

/// A number behind a cause.
pub fn number(what: &str, value: f64) -> Evidence {
    Evidence { step: None, what: what.into(), value }
}

/// A number at a step.
pub fn at(step: i64, what: &str, value: f64) -> Evidence {
    Evidence { step: Some(step), what: what.into(), value }
}

/// A cause that was found.
pub fn found(
    code: CauseCode,
    confidence: Confidence,
    from_step: Option<i64>,
    message: String,
    hint: &str,
    evidence: Vec<Evidence>,
) -> Finding {
    Finding::Found(Cause { code, confidence, from_step, message, hint: hint.into(), evidence })
}

/// The lower and upper end of the share that `hits` of `tries` tell (Wilson, 99.9 %).
pub fn share_bounds(hits: u64, tries: u64) -> [f64; 2] {
    const Z: f64 = 3.29;
    let (n, p) = (tries.max(1) as f64, hits as f64 / tries.max(1) as f64);
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    [((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)]
}

/// A share in percent, for messages.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 1.0 => format!("{p:.2} %"),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// "1 token", "12 tokens".
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", crate::format::grouped(count), if count == 1 { one } else { many })
}
