//! The tokens of one response, block by block.

use super::Collector;
use super::diagnosing::slice_of;
use super::response::Response;
use super::wave::InHand;
use crate::collect::block::{BlockInput, BlockSign};
use crate::collect::columns::Columns;
use crate::collect::energy::Sign;
use crate::collect::mismatch;
use crate::collect::questions::OpenResponse;
use crate::collect::tally::{Quantity, ResponseSums};
use stapo_base::error::Result;
use stapo_batch::batch::{Id, MISSING_ID};
use stapo_batch::columns::Column;
use stapo_framework::batch::BLOCK;

impl Collector<'_> {
    /// Adds what the tokens of a response are and add up to.
    pub(super) fn add_tokens(&mut self, one: &mut InHand<'_>, open: &mut OpenResponse) -> Result<()> {
        self.count_response(one);
        self.questions.begin(&one.asked(), open);
        if self.plan.stand_in.logprob {
            self.add_text(one);
            self.end_cluster(one);
            return Ok(());
        }
        let trained = one.trained;
        let mut first = 0;
        while first < trained.len() {
            let end = trained.len().min(first + BLOCK);
            let columns = &if end - first == trained.len() { trained } else { trained.slice(first..end) };
            let sign = self.add_block(&one.response, columns, first, &mut one.sums);
            open.facts.extend(&self.block, columns.len(), sign);
            if let Some(clusters) = &mut self.clusters {
                clusters.add_block(&self.block, columns);
            }
            if sign != BlockSign::Uniform(Sign::Zero) {
                one.largest = one.largest.max(self.block.largest_advantage);
                self.sign_block(one, columns, first);
            }
            one.risk += self.add_rare(&one.response, columns, &one.whole, first, sign, open)?;
            self.add_claims(&one.response, columns, first, sign);
            if self.is_crowded() {
                self.settle_samples();
            }
            first = end;
        }
        let tally = self.batches.tally(one.response.batch);
        if !trained.logprob_rollout.is_empty() {
            mismatch::add(open.engine_difference(), tally, &mut one.sums);
        }
        tally.add_sums(&one.sums);
        self.end_cluster(one);
        Ok(())
    }

    /// Adds the response to the totals of its group.
    fn end_cluster(&mut self, one: &InHand<'_>) {
        if let Some(clusters) = &mut self.clusters {
            let response = &one.response;
            let tally = self.batches.tally(response.batch);
            let responses = &response.source.responses;
            let verdict = self.plan.questions.verdict(responses, response.index);
            let prompt = || responses.prompt_hash(response.index);
            clusters.end(&tally.counts, &one.sums, [response.reward, verdict], prompt);
        }
    }

    /// Adds a response whose tokens say nothing but how many they are, and what was learned from them.
    fn add_text(&mut self, one: &mut InHand<'_>) {
        // One a response: no list of tokens is beside a text.
        let advantage = one.trained.advantage.first().copied().unwrap_or(0.0);
        one.largest = advantage.abs();
        let tally = self.batches.tally(one.response.batch);
        let (counts, tokens) = (&mut tally.counts, one.trained.len() as u64);
        match Sign::of(advantage) {
            Sign::Positive => counts.positive += tokens,
            Sign::Negative => counts.negative += tokens,
            Sign::Zero => counts.zero += tokens,
        }
        tally.add_sums(&one.sums);
    }

    fn count_response(&mut self, one: &mut InHand<'_>) {
        let InHand { response, trained, .. } = one;
        let length = response.source.range(response.index).len();
        let counts = &mut self.batches.tally(response.batch).counts;
        let (group, sample) = (response.id(Column::GroupId), response.id(Column::SampleId));
        if let Some(clusters) = &mut self.clusters {
            let task = slice_of(&response.source.responses, &self.plan.others, response.index);
            clusters.begin(response.key.step, &task, [group, sample], response.place(), counts);
        }
        self.placed |= *group == Id::Missing && *sample == Id::Missing;
        counts.responses += 1;
        counts.tokens += one.in_training as u64;
        counts.masked_out += (length - one.in_training) as u64;
        counts.missing += (one.in_training - trained.len()) as u64;
        if response.reward.is_finite() {
            let reward = f64::from(response.reward);
            counts.rewarded += 1;
            one.sums.add(Quantity::Reward, reward);
            one.sums.add(Quantity::RewardSquare, reward * reward);
        }
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
