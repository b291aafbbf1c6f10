//! Totals of groups, and token counts in random groups of them, for comparisons.
//!
//! Memory is bounded: a run with more than `LIMIT` groups keeps fewer bits of each group's hash,
//! so that several groups of a step share their totals. How many bits depends on the groups alone, not
//! on the order of their responses.

use std::collections::BTreeMap;

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::columns::Columns;
use super::groups::{Highest, right_by};
use super::plane;
use super::tally::{Counts, Quantity, ResponseSums};
use super::vocabulary::DENSE_IDS;
use stapo_batch::batch::Id;
use stapo_batch::hash::Mixer;
use stapo_ingest::right::RightRule;
use stapo_levels::{GroupKey, RunGroups, Totals};
use stapo_result::clusters::{REPLICATES, RunClusters};

/// Groups that are kept at most.
const LIMIT: usize = 1 << 18;
/// Bits of a group's hash that are kept, from all to none; of the last kind tasks are not told apart either.
const BITS: [u32; 8] = [64, 16, 13, 10, 7, 5, 3, 0];
/// Letters of the name of a task that are kept; the hash of a longer name stands for its end.
const TASK: usize = 64;

/// The hash of what a response is clustered by: its group, else itself.
pub fn cluster_key(step: i64, group: &Id, sample: &Id, place: (u32, u64)) -> u64 {
    let mixer = Mixer::new(step.cast_unsigned());
    match (group, sample) {
        (Id::Missing, Id::Missing) => mixer.with(u64::from(place.0)).with(place.1).word(),
        (Id::Missing, sample) => mixer.with(3).with_id(Some(sample)).word(),
        (group, _) => mixer.with_id(Some(group)).word(),
    }
}

/// What is known of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct GroupSums {
    totals: Totals,
    /// The highest reward, and the highest of what says which are right.
    highest: [Highest; 2],
}

impl GroupSums {
    fn merge(&mut self, other: &Self) {
        self.totals.merge(&other.totals);
        self.highest.iter_mut().zip(&other.highest).for_each(|(a, b)| a.merge(b));
    }

    fn of_reward(mut totals: Totals, [reward, verdict]: [f32; 2]) -> Self {
        totals.add_reward(f64::from(reward));
        Self { totals, highest: [Highest::of(reward), Highest::of(verdict)] }
    }
}

/// The groups of one worker.
#[derive(Serialize, Deserialize)]
pub struct Clusters {
    table: BTreeMap<GroupKey, GroupSums>,
    /// Place in [`BITS`].
    level: usize,
    /// Responses that stand for themselves.
    alone: u64,
    /// Tokens of every cell, a row a random group.
    #[serde(with = "plane_rows")]
    plane: Array2<u64>,
    /// Tokens of every id, by random group: each as long as its largest id asks for.
    ids: [Vec<u64>; REPLICATES],
    /// Responses of a group follow each other: it is looked up once.
    #[serde(skip)]
    open: Option<(GroupKey, GroupSums)>,
    /// The response that is being added.
    #[serde(skip)]
    key: GroupKey,
    /// Whether its group is logged.
    #[serde(skip)]
    grouped: bool,
    #[serde(skip)]
    replicate: usize,
    #[serde(skip)]
    before: Counts,
}

/// The plane's rows one after another.
mod plane_rows {
    use ndarray::Array2;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{REPLICATES, plane};

    pub fn serialize<S: Serializer>(rows: &Array2<u64>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(rows.iter().collect::<Vec<_>>())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Array2<u64>, D::Error> {
        let cells = Vec::<u64>::deserialize(from)?;
        Array2::from_shape_vec((REPLICATES, plane::CELLS), cells).map_err(serde::de::Error::custom)
    }
}

impl Default for Clusters {
    fn default() -> Self {
        Self {
            table: BTreeMap::new(),
            level: 0,
            alone: 0,
            plane: Array2::zeros((REPLICATES, plane::CELLS)),
            ids: Default::default(),
            open: None,
            key: GroupKey::default(),
            grouped: false,
            replicate: 0,
            before: Counts::default(),
        }
    }
}

impl Clusters {
    /// Begins a response with the ids of its group and of itself; `counts` are those of its batch before it.
    pub fn begin(
        &mut self,
        step: i64,
        task: &str,
        [group, sample]: [&Id; 2],
        place: (u32, u64),
        counts: &Counts,
    ) {
        let hash = cluster_key(step, group, sample, place);
        self.grouped = *group != Id::Missing;
        (self.key.step, self.key.group) = (step, hash);
        name_task(&mut self.key.task, task);
        self.replicate = (hash >> 60) as usize % REPLICATES;
        self.before.clone_from(counts);
    }

    /// Adds a block of its tokens.
    pub fn add_block(&mut self, block: &Block, columns: &Columns<'_>) {
        let cells = &block.cell[..columns.len()];
        let mut plane = self.plane.row_mut(self.replicate);
        let (plane, ids) = (plane.as_slice_mut().unwrap_or_default(), &mut self.ids[self.replicate]);
        let mut largest = block.largest_id as usize;
        if largest >= DENSE_IDS {
            // Missing or absurd: the others count.
            let known = columns.token_id.iter().filter_map(|id| usize::try_from(*id).ok());
            largest = known.filter(|id| *id < DENSE_IDS).max().unwrap_or(0);
        }
        if largest >= ids.len() {
            ids.resize((largest + 1).next_power_of_two().max(1024), 0);
        }
        if columns.token_id.len() == cells.len() && (block.largest_id as usize) < ids.len() {
            // Side by side, since each waits for its own last addition.
            for (cell, id) in cells.iter().zip(columns.token_id) {
                plane[*cell as usize] += 1;
                ids[id.cast_unsigned() as usize] += 1;
            }
        } else {
            cells.iter().for_each(|cell| plane[*cell as usize] += 1);
            for id in columns.token_id {
                if let Some(count) = ids.get_mut(id.cast_unsigned() as usize) {
                    *count += 1;
                }
            }
        }
    }

    /// Ends the response with its reward and what says whether it is right; `counts` are those of its batch with it.
    pub fn end(
        &mut self,
        counts: &Counts,
        sums: &ResponseSums,
        rewards: [f32; 2],
        prompt: impl FnOnce() -> Option<u64>,
    ) {
        let old = &self.before;
        let signs = |counts: &Counts| counts.positive + counts.negative + counts.zero;
        let is_open = self.grouped && self.open.as_ref().is_some_and(|(key, _)| *key == self.key);
        let mut totals = Totals {
            responses: 1,
            length: counts.tokens - old.tokens,
            entropy_tokens: signs(counts) - signs(old),
            prompt: if is_open { None } else { prompt() },
            ..Totals::default()
        };
        totals.entropy.add(sums.get(Quantity::Entropy));
        let prompt = totals.prompt;
        let one = GroupSums::of_reward(totals, rewards);
        match &mut self.open {
            Some((_, open)) if is_open => open.merge(&one),
            _ => {
                self.close();
                let mut key = self.key.clone();
                key.group = self.group_of(self.grouped.then_some(key.group), prompt, key.step, key.group);
                self.open = Some((key, one));
            }
        }
    }

    /// The hash of the group of a response: of its prompt where no group is logged, else of itself alone.
    fn group_of(&mut self, group: Option<u64>, prompt: Option<u64>, step: i64, own: u64) -> u64 {
        let by_prompt = || prompt.map(|prompt| Mixer::new(step.cast_unsigned()).with(5).with(prompt).word());
        group.or_else(by_prompt).unwrap_or_else(|| {
            self.alone += 1;
            own
        })
    }

    /// Adds a response of evaluation: only its reward is known.
    pub fn add_held_out(
        &mut self,
        step: i64,
        task: &str,
        group: Option<u64>,
        prompt: Option<u64>,
        own: u64,
        reward: f32,
    ) {
        let mut key = GroupKey { held_out: true, step, ..GroupKey::default() };
        name_task(&mut key.task, task);
        key.group = self.group_of(group, prompt, step, own);
        let totals = Totals { responses: 1, prompt, ..Totals::default() };
        self.add(key, &GroupSums::of_reward(totals, [reward, f32::NAN]));
    }

    /// Whether its tables fit together.
    pub fn fits(&self) -> bool {
        self.level < BITS.len() && self.ids.iter().all(|table| table.len() <= DENSE_IDS)
    }

    /// Ends the group that is open: a prompt that follows is looked at anew.
    pub fn close(&mut self) {
        if let Some((key, sums)) = self.open.take() {
            self.add(key, &sums);
        }
    }

    fn add(&mut self, key: GroupKey, sums: &GroupSums) {
        self.table.entry(kept(key, self.level)).or_default().merge(sums);
        if self.table.len() > LIMIT {
            self.coarsen(self.level + 1);
        }
    }

    /// Keeps fewer bits, until the groups fit.
    fn coarsen(&mut self, level: usize) {
        let level = level.min(BITS.len() - 1);
        if level > self.level {
            self.level = level;
            for (key, sums) in std::mem::take(&mut self.table) {
                self.table.entry(kept(key, level)).or_default().merge(&sums);
            }
        }
        if self.table.len() > LIMIT && level + 1 < BITS.len() {
            self.coarsen(level + 1);
        }
    }

    /// Tokens of every cell.
    pub fn tokens_by_cell(&self) -> Vec<u64> {
        self.plane.sum_axis(Axis(0)).to_vec()
    }

    /// Tokens of every id.
    pub fn tokens_by_id(&self) -> Vec<u64> {
        let mut sums = vec![0; self.ids.iter().map(Vec::len).max().unwrap_or(0)];
        for table in &self.ids {
            sums.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, mut other: Self) {
        self.close();
        other.close();
        self.coarsen(other.level);
        other.table.into_iter().for_each(|(key, sums)| self.add(key, &sums));
        self.alone += other.alone;
        self.plane += &other.plane;
        for (into, from) in self.ids.iter_mut().zip(&other.ids) {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        }
    }

    /// The result, with right answers where something says which they are.
    pub fn finish(mut self, rule: Option<&RightRule>) -> RunClusters {
        self.close();
        let coarse = self.level > 0;
        let mut groups = RunGroups::default();
        groups.add_lone(self.alone);
        for (key, GroupSums { mut totals, highest: [rewards, verdicts] }) in std::mem::take(&mut self.table) {
            if let Some(rule) = rule.filter(|_| !key.held_out) {
                let (right, judged) = right_by(rule, [&rewards, &verdicts]);
                (totals.right, totals.judged) = (right.into(), judged.into());
            }
            if coarse {
                totals.prompt = None;
            }
            groups.add_group(key, &totals);
        }
        let ids = self.ids.iter().map(Vec::len).max().unwrap_or(0);
        RunClusters {
            groups,
            coarse,
            plane: occupied(plane::CELLS, |r, cell| self.plane[[r, cell]])
                .map(|(cell, counts)| (plane::place(cell), counts))
                .collect(),
            ids: occupied(ids, |r, id| self.ids[r].get(id).copied().unwrap_or(0))
                .map(|(id, counts)| (id as i32, counts))
                .collect(),
        }
    }
}

/// Writes the name of a task over another, cut where it is long.
fn name_task(into: &mut String, task: &str) {
    into.clear();
    match task.char_indices().nth(TASK) {
        None => into.push_str(task),
        Some((end, _)) => {
            let hash = Mixer::new(7).with_id(Some(&Id::Text(task.into()))).word();
            into.push_str(&task[..end]);
            into.push_str(&format!("…{hash:016x}"));
        }
    }
}

/// The places that hold tokens, with their counts in each random group.
fn occupied(
    places: usize,
    count: impl Fn(usize, usize) -> u64,
) -> impl Iterator<Item = (usize, [u64; REPLICATES])> {
    let at = move |place: usize| std::array::from_fn(|r| count(r, place));
    (0..places).map(move |place| (place, at(place))).filter(|(_, c)| c.iter().any(|c| *c > 0))
}

/// The key with the bits of its hash that are kept, in their place: keeping fewer of a hash that was already
/// shortened is the same as keeping them of the whole one.
fn kept(mut key: GroupKey, level: usize) -> GroupKey {
    key.group &= u64::MAX.checked_shl(64 - BITS[level]).unwrap_or(0);
    if BITS[level] == 0 {
        key.task.clear();
    }
    key
}

#[cfg(test)]
mod tests;
