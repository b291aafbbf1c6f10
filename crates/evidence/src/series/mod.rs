//! Reward, its parts and other values of responses by group: what the state of a run is judged by.
//!
//! The judge asks for means and squares of group means by step and slice, after values were drawn in to quantiles of
//! the whole run, and asks again for the steps before and after the reward was redefined. Neither can be answered
//! from sums a step, so the distinct values of a group are kept with their counts: a reward of 0 and 1 costs two
//! numbers a group, however many responses it has. Logs beyond [`BOUND`] keep the groups with the smallest hashes,
//! which is a sample that no value had a part in, and the same one however the log is split: a group whose
//! predecessors fill the bound in one piece has them in front of it in the whole, too. Below the bound nothing is lost.

mod values;

use self::values::Values;
use crate::hash::mix;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use std::collections::BTreeMap;

/// Distinct values that are kept in all, a group itself counted as `GROUP`: some 35 MB, 170,000 groups of one
/// reward of 0 and 1.
pub const BOUND: u64 = 1 << 20;
/// What a group costs beside its values.
const GROUP: u64 = 4;

/// What one row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Form {
    /// A response.
    #[default]
    Responses,
    /// The mean of a step, as trackers log it: its spread is not the reward's.
    Curve,
}

/// The values of a run by series, slice, step and group. Merges in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    form: Form,
    /// Names of the series, ascending.
    names: Vec<String>,
    /// Series of the n-th pushed value; empty where that is n.
    #[serde(skip)]
    order: Vec<u16>,
    /// Names of the slices by their hashes.
    slices: BTreeMap<u64, String>,
    /// By the hash of step, slice and id.
    groups: BTreeMap<u64, Group>,
    /// Groups from this hash on are not kept.
    cut: u64,
    /// Cost of the groups that are kept.
    cost: u64,
    responses: u64,
    bound: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Group {
    step: i64,
    slice: u64,
    responses: u32,
    values: Values,
}

impl Group {
    fn cost(&self) -> u64 {
        GROUP + self.values.len() as u64
    }
}

/// One group, as the judge sees it.
#[derive(Clone, Copy, Debug)]
pub struct GroupValues<'a> {
    /// Trainer step.
    pub step: i64,
    /// Task or data source, "" where the log names none.
    pub slice: &'a str,
    /// Responses, those without a value included.
    pub responses: u32,
    values: &'a Values,
}

impl<'a> GroupValues<'a> {
    /// The distinct values of a series, ascending, and how often each came.
    pub fn of(&self, series: usize) -> impl Iterator<Item = (f32, u32)> + use<'a> {
        self.values.of(series)
    }
}

impl Default for Observed {
    fn default() -> Self {
        Self::new(Form::default(), &[])
    }
}

impl Observed {
    /// Nothing yet, of the named series ("reward", "reward/part", …).
    #[must_use]
    pub fn new(form: Form, names: &[&str]) -> Self {
        Self::bounded(form, names, BOUND)
    }

    /// The same with a lower bound than [`BOUND`].
    #[must_use]
    pub fn bounded(form: Form, names: &[&str], bound: u64) -> Self {
        let mut sorted: Vec<String> = names.iter().map(ToString::to_string).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let order = names.iter().map(|name| place(&sorted, name)).collect();
        Self {
            form,
            names: sorted,
            order,
            slices: BTreeMap::new(),
            groups: BTreeMap::new(),
            cut: u64::MAX,
            cost: 0,
            responses: 0,
            bound: bound.min(BOUND),
        }
    }

    /// Adds a response: its values in the order of the names; NaN and infinities are missing.
    ///
    /// Groups are told apart by step, slice and id: ids that start anew in each data source are no accident to guard
    /// against.
    pub fn push(&mut self, step: i64, group: u64, slice: &str, values: &[f32]) {
        self.responses += 1;
        let slice_hash = text_hash(slice);
        let key = mix(mix(step.cast_unsigned(), group), slice_hash);
        if key >= self.cut {
            return;
        }
        let mut cost = 0;
        let kept = self.groups.entry(key).or_insert_with(|| {
            cost += GROUP;
            Group { step, slice: slice_hash, responses: 0, values: Values::default() }
        });
        kept.responses = kept.responses.saturating_add(1);
        let before = kept.values.len();
        for (at, &value) in values.iter().enumerate() {
            let series = self.order.get(at).copied().unwrap_or(u16::try_from(at).unwrap_or(u16::MAX));
            if usize::from(series) < self.names.len() {
                kept.values.add(series, value, 1);
            }
        }
        cost += (kept.values.len() - before) as u64;
        self.slices.entry(slice_hash).or_insert_with(|| slice.to_string());
        self.cost += cost;
        // With slack, so that trimming is rare.
        if self.cost > self.bound + self.bound / 4 {
            self.trim();
        }
    }

    /// Adds what another piece of the log holds.
    fn join(&mut self, mut other: Self) {
        if self.names != other.names {
            self.share_names(&mut other);
        }
        self.form = self.form.max(other.form);
        self.bound = self.bound.min(other.bound);
        self.responses += other.responses;
        self.cut = self.cut.min(other.cut);
        self.slices.append(&mut other.slices);
        for (key, group) in other.groups {
            if key >= self.cut {
                break;
            }
            match self.groups.entry(key) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(group);
                }
                std::collections::btree_map::Entry::Occupied(mut same) => {
                    let same = same.get_mut();
                    same.responses = same.responses.saturating_add(group.responses);
                    same.values.merge(&group.values);
                }
            }
        }
        self.trim();
    }

    /// Responses or curves of means.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Names of the series, ascending.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Responses that were pushed, kept or not.
    #[must_use]
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// Responses of the groups that are kept: all of them unless the log is beyond the bound.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.groups().map(|group| u64::from(group.responses)).sum()
    }

    /// The groups that are kept, in the order of their hashes.
    pub fn groups(&self) -> impl Iterator<Item = GroupValues<'_>> {
        let mut cost = 0;
        self.groups
            .range(..self.cut)
            .map(|(_, group)| group)
            .take_while(move |group| {
                cost += group.cost();
                cost <= self.bound
            })
            .map(|group| GroupValues {
                step: group.step,
                slice: self.slices.get(&group.slice).map_or("", String::as_str),
                responses: group.responses,
                values: &group.values,
            })
    }

    /// Drops the groups that are beyond the bound, and slices that are named by none.
    fn trim(&mut self) {
        let mut cost = 0;
        let mut fits = 0;
        for (key, group) in self.groups.range(..self.cut) {
            cost += group.cost();
            if cost > self.bound {
                self.cut = *key;
                break;
            }
            fits = cost;
        }
        self.groups.split_off(&self.cut);
        self.cost = fits;
        if self.cut < u64::MAX {
            let used: std::collections::BTreeSet<u64> =
                self.groups.values().map(|group| group.slice).collect();
            self.slices.retain(|slice, _| used.contains(slice));
        }
    }

    /// Makes both name the same series: pieces of a log need not have the same columns.
    fn share_names(&mut self, other: &mut Self) {
        let mut names = self.names.clone();
        names.extend(other.names.iter().cloned());
        names.sort_unstable();
        names.dedup();
        for piece in [self, other] {
            let to: Vec<u16> = piece.names.iter().map(|name| place(&names, name)).collect();
            let renamed = |series: &u16| to.get(usize::from(*series)).copied().unwrap_or(u16::MAX);
            if piece.order.is_empty() {
                piece.order.clone_from(&to);
            } else {
                piece.order = piece.order.iter().map(renamed).collect();
            }
            piece.groups.values_mut().for_each(|group| group.values.rename(renamed));
            piece.names.clone_from(&names);
        }
    }
}

impl Accumulate for Observed {
    fn merge(&mut self, other: Self) {
        self.join(other);
    }

    /// From here on nothing is pushed.
    fn settle(&mut self) {
        self.trim();
        self.order.clear();
    }
}

fn place(names: &[String], name: &str) -> u16 {
    names.iter().position(|n| n == name).and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX)
}

/// FNV-1a; [`mix`] spreads it.
fn text_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
