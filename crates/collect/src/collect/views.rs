//! Responses that are kept whole for people to look at: the riskiest, the best, the worst, cut ones,
//! and all responses of a few groups drawn at random.

mod portable;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_buffer::ScalarBuffer;
use serde::{Deserialize, Serialize};

use super::tally::BatchKey;
use stapo_batch::batch::Id;
use stapo_result::cases::{
    GROUP_RESPONSES, PROMPT_CHARACTERS, PROMPT_TOKENS, SAMPLED_TOKENS, ShownFor, VIEW_LIMIT, VIEW_TOKENS,
};

/// Responses of a kind other than risk.
const OF_A_KIND: usize = 8;
/// Groups that are drawn.
const GROUPS: usize = 24;

/// A prompt as it was read: shared, not copied.
#[derive(Clone, Debug)]
pub enum LoggedPrompt {
    /// Token ids.
    Ids(ScalarBuffer<i32>),
    /// Text.
    Text(Arc<str>),
}

impl LoggedPrompt {
    /// Its end, which is what the response answers to.
    pub fn end(&self) -> Prompt {
        match self {
            Self::Ids(ids) => Prompt::Ids(ids[ids.len().saturating_sub(PROMPT_TOKENS)..].to_vec()),
            Self::Text(text) => {
                let cut = text.char_indices().rev().nth(PROMPT_CHARACTERS - 1).map_or(0, |c| c.0);
                Prompt::Text(text[cut..].into())
            }
        }
    }
}

/// The end of a prompt.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Prompt {
    /// Token ids.
    Ids(Vec<i32>),
    /// Text.
    Text(Box<str>),
}

/// A response that is kept whole.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct KeptResponse {
    /// Sum of the risk of its candidates.
    pub risk: f64,
    /// Its hash.
    pub hash: u32,
    /// Its batch.
    pub batch: BatchKey,
    /// Mini-batch as logged.
    pub update: Option<i64>,
    /// Group.
    pub group: Id,
    /// Response id.
    pub sample: Id,
    /// Scan unit and ordinal in it.
    pub place: (u32, u64),
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Why it ended, where logged.
    #[serde(with = "stapo_base::encode::shared_text")]
    pub ending: Option<Arc<str>>,
    /// Prompt, where logged.
    pub prompt: Option<Prompt>,
    /// Tokens of the response.
    pub length: usize,
    /// The token that the kept stretch is around.
    pub centre: usize,
    /// The first token that is kept.
    pub first: usize,
    /// Token ids; empty where not logged.
    pub token_ids: Vec<i32>,
    /// Texts, where logged.
    pub texts: Option<Vec<Box<str>>>,
    /// Whether trained on.
    pub trained: Vec<bool>,
    /// ln p.
    pub logprob: Vec<f32>,
    /// H.
    pub entropy: Vec<f32>,
    /// A.
    pub advantage: Vec<f32>,
    /// ‖g‖.
    pub norm: Vec<f32>,
}

impl KeptResponse {
    /// A shorter stretch around the same token; `centre` is a place in the response.
    fn shortened(&self, tokens: usize) -> Self {
        let kept = kept_stretch(self.length, self.centre, tokens);
        let from = kept.start.saturating_sub(self.first);
        let to = kept.end.saturating_sub(self.first);
        fn cut<T: Clone>(values: &[T], from: usize, to: usize) -> Vec<T> {
            values.get(from..to.min(values.len())).unwrap_or_default().to_vec()
        }
        Self {
            first: kept.start,
            token_ids: cut(&self.token_ids, from, to),
            texts: self.texts.as_ref().map(|texts| cut(texts, from, to)),
            trained: cut(&self.trained, from, to),
            logprob: cut(&self.logprob, from, to),
            entropy: cut(&self.entropy, from, to),
            advantage: cut(&self.advantage, from, to),
            norm: cut(&self.norm, from, to),
            ending: self.ending.clone(),
            prompt: self.prompt.clone(),
            group: self.group.clone(),
            sample: self.sample.clone(),
            ..*self
        }
    }

    /// The order of responses of equal rank: by what they are, last by where they are.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        self.hash
            .cmp(&other.hash)
            .then_with(|| (self.batch, self.update).cmp(&(other.batch, other.update)))
            .then_with(|| self.group.cmp(&other.group))
            .then_with(|| self.sample.cmp(&other.sample))
            .then_with(|| self.token_ids.cmp(&other.token_ids))
            .then_with(|| bits(&self.logprob).cmp(&bits(&other.logprob)))
            .then_with(|| bits(&self.entropy).cmp(&bits(&other.entropy)))
            .then_with(|| bits(&self.advantage).cmp(&bits(&other.advantage)))
            .then_with(|| bits(&self.norm).cmp(&bits(&other.norm)))
            .then_with(|| self.reward.to_bits().cmp(&other.reward.to_bits()))
            .then_with(|| self.place.cmp(&other.place))
    }
}

/// What decides whether a response is kept.
#[derive(Clone, Debug)]
pub struct Interest {
    /// Sum of the risk of its candidates.
    pub risk: f64,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Whether it was cut.
    pub truncated: bool,
    /// Its hash.
    pub hash: u32,
    /// What is drawn at random: its group, else itself.
    pub drawn: DrawKey,
}

/// A hash of step and id, and both.
pub type DrawKey = (u32, i64, Id);

/// The stretch of a response that is kept: all of it, or what is around `centre`.
pub fn kept_stretch(length: usize, centre: usize, kept: usize) -> std::ops::Range<usize> {
    let first = centre.saturating_sub(kept / 2).min(length.saturating_sub(kept));
    first..length.min(first + kept)
}

/// The first of an order, each with its rank; lower ranks come first.
#[derive(Debug)]
struct Shelf {
    kind: ShownFor,
    limit: usize,
    kept: Vec<(f64, Arc<KeptResponse>)>,
}

impl Shelf {
    fn new(kind: ShownFor, limit: usize) -> Self {
        Self { kind, limit, kept: Vec::new() }
    }

    /// The rank of a response here; `None` where it does not belong here.
    fn rank(&self, of: &Interest) -> Option<f64> {
        let reward = f64::from(of.reward);
        match self.kind {
            ShownFor::Risk => (of.risk > 0.0).then_some(-of.risk),
            ShownFor::HighReward => reward.is_finite().then_some(-reward),
            ShownFor::LowReward => reward.is_finite().then_some(reward),
            ShownFor::Truncated => of.truncated.then_some(0.0),
            ShownFor::Group => None,
        }
    }

    fn admits(&self, of: &Interest) -> bool {
        let last = self.kept.get(self.limit - 1);
        // The last response itself is looked at for equal ranks only: it is somewhere else in memory.
        let before = |rank: f64, last: &(f64, Arc<KeptResponse>)| {
            rank < last.0 || (rank == last.0 && of.hash <= last.1.hash)
        };
        self.rank(of).is_some_and(|rank| last.is_none_or(|last| before(rank, last)))
    }

    fn add(&mut self, rank: f64, response: Arc<KeptResponse>) {
        let before = |known: &(f64, Arc<KeptResponse>)| {
            known.0.total_cmp(&rank).then_with(|| known.1.order(&response)).is_le()
        };
        let at = self.kept.partition_point(before);
        if at < self.limit {
            self.kept.insert(at, (rank, response));
            self.kept.truncate(self.limit);
        }
    }
}

/// All responses of the groups with the smallest hashes: a random draw that does not depend on the
/// order of files.
#[derive(Debug, Default)]
struct Draw(BTreeMap<DrawKey, Vec<Arc<KeptResponse>>>);

impl Draw {
    fn admits(&self, of: &Interest) -> bool {
        // Nearly every group is beyond the last of those drawn.
        if self.0.len() >= GROUPS && self.0.keys().next_back().is_some_and(|last| of.drawn > *last) {
            return false;
        }
        let group = self.0.get(&of.drawn);
        group.and_then(|group| group.get(GROUP_RESPONSES - 1)).is_none_or(|last| of.hash <= last.hash)
    }

    fn add(&mut self, key: DrawKey, response: Arc<KeptResponse>) {
        let group = self.0.entry(key).or_default();
        let at = group.partition_point(|known| known.order(&response).is_le());
        group.insert(at, response);
        group.truncate(GROUP_RESPONSES);
        while self.0.len() > GROUPS {
            self.0.pop_last();
        }
    }
}

/// The responses that one worker, or all of them, kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(into = "portable::Portable", from = "portable::Portable")]
pub struct KeptResponses {
    shelves: [Shelf; 4],
    draw: Draw,
}

impl Default for KeptResponses {
    fn default() -> Self {
        let shelves = [
            Shelf::new(ShownFor::Risk, VIEW_LIMIT),
            Shelf::new(ShownFor::HighReward, OF_A_KIND),
            Shelf::new(ShownFor::LowReward, OF_A_KIND),
            Shelf::new(ShownFor::Truncated, OF_A_KIND),
        ];
        Self { shelves, draw: Draw::default() }
    }
}

impl KeptResponses {
    /// How many tokens of a response to keep; `None` where it is not wanted.
    pub fn admits(&self, of: &Interest) -> Option<usize> {
        if self.shelves.iter().any(|shelf| shelf.admits(of)) {
            Some(VIEW_TOKENS)
        } else {
            self.draw.admits(of).then_some(SAMPLED_TOKENS)
        }
    }

    /// Enters a response wherever it is wanted.
    pub fn add(&mut self, of: &Interest, response: KeptResponse) {
        let response = Arc::new(response);
        for shelf in &mut self.shelves {
            if let Some(rank) = shelf.rank(of) {
                shelf.add(rank, Arc::clone(&response));
            }
        }
        if self.draw.admits(of) {
            // As long as any drawn response, also where it was wanted for more at the time: what else
            // was seen before must not matter.
            let drawn = match response.trained.len() > SAMPLED_TOKENS {
                true => Arc::new(response.shortened(SAMPLED_TOKENS)),
                false => response,
            };
            self.draw.add(of.drawn.clone(), drawn);
        }
    }

    /// Gives units the numbers that they have in another run.
    pub fn renumber(&mut self, unit: impl Fn(u32) -> u32) {
        let shelved = self.shelves.iter_mut().flat_map(|shelf| shelf.kept.iter_mut().map(|(_, r)| r));
        for response in shelved.chain(self.draw.0.values_mut().flatten()) {
            let response = Arc::make_mut(response);
            response.place.0 = unit(response.place.0);
        }
    }

    /// Adds the responses of another worker.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.shelves.iter_mut().zip(other.shelves) {
            theirs.kept.into_iter().for_each(|(rank, response)| mine.add(rank, response));
        }
        for (key, group) in other.draw.0 {
            group.into_iter().for_each(|response| self.draw.add(key.clone(), response));
        }
    }

    /// Every response once, the riskiest first, with what it is shown for.
    pub fn responses(&self) -> Vec<(&KeptResponse, Vec<ShownFor>)> {
        let mut places: BTreeMap<(u32, u64), usize> = BTreeMap::new();
        let mut found: Vec<(&KeptResponse, Vec<ShownFor>)> = Vec::new();
        let of_shelves = self.shelves.iter().flat_map(|s| s.kept.iter().map(|(_, r)| (r, s.kind)));
        let drawn = self.draw.0.values().flatten().map(|r| (r, ShownFor::Group));
        for (response, kind) in of_shelves.chain(drawn) {
            let place = *places.entry(response.place).or_insert_with(|| {
                found.push((response, Vec::new()));
                found.len() - 1
            });
            // The longer of two stretches of one response.
            if response.trained.len() > found[place].0.trained.len() {
                found[place].0 = response;
            }
            found[place].1.push(kind);
        }
        found
    }
}

#[cfg(test)]
mod tests;
