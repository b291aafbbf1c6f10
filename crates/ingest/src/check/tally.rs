//! What one pass over the token stream counts for the health checks.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use stapo_base::error::Result;
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::sink::Sink;
use stapo_framework::feasible::ConditionalState;

/// Counts of one worker.
#[derive(Clone, Debug)]
pub struct Tally {
    max_conditional_entropy: f64,
    /// Responses and trained tokens of each step.
    pub steps: BTreeMap<i64, (u64, u64)>,
    /// Tokens of all responses.
    pub tokens: u64,
    /// Tokens that are trained on.
    pub trained: u64,
    /// Hashes of groups, by step and id.
    pub groups: HashSet<u64>,
    /// Trained tokens with log-probability and entropy.
    pub pairs: u64,
    /// Of these, not of one distribution.
    pub infeasible: u64,
    /// Trained log-probabilities that are exactly zero.
    pub zero_logprobs: u64,
    /// Largest entropy.
    pub largest_entropy: f32,
    /// Largest token id.
    pub largest_id: Option<i32>,
    /// Responses that have a value of a part of the reward, by its name.
    pub parts: BTreeMap<Arc<str>, u64>,
}

impl Tally {
    /// An empty tally; `vocabulary` bounds the feasible entropies.
    pub fn new(vocabulary: u32) -> Self {
        Self {
            max_conditional_entropy: f64::from(vocabulary.max(3) - 1).ln(),
            steps: BTreeMap::new(),
            tokens: 0,
            trained: 0,
            groups: HashSet::new(),
            pairs: 0,
            infeasible: 0,
            zero_logprobs: 0,
            largest_entropy: 0.0,
            largest_id: None,
            parts: BTreeMap::new(),
        }
    }

    /// Adds what another worker counted.
    pub fn merge(&mut self, other: Self) {
        for (step, (responses, tokens)) in other.steps {
            let sum = self.steps.entry(step).or_default();
            sum.0 += responses;
            sum.1 += tokens;
        }
        self.groups.extend(other.groups);
        self.tokens += other.tokens;
        self.trained += other.trained;
        self.pairs += other.pairs;
        self.infeasible += other.infeasible;
        self.zero_logprobs += other.zero_logprobs;
        self.largest_entropy = self.largest_entropy.max(other.largest_entropy);
        self.largest_id = self.largest_id.max(other.largest_id);
        for (part, values) in other.parts {
            *self.parts.entry(part).or_default() += values;
        }
    }

    fn response(&mut self, batch: &TokenBatch, i: usize, columns: &Columns<'_>) {
        let tokens = batch.range(i);
        let trained = |t: &usize| columns.mask.is_none_or(|m| m[*t] == 1);
        let count = tokens.clone().filter(trained).count() as u64;
        let step = self.steps.entry(batch.responses.step[i]).or_default();
        step.0 += 1;
        step.1 += count;
        self.tokens += tokens.len() as u64;
        self.trained += count;
        self.pair_tokens(tokens.clone().filter(trained), columns);
        if let Some(ids) = columns.ids {
            self.largest_id =
                self.largest_id.max(ids[tokens.clone()].iter().copied().filter(|i| *i >= 0).max());
        }
        if let Some(groups) = batch.ids(Column::GroupId) {
            let mut hasher = DefaultHasher::new();
            (batch.responses.step[i], &groups[i]).hash(&mut hasher);
            self.groups.insert(hasher.finish());
        }
    }

    fn pair_tokens(&mut self, tokens: impl Iterator<Item = usize>, columns: &Columns<'_>) {
        let Some(logprob) = columns.logprob else { return };
        for t in tokens {
            let l = logprob[t];
            self.zero_logprobs += u64::from(l == 0.0);
            let Some(h) = columns.entropy.map(|e| e[t]).filter(|h| !h.is_nan() && !l.is_nan()) else {
                continue;
            };
            self.pairs += 1;
            self.largest_entropy = self.largest_entropy.max(h);
            let state = ConditionalState::new(f64::from(l), f64::from(h), self.max_conditional_entropy);
            self.infeasible += u64::from(!state.feasible);
        }
    }
}

struct Columns<'a> {
    mask: Option<&'a [u8]>,
    ids: Option<&'a [i32]>,
    logprob: Option<&'a [f32]>,
    entropy: Option<&'a [f32]>,
}

impl Sink for Tally {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let columns = Columns {
            mask: batch.mask(),
            ids: batch.token_ids(),
            logprob: batch.floats(Column::Logprob),
            entropy: batch.floats(Column::Entropy),
        };
        for i in 0..batch.len() {
            self.response(batch, i, &columns);
        }
        for (part, values) in &batch.responses.reward_parts {
            *self.parts.entry(part.clone()).or_default() +=
                values.iter().filter(|value| value.is_finite()).count() as u64;
        }
        Ok(())
    }
}
