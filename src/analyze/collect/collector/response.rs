//! One response: which of its tokens are trained, and what they add up to.

use super::Collector;
use super::rises::Rises;
use crate::analyze::collect::block::{BlockInput, BlockSign};
use crate::analyze::collect::clusters::{cluster_key, sum_of};
use crate::analyze::collect::columns::Columns;
use crate::analyze::collect::energy::Sign;
use crate::analyze::collect::groups::{GroupTally, Highest, group_hash};
use crate::analyze::collect::mismatch;
use crate::analyze::collect::questions::Asked;
use crate::analyze::collect::rows::Row;
use crate::analyze::collect::tally::{BatchKey, Quantity, ResponseSums};
use crate::analyze::plan::Purpose;
use crate::error::Result;
use crate::framework::batch::BLOCK;
use crate::ingest::{Column, Id, MISSING_ID, Mixer, TokenBatch};
use crate::simd::widest;

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
    /// exp of the mean of ln ρ: the ratio of sequence-level objectives; 1 where not logged.
    pub ratio: f32,
    /// The largest ln ρ; −∞ where not logged.
    pub rise: f32,
    /// The indices of its trained tokens, where not all are.
    pub picks: Option<Vec<u32>>,
}

impl Response<'_> {
    /// The token of the response that trained token `t` is.
    pub fn token(&self, t: usize) -> usize {
        self.picks.as_ref().map_or(t, |picks| picks[t] as usize)
    }

    /// An id, where logged.
    pub fn id(&self, column: Column) -> &Id {
        self.source.ids(column).map_or(&Id::Missing, |ids| &ids[self.index])
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
        let in_training = mask.map_or(range.len(), |m| m.iter().filter(|f| **f == 1).count());
        let Some(picks) = self.pick(&whole, mask, range.len()) else {
            let response = self.describe(source, index, &whole, None)?;
            return self.add_described(&response, &whole, &whole, in_training);
        };
        let mut picked = std::mem::take(&mut self.picked);
        picked.fill(&whole, &picks);
        let trained = picked.columns();
        let response = self.describe(source, index, &trained, Some(picks))?;
        let result = self.add_described(&response, &trained, &whole, in_training);
        self.picks = response.picks.unwrap_or_default();
        self.picked = picked;
        result
    }

    fn add_described(
        &mut self,
        response: &Response<'_>,
        trained: &Columns<'_>,
        whole: &Columns<'_>,
        in_training: usize,
    ) -> Result<()> {
        let length = response.source.range(response.index).len();
        let counts = &mut self.batches.tally(response.batch).counts;
        if let Some(clusters) = &mut self.clusters {
            let (group, sample) = (response.id(Column::GroupId), response.id(Column::SampleId));
            clusters.begin(response.key.step, group, sample, response.place(), counts);
        }
        counts.responses += 1;
        counts.tokens += in_training as u64;
        counts.masked_out += (length - in_training) as u64;
        counts.missing += (in_training - trained.len()) as u64;
        self.add_tokens(response, trained, whole)
    }

    /// The indices of the trained tokens that have all values; `None` where all do.
    fn pick(&mut self, whole: &Columns<'_>, mask: Option<&[u8]>, tokens: usize) -> Option<Vec<u32>> {
        let all_trained = mask.is_none_or(|mask| mask.iter().fold(true, |all, flag| all & (*flag == 1)));
        if all_trained && (self.complete || whole.is_complete(tokens)) {
            return None;
        }
        let mut picks = std::mem::take(&mut self.picks);
        picks.clear();
        picks.resize(tokens, 0);
        let mut picked = 0;
        // Each is written, and the next written over it where it is not trained: masks are hard to guess.
        let mut pick = |t: usize, is: bool| {
            picks[picked] = t as u32;
            picked += usize::from(is);
        };
        let has = (0..tokens).map(|t| whole.has(t));
        match (mask, whole.required(tokens)) {
            (Some(mask), _) if self.complete => (0..).zip(mask).for_each(|(t, flag)| pick(t, *flag == 1)),
            (Some(mask), Some([l, h, a])) => {
                for (t, (((flag, l), h), a)) in mask.iter().zip(l).zip(h).zip(a).enumerate() {
                    pick(t, (*flag == 1) & l.is_finite() & h.is_finite() & a.is_finite());
                }
            }
            (Some(mask), None) => {
                has.zip(mask).enumerate().for_each(|(t, (has, m))| pick(t, has & (*m == 1)))
            }
            (None, _) => has.enumerate().for_each(|(t, has)| pick(t, has)),
        }
        picks.truncate(picked);
        Some(picks)
    }

    #[allow(clippy::cast_possible_truncation)]
    fn describe<'b>(
        &mut self,
        source: &'b TokenBatch,
        index: usize,
        trained: &Columns<'_>,
        picks: Option<Vec<u32>>,
    ) -> Result<Response<'b>> {
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
        let ([sum, known], rise) = widest(Rises(trained.logprob_new, trained.logprob));
        Ok(Response {
            source,
            index,
            key,
            batch: self.batches.number_of(key, &self.gates.batches)?,
            update,
            reward: responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[index]),
            hash: hash.finish(),
            ratio: if known > 0.0 { (sum / known).exp() as f32 } else { 1.0 },
            rise,
            picks,
        })
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
        self.placed |=
            [Column::GroupId, Column::SampleId].iter().all(|column| *response.id(*column) == Id::Missing);
        let asked = Asked {
            source: response.source,
            index: response.index,
            step: response.key.step,
            update: response.update,
            batch: response.key,
            cluster: cluster_key(
                response.key.step,
                response.id(Column::GroupId),
                response.id(Column::SampleId),
                // Without ids its content decides: its place depends on files and layout.
                (0, u64::from(response.hash)),
            ),
            reward: response.reward,
            trained,
            whole,
            picks: response.picks.as_deref(),
        };
        self.questions.begin(&asked);
        let mut largest: f32 = 0.0;
        let mut risk = 0.0;
        let mut first = 0;
        while first < trained.len() {
            let end = trained.len().min(first + BLOCK);
            let part;
            let columns = if end - first == trained.len() {
                trained
            } else {
                part = trained.slice(first..end);
                &part
            };
            let sign = self.add_block(response, columns, first, &mut sums);
            self.questions.facts().extend(&self.block, columns.len(), sign);
            if let Some(clusters) = &mut self.clusters {
                clusters.add_block(&self.block, columns, sign);
            }
            if sign != BlockSign::Uniform(Sign::Zero) {
                largest = largest.max(self.block.largest_advantage);
                self.sign_block(response, columns, whole, first, sign);
            }
            risk += self.add_rare(response, columns, whole, first, sign)?;
            if self.rare.is_crowded() || self.common.is_crowded() || self.idle.is_crowded() {
                self.settle_samples();
            }
            first = end;
        }
        let tally = self.batches.tally(response.batch);
        if !trained.logprob_rollout.is_empty() {
            mismatch::add(self.questions.engine_difference(), trained, tally, &mut sums);
        }
        tally.add_sums(&sums);
        self.sign_response(response, trained, whole, (&sums, largest));
        let tally = self.batches.tally(response.batch);
        if let Some(clusters) = &mut self.clusters {
            clusters.end(response.source, response.index, &tally.counts, &sums);
        }
        let energy = sums.energy();
        self.questions.end(&asked, &sums);
        let tally = self.batches.tally(response.batch);
        if self.keeps && self.gates.kept.admit(trained.len()) {
            tally.kept.add(trained.entropy, trained.advantage);
        }
        let verdict = self.plan.questions.verdict(&response.source.responses, response.index);
        self.rewards.add(response.reward, verdict);
        if let Some(rival) = self.plan.questions.rival(&response.source.responses, response.index) {
            self.rewards.add_rival(response.reward, verdict, rival);
        }
        if let Some(groups) = response.source.ids(Column::GroupId) {
            let one = GroupTally {
                responses: 1,
                largest,
                highest: Highest::of(response.reward),
                verdict: Highest::of(verdict),
                tokens: trained.len() as u64,
                energy: sum_of(energy),
            };
            let id = &groups[response.index];
            self.groups.add(response.key.step, id, &one);
            if self.plan.questions.several_rows {
                let group = group_hash(response.key.step, id).word();
                self.groups.add_row(Row::of(
                    response.source,
                    response.index,
                    group,
                    response.reward,
                    verdict,
                ));
            }
        }
        if self.plan.purpose == Purpose::Report {
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
        let input = BlockInput { columns, level, response_hash: response.hash, first, hashes_all };
        let sign = block.compute(&self.plan.kernel, &input, &mut tally.counts, sums);
        self.count_places(columns, response.batch, sign);
        self.note_texts(response, columns, first);
        sign
    }

    /// Counts the tokens of a block by entropy, by cell of the plane and by id.
    fn count_places(&mut self, columns: &Columns<'_>, batch: usize, sign: BlockSign) {
        let (n, block) = (columns.len(), &*self.block);
        let (bin, cell, energy) = (&block.bin[..n], &block.cell[..n], &block.energy[..n]);
        let band = block.band;
        let histogram = &mut self.batches.tally(batch).histogram;
        let (plane, vocabulary) = (&mut self.plane, &mut self.vocabulary);
        let ids = columns.token_id;
        // By group, tokens of all signs are counted anyway, and those of A = 0 follow from them.
        let by_group = self.clusters.is_some();
        let dense = vocabulary.reserve(block.largest_id) && ids.len() == n;
        match sign {
            // The three are counted side by side, since each waits for its own last addition.
            BlockSign::Uniform(Sign::Zero) if dense && by_group => {
                let histogram = histogram.zero();
                bin.iter().for_each(|bin| histogram[*bin as usize] += 1);
            }
            BlockSign::Uniform(Sign::Zero) if dense => {
                let (histogram, plane) = (histogram.zero(), plane.zero(n));
                let vocabulary = vocabulary.dense().zero(n);
                for ((bin, cell), id) in bin.iter().zip(cell).zip(ids) {
                    histogram[*bin as usize] += 1;
                    plane[*cell as usize] += 1;
                    vocabulary[id.cast_unsigned() as usize] += 1;
                }
            }
            BlockSign::Uniform(sign) if dense => {
                let (histogram, plane) = (histogram.signed(sign, band), plane.signed(sign, band));
                let vocabulary = vocabulary.dense().signed(sign, band);
                for (((bin, cell), id), energy) in bin.iter().zip(cell).zip(ids).zip(energy) {
                    histogram[*bin as usize].add(*energy);
                    plane[*cell as usize].add(*energy);
                    vocabulary[id.cast_unsigned() as usize].add(*energy);
                }
            }
            _ => {
                for (i, advantage) in columns.advantage.iter().enumerate() {
                    let (bin, cell) = (bin[i] as usize, cell[i] as usize);
                    let id = ids.get(i).copied().unwrap_or(MISSING_ID);
                    match Sign::of(*advantage) {
                        Sign::Zero => {
                            histogram.zero()[bin] += 1;
                            plane.zero(1)[cell] += 1;
                            vocabulary.add(id, Sign::Zero, 0, None);
                        }
                        sign => {
                            histogram.signed(sign, band)[bin].add(energy[i]);
                            plane.signed(sign, band)[cell].add(energy[i]);
                            vocabulary.add(id, sign, energy[i], band);
                        }
                    }
                }
            }
        }
    }

    /// Notes the texts of the ids of a block, where logged.
    fn note_texts(&mut self, response: &Response<'_>, columns: &Columns<'_>, first: usize) {
        if response.source.tokens.texts.is_some() {
            let start = response.source.range(response.index).start;
            for (t, id) in columns.token_id.iter().enumerate() {
                if let Some(text) = response.source.token_text(start + response.token(first + t)) {
                    self.vocabulary.note_text(*id, self.block.hash[t], text);
                }
            }
        }
    }
}
