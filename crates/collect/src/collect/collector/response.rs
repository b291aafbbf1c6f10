//! What is known of a response beside its tokens.

use super::Collector;
use super::rises::Rises;
use crate::collect::clusters::cluster_key;
use crate::collect::columns::Columns;
use crate::collect::tally::BatchKey;
use stapo_base::error::Result;
use stapo_base::simd::widest;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;

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
    /// The hash of its group, else of itself.
    pub cluster: u64,
    /// exp of the mean of ln ρ: the ratio of sequence-level objectives; 1 where not logged.
    pub ratio: f32,
    /// The largest ln ρ; −∞ where not logged.
    pub rise: f32,
    /// The indices of its trained tokens, where not all are.
    pub picks: Option<&'a [u32]>,
}

/// A token with those around it.
pub struct Context {
    /// Ids.
    pub ids: Vec<i32>,
    /// Texts, where logged.
    pub texts: Option<Vec<Box<str>>>,
    /// Which of them is the token.
    pub centre: usize,
}

impl Response<'_> {
    /// A token with at most `reach` tokens of the response on either side; `whole` are all its tokens.
    pub fn context(&self, whole: &Columns<'_>, token: usize, reach: usize) -> Context {
        let range = self.source.range(self.index);
        let from = token.saturating_sub(reach);
        let to = range.len().min(token + reach + 1);
        let text = |i: usize| self.source.token_text(range.start + i).unwrap_or_default().into();
        Context {
            ids: whole.token_id.get(from..to).unwrap_or_default().to_vec(),
            texts: self.source.tokens.texts.as_ref().map(|_| (from..to).map(text).collect()),
            centre: token - from,
        }
    }

    /// The position of a token in the response.
    pub fn position(&self, token: usize) -> i32 {
        self.source.position(self.index, self.source.range(self.index).start + token)
    }

    /// The token of the response that trained token `t` is.
    pub fn token(&self, t: usize) -> usize {
        self.picks.map_or(t, |picks| picks[t] as usize)
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
    /// Describes response `index` of `source`, of which `trained` are the trained tokens.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn describe<'b>(
        &mut self,
        source: &'b TokenBatch,
        index: usize,
        trained: &Columns<'_>,
        picks: Option<&'b [u32]>,
    ) -> Result<Response<'b>> {
        let responses = &source.responses;
        let step = responses.step.get(index).copied().unwrap_or(0);
        let update = responses.ints.get(Column::Update).and_then(|updates| updates[index]);
        let key = BatchKey { step, update: update.filter(|_| self.plan.by_update) };
        let id = |column| source.ids(column).map_or(&Id::Missing, |ids| &ids[index]);
        let (group, sample) = (id(Column::GroupId), id(Column::SampleId));
        let first = |column: &[f32]| column.first().map_or(0, |v| u64::from(v.to_bits()));
        let hash = Mixer::new(step.cast_unsigned())
            .with(update.map_or(0, |u| u.cast_unsigned().wrapping_add(1)))
            .with_id(Some(group))
            .with_id(Some(sample))
            .with(trained.len() as u64)
            .with((first(trained.logprob) << 32) | first(trained.entropy))
            .finish();
        let ([sum, known], rise) = widest(Rises(trained.logprob_new, trained.logprob));
        Ok(Response {
            source,
            index,
            key,
            batch: self.batches.number_of(key, &self.gates.batches)?,
            update,
            reward: responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[index]),
            hash,
            // Without ids its content decides: its place depends on files and layout.
            cluster: cluster_key(step, group, sample, (0, u64::from(hash))),
            ratio: if known > 0.0 { (sum / known).exp() as f32 } else { 1.0 },
            rise,
            picks,
        })
    }
}
