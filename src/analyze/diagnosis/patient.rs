//! What a cause is looked for in.

use std::collections::BTreeMap;

use super::damage::Changes;
pub use super::right::Right;
use super::signal::Series;
pub use super::words::{measured, percent};
use crate::analyze::collect::groups::{GroupTable, group_hash};
use crate::analyze::collect::signs::CollectedSigns;
use crate::analyze::collect::signs::gaps::k3;
use crate::analyze::collect::signs::response_facts::ResponseFact;
use crate::analyze::plan::Plan;
use crate::analyze::result::{Cause, CauseCode, Confidence, Evidence, RunCore};
use crate::analyze::right::RightRule;
pub use crate::format::counted;
use crate::format::is_invisible;
use crate::framework::rules::BASE_CLIP;
use crate::ingest::{Column, Run};
use crate::stats::sustained::Change;

/// Ratios that no clip is taken to mean.
const WIDEST_RATIO: f64 = 2.0;
/// Characters of an id in a sentence.
const LONGEST_ID: usize = 40;
/// Bytes of an id in a command: hashes of 512 bits.
const LONGEST_WORD: usize = 128;

/// A run and everything that was found so far.
pub struct Patient<'a> {
    /// The run.
    pub run: &'a Run,
    /// Resolved settings.
    pub plan: &'a Plan,
    /// What is right, where the run has a rule for it.
    pub rule: Option<&'a RightRule>,
    /// All groups.
    pub all_groups: &'a GroupTable,
    /// What was collected for the diagnosis.
    pub signs: &'a CollectedSigns,
    /// The rest of the result.
    pub analysis: &'a RunCore,
    /// Signals over the steps.
    pub series: &'a [Series],
    /// Their lasting changes.
    pub changes: &'a Changes,
}

/// What looking for a cause gives.
pub enum Finding {
    /// It is not there.
    Absent,
    /// The log cannot tell: what it would need.
    NotChecked(&'static str),
    /// The columns are there, but there is too little of them: what it would need.
    TooFew(&'static str),
    /// It is there.
    Found(Cause),
}

impl Finding {
    /// Whether it is there, and likely.
    pub fn is_likely(&self) -> bool {
        matches!(self, Self::Found(cause) if cause.confidence == Confidence::Likely)
    }

    /// The step from which on it is there, where it is and that is known.
    pub fn first_step(&self) -> Option<i64> {
        match self {
            Self::Found(cause) => cause.from_step,
            _ => None,
        }
    }

    /// The same of a cause that shows no more from a step on, where that is known.
    pub fn before(mut self, step: Option<i64>) -> Self {
        if let Self::Found(cause) = &mut self {
            cause.before_step = step;
        }
        self
    }
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

    /// Whether responses have siblings: a log may name a group for each of them.
    pub fn has_siblings(&self) -> bool {
        self.signs.facts.have_siblings()
    }

    /// Whether groups are logged: a column of them may hold nothing.
    pub fn knows_groups(&self) -> bool {
        let responses = &self.signs.facts.responses;
        self.has(Column::GroupId) && (responses.is_empty() || responses.iter().any(|fact| !fact.alone))
    }

    /// What is found where only siblings could tell, and they said nothing.
    pub fn nothing_among_siblings(&self) -> Finding {
        match (self.has_siblings(), self.knows_groups()) {
            (true, _) => Finding::Absent,
            (false, true) => Finding::NotChecked("several responses a prompt, to hold against each other"),
            (false, false) => Finding::NotChecked("group_id"),
        }
    }

    /// What responses are held against each other in: groups, or steps where there are no siblings.
    pub fn units(&self) -> Box<dyn Iterator<Item = &'a [ResponseFact]> + 'a> {
        self.signs.facts.units()
    }

    /// The ids of groups, by the hash that responses know them by.
    pub fn names_of(&self, hashes: &[u64]) -> BTreeMap<u64, String> {
        let named = self.all_groups.by_id().map(|(step, id, _)| (group_hash(step, id).word(), id));
        named.filter(|(hash, _)| hashes.contains(hash)).map(|(hash, id)| (hash, id.to_string())).collect()
    }

    /// A signal.
    pub fn series(&self, name: &str) -> Option<&'a Series> {
        self.series.iter().find(|series| series.name == name)
    }

    /// The lasting changes of a signal.
    pub fn changes_of(&self, name: &str) -> impl Iterator<Item = &'a Change> {
        self.changes.found.iter().filter(move |(known, _)| known == name).map(|(_, change)| change)
    }

    /// What says whether an answer is right.
    pub fn right(&self) -> Option<Right<'a>> {
        Right::of_run(self.rule, self.plan, &self.signs.facts.responses)
    }

    /// k3 of a ratio at the edge of the clip: as far as it lets a single update take a token. A clip that is
    /// next to none lets it go anywhere: probabilities that double are far for any.
    pub fn clip_edge(&self) -> f64 {
        let clip = self.plan.clip.unwrap_or(BASE_CLIP);
        k3((1.0 + clip.high).ln()).max(k3((1.0 - clip.low).max(1e-3).ln())).min(Self::widest_edge())
    }

    /// What that edge is in words.
    pub fn clip_edge_told(&self) -> String {
        let edge = self.clip_edge();
        match edge < Self::widest_edge() {
            true => format!("the edge of the clip is {edge:.3}"),
            false => format!("where probabilities double, it is {edge:.3}"),
        }
    }

    fn widest_edge() -> f64 {
        k3(WIDEST_RATIO.ln())
    }

    /// The first step at which something was damaged.
    pub fn damaged_from(&self) -> Option<i64> {
        self.changes.damage.first().map(|damage| damage.from_step)
    }
}

/// An id as a sentence can hold it.
pub fn short(id: &str) -> String {
    match id.char_indices().nth(LONGEST_ID) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}

/// An id as a shell takes it for one word, whatever a log holds; `None` where a reader could not copy it.
pub fn shell_word(id: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    let can_be_copied = id.len() <= LONGEST_WORD && !id.chars().any(is_invisible);
    match id.chars().all(is_plain) {
        _ if !can_be_copied => None,
        true => Some(id.to_owned()),
        false => Some(format!("'{}'", id.replace('\'', r"'\''"))),
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
    Finding::Found(Cause {
        code,
        confidence,
        from_step,
        before_step: None,
        message,
        hint: hint.into(),
        evidence,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_not_shown_as_it_is_gives_no_command() {
        assert_eq!(shell_word("a-1:2").as_deref(), Some("a-1:2"));
        assert_eq!(shell_word("it's").as_deref(), Some(r"'it'\''s'"));
        for hidden in ["a\nb", "\u{1b}[31m", "\u{202e}rev", "a\u{200b}b"] {
            assert_eq!(shell_word(hidden), None, "{hidden:?}");
        }
    }

    #[test]
    fn numbers_of_any_size_can_be_read() {
        assert_eq!(measured(0.0314, 3), "0.031");
        assert_eq!(measured(1129.4, 0), "1129");
        assert_eq!(measured(0.0038, 2), "3.8e-3");
        assert_eq!(measured(0.0, 2), "0.00");
        assert_eq!(measured(1.79e40, 3), "1.8e40");
        assert_eq!(measured(f64::INFINITY, 3), "∞");
    }
}
