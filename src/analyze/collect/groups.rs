//! Groups: the responses to one prompt within a step.

use std::collections::HashMap;

use crate::ingest::Id;

/// One group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTally {
    /// Responses.
    pub responses: u32,
    /// Responses with a reward above 0.
    pub passes: u32,
    /// Whether any token has an advantage.
    pub learns: bool,
}

impl GroupTally {
    /// Adds responses.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.passes += other.passes;
        self.learns |= other.learns;
    }
}

/// All groups by step and id.
#[derive(Debug, Default)]
pub struct GroupTable {
    groups: HashMap<(i64, Id), GroupTally>,
    /// Responses of a group follow each other: it is looked up once.
    open: Option<((i64, Id), GroupTally)>,
}

impl GroupTable {
    /// Adds a response.
    pub fn add(&mut self, step: i64, group: &Id, response: &GroupTally) {
        match &mut self.open {
            Some((key, tally)) if key.0 == step && key.1 == *group => tally.merge(response),
            _ => {
                self.close();
                self.open = Some(((step, group.clone()), *response));
            }
        }
    }

    fn close(&mut self) {
        if let Some((key, tally)) = self.open.take() {
            self.groups.entry(key).or_default().merge(&tally);
        }
    }

    /// Adds the groups of another worker.
    pub fn merge(&mut self, mut other: Self) {
        self.close();
        other.close();
        if self.groups.is_empty() {
            self.groups = other.groups;
            return;
        }
        for (key, tally) in other.groups {
            self.groups.entry(key).or_default().merge(&tally);
        }
    }

    /// A group; only after [`Self::merge`].
    pub fn get(&self, step: i64, group: &Id) -> Option<GroupTally> {
        self.groups.get(&(step, group.clone())).copied()
    }

    /// Steps and tallies of all groups.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &GroupTally)> {
        self.groups.iter().map(|((step, _), tally)| (*step, tally))
    }
}
