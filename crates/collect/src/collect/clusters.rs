//! Sums by group, and token counts in random groups of them, for comparisons.
//!
//! Memory is bounded: a run with more than `LIMIT` groups keeps fewer bits of each group's hash,
//! so that several groups of a step share a cluster. How many bits depends on the groups alone, not
//! on the order of their responses.

mod tally;

use std::collections::HashMap;

use ndarray::{Array2, Axis};

use self::tally::{ClusterTally, Prompt};
pub use self::tally::{prompt_length, prompt_of, sum_of};
use super::block::{Block, BlockSign};
use super::columns::Columns;
use super::energy::Sign;
use super::plane;
use super::tally::{Counts, Quantity, ResponseSums};
use super::vocabulary::DENSE_IDS;
use stapo_base::simd::{Work, widest};
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::hash::Mixer;
use stapo_result::clusters::{
    Cluster, ClusterSum, ClusterSums, ClusterUnit, REPLICATES, RunClusters, StepClusters,
};

/// Clusters that are kept at most.
const LIMIT: usize = 1 << 18;
/// Bits of a group's hash that are kept, from all to none.
const BITS: [u32; 8] = [64, 16, 13, 10, 7, 5, 3, 0];

/// The hash of what a response is clustered by: its group, else itself.
pub fn cluster_key(step: i64, group: &Id, sample: &Id, place: (u32, u64)) -> u64 {
    let mixer = Mixer::new(step.cast_unsigned());
    match (group, sample) {
        (Id::Missing, Id::Missing) => mixer.with(u64::from(place.0)).with(place.1).word(),
        (Id::Missing, sample) => mixer.with(3).with_id(Some(sample)).word(),
        (group, _) => mixer.with_id(Some(group)).word(),
    }
}

type Key = (i64, u64);

/// The clusters of one worker.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Clusters {
    #[serde(with = "stapo_base::encode::sorted")]
    table: HashMap<Key, ClusterTally>,
    /// Place in [`BITS`].
    level: usize,
    grouped: bool,
    /// Tokens of every cell, a row a random group.
    #[serde(with = "plane_rows")]
    plane: Array2<u64>,
    /// Tokens of every id, by random group: each as long as its largest id asks for.
    ids: [Vec<u64>; REPLICATES],
    /// Responses of a group follow each other: it is looked up once.
    #[serde(skip)]
    open: Option<(Key, ClusterTally)>,
    /// The response that is being added.
    #[serde(skip)]
    key: Key,
    #[serde(skip)]
    replicate: usize,
    #[serde(skip)]
    before: Counts,
    #[serde(skip)]
    risk: f64,
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
            table: HashMap::new(),
            level: 0,
            grouped: false,
            plane: Array2::zeros((REPLICATES, plane::CELLS)),
            ids: Default::default(),
            open: None,
            key: (0, 0),
            replicate: 0,
            before: Counts::default(),
            risk: 0.0,
        }
    }
}

impl Clusters {
    /// Begins a response; `counts` are those of its batch before it.
    pub fn begin(&mut self, step: i64, group: &Id, sample: &Id, place: (u32, u64), counts: &Counts) {
        let hash = cluster_key(step, group, sample, place);
        self.grouped |= *group != Id::Missing;
        self.key = (step, hash);
        self.replicate = (hash >> 60) as usize % REPLICATES;
        self.before.clone_from(counts);
        self.risk = 0.0;
    }

    /// Adds a block of its tokens.
    pub fn add_block(&mut self, block: &Block, columns: &Columns<'_>, sign: BlockSign) {
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
        // Only tokens with A > 0 carry risk.
        if !matches!(sign, BlockSign::Uniform(Sign::Zero | Sign::Negative)) {
            self.risk += widest(Risk(columns));
        }
    }

    /// Ends the response; `counts` are those of its batch with it.
    pub fn end(&mut self, source: &TokenBatch, index: usize, counts: &Counts, sums: &ResponseSums) {
        let old = &self.before;
        let (positive, negative) = (counts.positive - old.positive, counts.negative - old.negative);
        let zero = counts.zero - old.zero;
        let known = self.open.as_ref().is_some_and(|(key, _)| *key == self.key);
        let prompt = if known { None } else { prompt_of(source, index) };
        let one = ClusterTally {
            prompt: prompt.map_or(Prompt::Unknown, Prompt::One),
            counts: [
                counts.responses - old.responses,
                counts.rewarded - old.rewarded,
                counts.tokens - old.tokens,
                positive + negative + zero,
                positive,
                zero,
                counts.clipped - old.clipped,
            ],
            sums: [
                sums.get(Quantity::Reward),
                sums.get(Quantity::Entropy),
                sums.get(Quantity::PositiveEnergy),
                sums.get(Quantity::NegativeEnergy),
                self.risk,
            ]
            .map(sum_of),
        };
        match &mut self.open {
            Some((_, open)) if known => open.merge(&one),
            _ => {
                self.close();
                self.open = Some((self.key, one));
            }
        }
    }

    /// Whether its tables fit together.
    pub fn fits(&self) -> bool {
        self.level < BITS.len() && self.ids.iter().all(|table| table.len() <= DENSE_IDS)
    }

    /// Ends the group that is open: a prompt that follows is looked at anew.
    pub fn close(&mut self) {
        if let Some((key, tally)) = self.open.take() {
            self.add(key, &tally);
        }
    }

    fn add(&mut self, key: Key, tally: &ClusterTally) {
        self.table.entry((key.0, kept(key.1, self.level))).or_default().merge(tally);
        if self.table.len() > LIMIT {
            self.coarsen(self.level + 1);
        }
    }

    /// Keeps fewer bits, until the clusters fit.
    fn coarsen(&mut self, level: usize) {
        let level = level.min(BITS.len() - 1);
        if level > self.level {
            self.level = level;
            let old = std::mem::take(&mut self.table);
            for (key, tally) in old {
                self.table.entry((key.0, kept(key.1, level))).or_default().merge(&tally);
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
        other.table.iter().for_each(|(key, tally)| self.add(*key, tally));
        self.grouped |= other.grouped;
        self.plane += &other.plane;
        for (into, from) in self.ids.iter_mut().zip(&other.ids) {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        }
    }

    /// The result. `candidates` calls back with the key of each candidate's cluster, whether it is
    /// silenced, and its energy.
    pub fn finish<E>(
        mut self,
        candidates: impl FnOnce(&mut dyn FnMut(i64, u64, bool, f64)) -> Result<(), E>,
    ) -> Result<RunClusters, E> {
        self.close();
        let level = self.level;
        let mut all: Vec<(Key, Prompt, ClusterSums)> =
            self.table.iter().map(|(key, tally)| (*key, tally.prompt, tally.finish())).collect();
        all.sort_unstable_by_key(|(key, ..)| *key);
        candidates(&mut |step, hash, silenced, energy| {
            let cluster = (step, kept(hash, level));
            if let Ok(at) = all.binary_search_by_key(&cluster, |(key, ..)| *key) {
                let sums = &mut all[at].2;
                sums[ClusterSum::Candidates as usize] += 1.0;
                sums[ClusterSum::Silenced as usize] += f64::from(u8::from(silenced));
                let kind = if silenced { ClusterSum::SilencedEnergy } else { ClusterSum::ExploratoryEnergy };
                sums[kind as usize] += energy;
            }
        })?;
        let mut steps: Vec<StepClusters> = Vec::new();
        for ((step, _), prompt, sums) in all {
            if steps.last().is_none_or(|last| last.step != step) {
                steps.push(StepClusters { step, clusters: Vec::new() });
            }
            let prompt = match prompt {
                Prompt::One(hash) => Some(hash),
                Prompt::Unknown | Prompt::Several => None,
            };
            if let Some(last) = steps.last_mut() {
                last.clusters.push(Cluster { prompt, sums });
            }
        }
        let ids = self.ids.iter().map(Vec::len).max().unwrap_or(0);
        Ok(RunClusters {
            steps,
            unit: if self.grouped { ClusterUnit::Group } else { ClusterUnit::Response },
            coarse: level > 0,
            plane: occupied(plane::CELLS, |r, cell| self.plane[[r, cell]])
                .map(|(cell, counts)| (plane::place(cell), counts))
                .collect(),
            ids: occupied(ids, |r, id| self.ids[r].get(id).copied().unwrap_or(0))
                .map(|(id, counts)| (id as i32, counts))
                .collect(),
            ..RunClusters::default()
        })
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

/// The bits of a hash that are kept, in their place: keeping fewer of a hash that was already
/// shortened is the same as keeping them of the whole one.
fn kept(hash: u64, level: usize) -> u64 {
    hash & u64::MAX.checked_shl(64 - BITS[level]).unwrap_or(0)
}

/// The risk of a block, in lanes that vectorise.
struct Risk<'a, 'b>(&'a Columns<'b>);

impl Work for Risk<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        const WIDTH: usize = 8;
        let Columns { logprob, entropy, advantage, .. } = self.0;
        let one = |l: f32, h: f32, a: f32| {
            let excess = -l - h;
            if a > 0.0 && excess > 0.0 { f64::from(excess) } else { 0.0 }
        };
        let (l, l_rest) = logprob.as_chunks::<WIDTH>();
        let (h, h_rest) = entropy.as_chunks::<WIDTH>();
        let (a, a_rest) = advantage.as_chunks::<WIDTH>();
        let mut lanes = [0.0; WIDTH];
        for (l, (h, a)) in l.iter().zip(h.iter().zip(a)) {
            for i in 0..WIDTH {
                lanes[i] += one(l[i], h[i], a[i]);
            }
        }
        let rest = l_rest.iter().zip(h_rest.iter().zip(a_rest)).map(|(l, (h, a))| one(*l, *h, *a));
        lanes.iter().sum::<f64>() + rest.sum::<f64>()
    }
}

#[cfg(test)]
mod tests;
