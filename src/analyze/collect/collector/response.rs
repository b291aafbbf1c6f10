//! One response: which of its tokens are trained, and what they add up to.

use super::Collector;
use crate::analyze::collect::block::{BlockInput, BlockSign};
use crate::analyze::collect::columns::Columns;
use crate::analyze::collect::energy::Sign;
use crate::analyze::collect::groups::GroupTally;
use crate::analyze::collect::hash::Mixer;
use crate::analyze::collect::mismatch;
use crate::analyze::collect::tally::{BatchKey, Quantity, ResponseSums};
use crate::error::Result;
use crate::framework::batch::BLOCK;
use crate::ingest::{Column, Id, TokenBatch};

/// What is known of a response beside its tokens.
pub struct Response<'a> {
    /// The batch of responses it is in.
    pub source: &'a TokenBatch,
    /// Its index there.
    pub index: usize,
    /// What its threshold is taken over.
    pub key: BatchKey,
    /// Number of `key` in the worker's table.
    pub batch: usize,
    /// Mini-batch as logged.
    pub update: Option<i64>,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Its hash.
    pub hash: u32,
    /// exp of the mean of ln ρ.
    pub ratio: f32,
    /// The indices of its trained tokens, where not all are.
    pub picks: Option<Vec<u32>>,
}

impl Response<'_> {
    /// The token of the response that trained token `t` is.
    pub fn token(&self, t: usize) -> usize {
        self.picks.as_ref().map_or(t, |picks| picks[t] as usize)
    }

    /// An id, where logged.
    pub fn id(&self, column: Column) -> Id {
        self.source.ids(column).map_or(Id::Missing, |ids| ids[self.index].clone())
    }

    /// Scan unit and ordinal in it.
    pub fn place(&self) -> (u32, u64) {
        (self.source.origin.unit, self.source.origin.first_response + self.index as u64)
    }
}

impl Collector<'_> {
    /// Adds response `index` of `source`.
    pub(super) fn add_response(
        &mut self,
        source: &TokenBatch,
        columns: &Columns<'_>,
        index: usize,
    ) -> Result<()> {
        let range = source.range(index);
        let whole = columns.slice(range.clone());
        let mask = source.mask().map(|mask| &mask[range.clone()]);
        let mut picked = std::mem::take(&mut self.picked);
        let picks = self.pick(&whole, mask, range.len());
        let trained = match &picks {
            Some(picks) => {
                picked.fill(&whole, picks);
                picked.columns()
            }
            None => whole,
        };
        let response = self.describe(source, index, &trained, picks);
        let tally = self.batches.tally(response.batch);
        if let Some(clusters) = &mut self.clusters {
            let (group, sample) = (response.id(Column::GroupId), response.id(Column::SampleId));
            clusters.begin(response.key.step, &group, &sample, response.place(), &tally.counts);
        }
        let in_training = mask.map_or(range.len(), |m| m.iter().filter(|f| **f == 1).count());
        tally.counts.responses += 1;
        tally.counts.tokens += in_training as u64;
        tally.counts.masked_out += (range.len() - in_training) as u64;
        tally.counts.missing += (in_training - trained.len()) as u64;
        let result = self.add_tokens(&response, &trained, &whole);
        if let Some(picks) = response.picks {
            self.picks = picks;
        }
        self.picked = picked;
        result
    }

    /// The indices of the trained tokens that have all values; `None` where all do.
    fn pick(&mut self, whole: &Columns<'_>, mask: Option<&[u8]>, tokens: usize) -> Option<Vec<u32>> {
        let all_trained = mask.is_none_or(|mask| mask.iter().fold(true, |all, flag| all & (*flag == 1)));
        if all_trained && (self.complete || whole.is_complete(tokens)) {
            return None;
        }
        let mut picks = std::mem::take(&mut self.picks);
        picks.clear();
        let trained = |t: &usize| mask.is_none_or(|mask| mask[*t] == 1) && whole.has(*t);
        picks.extend((0..tokens).filter(trained).map(|t| t as u32));
        Some(picks)
    }

    fn describe<'b>(
        &mut self,
        source: &'b TokenBatch,
        index: usize,
        trained: &Columns<'_>,
        picks: Option<Vec<u32>>,
    ) -> Response<'b> {
        let responses = &source.responses;
        let step = responses.step.get(index).copied().unwrap_or(0);
        let update = responses.ints.get(Column::Update).and_then(|updates| updates[index]);
        let key = BatchKey { step, update: update.filter(|_| self.plan.by_update) };
        let id = |column| source.ids(column).map(|ids| &ids[index]);
        let first = |column: &[f32]| column.first().map_or(0, |v| u64::from(v.to_bits()));
        let hash = Mixer::new(step.cast_unsigned())
            .with(update.map_or(0, |u| u.cast_unsigned().wrapping_add(1)))
            .with_id(id(Column::GroupId))
            .with_id(id(Column::SampleId))
            .with(trained.len() as u64)
            .with((first(trained.logprob) << 32) | first(trained.entropy));
        Response {
            source,
            index,
            key,
            batch: self.batches.number_of(key, &self.gates.batches),
            update,
            reward: responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[index]),
            hash: hash.finish(),
            ratio: mean_ratio(trained),
            picks,
        }
    }

    fn add_tokens(
        &mut self,
        response: &Response<'_>,
        trained: &Columns<'_>,
        whole: &Columns<'_>,
    ) -> Result<()> {
        let mut sums = ResponseSums::default();
        if response.reward.is_finite() {
            let reward = f64::from(response.reward);
            self.batches.tally(response.batch).counts.rewarded += 1;
            sums.add(Quantity::Reward, reward);
            sums.add(Quantity::RewardSquare, reward * reward);
        }
        let mut learns = false;
        let mut risk = 0.0;
        let mut first = 0;
        while first < trained.len() {
            let end = trained.len().min(first + BLOCK);
            let columns = trained.slice(first..end);
            let sign = self.add_block(response, &columns, first, &mut sums);
            learns |= sign != BlockSign::Uniform(Sign::Zero);
            if let Some(clusters) = &mut self.clusters {
                clusters.add_block(&self.block.cell[..columns.len()], &columns, sign);
            }
            risk += self.add_rare(response, &columns, whole, first, sign)?;
            first = end;
        }
        let tally = self.batches.tally(response.batch);
        if !trained.logprob_rollout.is_empty() {
            mismatch::add(trained, tally, &mut sums);
        }
        tally.add_sums(&sums);
        if let Some(clusters) = &mut self.clusters {
            clusters.end(response.source, response.index, &tally.counts, &sums);
        }
        if self.keeps && self.gates.kept.admit(trained.len()) {
            tally.kept.add(trained.entropy, trained.advantage);
        }
        if let Some(groups) = response.source.ids(Column::GroupId) {
            let passes = u32::from(response.reward > 0.0);
            let one = GroupTally { responses: 1, passes, learns };
            self.groups.add(response.key.step, &groups[response.index], &one);
        }
        if self.views.admits(risk) {
            self.keep_view(response, whole, risk);
        }
        Ok(())
    }

    fn add_block(
        &mut self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        first: usize,
        sums: &mut ResponseSums,
    ) -> BlockSign {
        let tally = self.batches.tally(response.batch);
        let block = &mut *self.block;
        let level = tally.histogram.level();
        let hashes_all = response.source.tokens.texts.is_some();
        let input = BlockInput { columns: *columns, level, response_hash: response.hash, first, hashes_all };
        let sign = block.compute(&self.plan.kernel, &input, &mut tally.counts, sums);
        let n = columns.len();
        let (bin, cell, energy) = (&block.bin[..n], &block.cell[..n], &block.energy[..n]);
        match sign {
            BlockSign::Uniform(Sign::Zero) => {
                let (histogram, plane) = (tally.histogram.zero(), self.plane.zero());
                for (bin, cell) in bin.iter().zip(cell) {
                    histogram[*bin as usize] += 1;
                    plane[*cell as usize] += 1;
                }
            }
            BlockSign::Uniform(sign) => {
                let (histogram, plane) = (tally.histogram.signed(sign), self.plane.signed(sign));
                for ((bin, cell), energy) in bin.iter().zip(cell).zip(energy) {
                    histogram[*bin as usize].add(*energy);
                    plane[*cell as usize].add(*energy);
                }
            }
            BlockSign::Mixed => {
                for (i, advantage) in columns.advantage.iter().enumerate() {
                    match Sign::of(*advantage) {
                        Sign::Zero => {
                            tally.histogram.zero()[bin[i] as usize] += 1;
                            self.plane.zero()[cell[i] as usize] += 1;
                        }
                        sign => {
                            tally.histogram.signed(sign)[bin[i] as usize].add(energy[i]);
                            self.plane.signed(sign)[cell[i] as usize].add(energy[i]);
                        }
                    }
                }
            }
        }
        self.count_ids(response, columns, first, sign);
        sign
    }

    fn count_ids(&mut self, response: &Response<'_>, columns: &Columns<'_>, first: usize, sign: BlockSign) {
        let ids = columns.token_id;
        let energy = &self.block.energy[..columns.len()];
        let largest = ids.iter().fold(0, |largest, id| largest.max(id.cast_unsigned()));
        let dense = self.vocabulary.reserve(largest);
        match sign {
            BlockSign::Uniform(Sign::Zero) if dense => {
                let counts = self.vocabulary.zero();
                ids.iter().for_each(|id| counts[id.cast_unsigned() as usize] += 1);
            }
            BlockSign::Uniform(sign) if dense => {
                let counts = self.vocabulary.signed(sign);
                for (id, energy) in ids.iter().zip(energy) {
                    counts[id.cast_unsigned() as usize].add(*energy);
                }
            }
            _ => {
                for ((id, energy), advantage) in ids.iter().zip(energy).zip(columns.advantage) {
                    let sign = Sign::of(*advantage);
                    let energy = if sign == Sign::Zero { 0 } else { *energy };
                    self.vocabulary.add(*id, sign, energy);
                }
            }
        }
        if response.source.tokens.texts.is_some() {
            let start = response.source.range(response.index).start;
            for (t, id) in ids.iter().enumerate() {
                if let Some(text) = response.source.token_text(start + response.token(first + t)) {
                    self.vocabulary.note_text(*id, self.block.hash[t], text);
                }
            }
        }
    }
}

/// exp of the mean of ln ρ over a response: the ratio of sequence-level objectives.
#[allow(clippy::cast_possible_truncation)]
fn mean_ratio(trained: &Columns<'_>) -> f32 {
    let differences = trained.logprob_new.iter().zip(trained.logprob).map(|(new, old)| f64::from(new - old));
    let (mut sum, mut known) = (0.0, 0.0);
    for difference in differences.filter(|d| d.is_finite()) {
        sum += difference;
        known += 1.0;
    }
    if known > 0.0 { (sum / known).exp() as f32 } else { 1.0 }
}
