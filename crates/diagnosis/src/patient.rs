//! What a cause is looked for in.

use std::collections::BTreeMap;

use super::damage::changes::Changes;
use super::finding::Finding;
use super::responses::right::Right;
use super::signals::series::Series;
use stapo_base::stats::sustained::Change;
use stapo_batch::columns::Column;
use stapo_collect::collect::groups::{GroupTable, group_hash};
use stapo_collect::collect::signs::CollectedSigns;
use stapo_collect::collect::signs::gaps::k3;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_collect::plan::Plan;
use stapo_framework::rules::BASE_CLIP;
use stapo_ingest::Run;
use stapo_ingest::right::RightRule;
use stapo_result::{RunCore, SignalName};

/// Ratios that no clip is taken to mean.
const WIDEST_RATIO: f64 = 2.0;

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
    pub fn series(&self, name: &SignalName) -> Option<&'a Series> {
        self.series.iter().find(|series| series.name == *name)
    }

    /// The lasting changes of a signal.
    pub fn changes_of(&self, name: &SignalName) -> impl Iterator<Item = &'a Change> {
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
