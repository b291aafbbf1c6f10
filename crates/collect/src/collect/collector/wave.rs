//! A few short responses that go through the collector side by side.
//!
//! What is done for a response runs through more code (some 50 KB) than the processor's nearest cache holds. Fetching it
//! again for every response of a hundred tokens cost 3 % of an analysis; so every stage is done for all responses of a
//! wave before the next one begins.

use std::ops::Range;

use super::Collector;
use super::picked::Picked;
use super::response::Response;
use super::wave_room::WaveRoom;
use crate::collect::columns::Columns;
use crate::collect::questions::Asked;
use crate::collect::signs::what_if::Bounded;
use crate::collect::tally::ResponseSums;
use stapo_base::error::Result;
use stapo_batch::batch::TokenBatch;

/// Tokens of a wave: what stages hand on to each other stays near, and a long response goes alone.
const TOKENS: usize = 1024;
/// Responses of a wave.
const RESPONSES: usize = 16;

/// A response on its way through the stages.
pub struct InHand<'a> {
    /// What is known of it.
    pub response: Response<'a>,
    /// Its trained tokens.
    pub trained: Columns<'a>,
    /// All its tokens.
    pub whole: Columns<'a>,
    /// Tokens that the mask leaves in training.
    pub in_training: usize,
    /// What its tokens add up to.
    pub sums: ResponseSums,
    /// The largest |A|.
    pub largest: f32,
    /// The risk of its candidates.
    pub risk: f64,
    /// Its energy under bounds on the ratio.
    pub bounded: Bounded,
}

impl InHand<'_> {
    /// It as questions need it.
    pub fn asked(&self) -> Asked<'_> {
        let response = &self.response;
        Asked {
            source: response.source,
            index: response.index,
            step: response.key.step,
            update: response.update,
            batch: response.key,
            cluster: response.cluster,
            reward: response.reward,
            trained: &self.trained,
            whole: &self.whole,
            picks: response.picks,
        }
    }
}

impl Collector<'_> {
    /// Adds the responses of a batch, wave by wave.
    pub(super) fn add_responses(&mut self, source: &TokenBatch, columns: &Columns<'_>) -> Result<()> {
        let mut room = std::mem::take(&mut self.room);
        let mut first = 0;
        while first < source.len() {
            let end = end_of_wave(source.len(), |i| source.range(i), first);
            self.add_wave(source, columns, first..end, &mut room)?;
            first = end;
        }
        self.room = room;
        Ok(())
    }

    fn add_wave(
        &mut self,
        source: &TokenBatch,
        columns: &Columns<'_>,
        responses: Range<usize>,
        room: &mut WaveRoom,
    ) -> Result<()> {
        let (picked, open) = room.of(responses.len());
        for (picked, index) in picked.iter_mut().zip(responses.clone()) {
            picked.choose(source, columns, index, self.complete);
        }
        let mut wave = Vec::with_capacity(responses.len());
        for (picked, index) in picked.iter().zip(responses) {
            wave.push(self.take_in_hand(source, columns, index, picked)?);
        }
        for (one, open) in wave.iter_mut().zip(&mut *open) {
            self.add_tokens(one, open)?;
        }
        for one in &wave {
            self.sign_response(one);
        }
        for (one, open) in wave.iter().zip(open) {
            self.questions.end(&one.asked(), &one.sums, open);
        }
        for one in &wave {
            self.keep_response(one);
        }
        Ok(())
    }

    fn take_in_hand<'b>(
        &mut self,
        source: &'b TokenBatch,
        columns: &Columns<'b>,
        index: usize,
        picked: &'b Picked,
    ) -> Result<InHand<'b>> {
        let whole = columns.slice(source.range(index));
        let (trained, picks) = picked.of(&whole);
        Ok(InHand {
            response: self.describe(source, index, &trained, picks)?,
            trained,
            whole,
            in_training: picked.in_training,
            sums: ResponseSums::default(),
            largest: 0.0,
            risk: 0.0,
            bounded: Bounded::default(),
        })
    }
}

/// The end of the wave that begins with response `first` of so many, of which `range` tells the tokens.
fn end_of_wave(responses: usize, range: impl Fn(usize) -> Range<usize>, first: usize) -> usize {
    let start = range(first).start;
    let last = responses.min(first + RESPONSES);
    (first + 1..last).find(|next| range(*next).end - start > TOKENS).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::{RESPONSES, TOKENS, end_of_wave};

    fn waves(lengths: &[usize]) -> Vec<usize> {
        let ends: Vec<usize> = lengths
            .iter()
            .scan(0, |sum, length| {
                *sum += length;
                Some(*sum)
            })
            .collect();
        let range = |i: usize| ends[i] - lengths[i]..ends[i];
        let (mut first, mut waves) = (0, Vec::new());
        while first < lengths.len() {
            let end = end_of_wave(lengths.len(), range, first);
            waves.push(end - first);
            first = end;
        }
        waves
    }

    #[test]
    fn long_responses_go_alone() {
        assert!(waves(&[]).is_empty());
        assert_eq!(waves(&[9 * TOKENS]), [1]);
        assert_eq!(waves(&[10, 2 * TOKENS, 10, 10]), [1, 1, 2]);
        assert_eq!(waves(&[TOKENS / 2, TOKENS / 2, 1]), [2, 1]);
    }

    #[test]
    fn waves_of_short_responses_are_bounded() {
        assert_eq!(waves(&[0; 2 * RESPONSES + 1]), [RESPONSES, RESPONSES, 1]);
    }
}
