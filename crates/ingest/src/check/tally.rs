//! What one pass over the token stream counts for the health checks.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::duplicates::Duplicates;
use stapo_base::error::Result;
use stapo_base::stats::correlation::PearsonSums;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::sink::Sink;
use stapo_framework::feasible::ConditionalState;

/// Shifts at which two columns are compared: the best must be none.
pub const SHIFTS: [isize; 3] = [-1, 0, 1];

/// A group's responses.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// How many.
    pub responses: u64,
    /// Sum of their advantages (of the first trained token each).
    pub advantage: ExactSum,
    /// Sum of their squares.
    pub squares: ExactSum,
    /// Largest absolute advantage.
    pub largest: f32,
    /// Smallest and largest reward, where any is logged.
    pub rewards: Option<(f32, f32)>,
}

impl Group {
    /// Whether its rewards are all alike: its advantages are then what rounding leaves of 0.
    pub fn is_even(&self) -> bool {
        self.rewards.is_some_and(|(low, high)| high - low <= 1e-6 * low.abs().max(high.abs()))
    }

    fn add_reward(&mut self, reward: f32) {
        let (low, high) = self.rewards.unwrap_or((reward, reward));
        self.rewards = Some((low.min(reward), high.max(reward)));
    }
}

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
    /// Groups by step and hashed id.
    pub groups: HashMap<(i64, u64), Group>,
    /// Responses seen in several steps.
    pub duplicates: Duplicates,
    /// Trained tokens with log-probability and entropy.
    pub pairs: u64,
    /// Of these, not of one distribution.
    pub infeasible: u64,
    /// Sum of entropies of these.
    pub entropy: ExactSum,
    /// Sum of surprisals of these.
    pub surprisal: ExactSum,
    /// Sum of squares of what surprisal is above entropy.
    pub gap_squares: ExactSum,
    /// Trained log-probabilities that are exactly zero.
    pub zero_logprobs: u64,
    /// Largest entropy.
    pub largest_entropy: f32,
    /// Largest token id.
    pub largest_id: Option<i32>,
    /// Entropy against surprisal at [`SHIFTS`].
    pub entropy_shift: [PearsonSums; 3],
    /// Trainer's against rollout log-probability at [`SHIFTS`].
    pub logprob_shift: [PearsonSums; 3],
    /// Trained tokens with an advantage, and those where it is zero.
    pub advantages: (u64, u64),
    /// Responses with an advantage, and those where it differs between tokens.
    pub varying_advantage: (u64, u64),
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
            groups: HashMap::new(),
            duplicates: Duplicates::default(),
            pairs: 0,
            infeasible: 0,
            entropy: ExactSum::new(),
            surprisal: ExactSum::new(),
            gap_squares: ExactSum::new(),
            zero_logprobs: 0,
            largest_entropy: 0.0,
            largest_id: None,
            entropy_shift: [PearsonSums::new(0.5, 0.5); 3],
            logprob_shift: [PearsonSums::new(-0.5, -0.5); 3],
            advantages: (0, 0),
            varying_advantage: (0, 0),
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
        for (key, group) in other.groups {
            let sum = self.groups.entry(key).or_default();
            sum.responses += group.responses;
            sum.advantage.merge(&group.advantage);
            sum.squares.merge(&group.squares);
            sum.largest = sum.largest.max(group.largest);
            for reward in group.rewards.into_iter().flat_map(|(low, high)| [low, high]) {
                sum.add_reward(reward);
            }
        }
        self.duplicates.merge(other.duplicates);
        self.tokens += other.tokens;
        self.trained += other.trained;
        self.pairs += other.pairs;
        self.infeasible += other.infeasible;
        self.entropy.merge(&other.entropy);
        self.surprisal.merge(&other.surprisal);
        self.gap_squares.merge(&other.gap_squares);
        self.zero_logprobs += other.zero_logprobs;
        self.largest_entropy = self.largest_entropy.max(other.largest_entropy);
        self.largest_id = self.largest_id.max(other.largest_id);
        for (mine, theirs) in self.entropy_shift.iter_mut().zip(&other.entropy_shift) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.logprob_shift.iter_mut().zip(&other.logprob_shift) {
            mine.merge(theirs);
        }
        self.advantages.0 += other.advantages.0;
        self.advantages.1 += other.advantages.1;
        self.varying_advantage.0 += other.varying_advantage.0;
        self.varying_advantage.1 += other.varying_advantage.1;
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
        self.shift_tokens(tokens.clone(), columns);
        if let Some(ids) = columns.ids {
            self.largest_id =
                self.largest_id.max(ids[tokens.clone()].iter().copied().filter(|i| *i >= 0).max());
        }
        let advantages = || {
            tokens
                .clone()
                .filter(trained)
                .filter_map(|t| columns.advantage.map(|a| a[t]))
                .filter(|a| !a.is_nan())
        };
        if let Some(first) = advantages().next() {
            self.varying_advantage.0 += 1;
            self.varying_advantage.1 += u64::from(advantages().any(|a| a != first));
            self.advantages.0 += advantages().count() as u64;
            self.advantages.1 += advantages().filter(|a| *a == 0.0).count() as u64;
        }
        if let Some(groups) = batch.ids(Column::GroupId) {
            let mut hasher = DefaultHasher::new();
            groups[i].hash(&mut hasher);
            let group = self.groups.entry((batch.responses.step[i], hasher.finish())).or_default();
            group.responses += 1;
            let reward = batch.responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[i]);
            if reward.is_finite() {
                group.add_reward(reward);
            }
            if let Some(first) = advantages().next() {
                group.advantage.add(f64::from(first));
                group.squares.add(f64::from(first).powi(2));
                group.largest = group.largest.max(first.abs());
            }
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
            self.entropy.add(f64::from(h));
            self.surprisal.add(f64::from(-l));
            self.gap_squares.add((f64::from(-l) - f64::from(h)).powi(2));
            self.largest_entropy = self.largest_entropy.max(h);
            let state = ConditionalState::new(f64::from(l), f64::from(h), self.max_conditional_entropy);
            self.infeasible += u64::from(!state.feasible);
        }
    }

    fn shift_tokens(&mut self, tokens: std::ops::Range<usize>, columns: &Columns<'_>) {
        let Some(logprob) = columns.logprob else { return };
        let trained = |t: usize| columns.mask.is_none_or(|m| m[t] == 1);
        for (at, shift) in SHIFTS.into_iter().enumerate() {
            for t in tokens.clone() {
                let Some(other) = t.checked_add_signed(shift).filter(|o| tokens.contains(o)) else {
                    continue;
                };
                if !trained(t) || !trained(other) {
                    continue;
                }
                if let Some(entropy) = columns.entropy {
                    self.entropy_shift[at].add(f64::from(entropy[other]), f64::from(-logprob[t]));
                }
                if let Some(rollout) = columns.rollout {
                    self.logprob_shift[at].add(f64::from(rollout[other]), f64::from(logprob[t]));
                }
            }
        }
    }
}

struct Columns<'a> {
    mask: Option<&'a [u8]>,
    ids: Option<&'a [i32]>,
    logprob: Option<&'a [f32]>,
    rollout: Option<&'a [f32]>,
    entropy: Option<&'a [f32]>,
    advantage: Option<&'a [f32]>,
}

impl Sink for Tally {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let advantage = batch.advantages();
        let columns = Columns {
            mask: batch.mask(),
            ids: batch.token_ids(),
            logprob: batch.floats(Column::Logprob),
            rollout: batch.floats(Column::LogprobRollout),
            entropy: batch.floats(Column::Entropy),
            advantage: advantage.as_ref().map(|a| &a[..]),
        };
        for i in 0..batch.len() {
            self.response(batch, i, &columns);
        }
        for (part, values) in &batch.responses.reward_parts {
            *self.parts.entry(part.clone()).or_default() +=
                values.iter().filter(|value| value.is_finite()).count() as u64;
        }
        self.duplicates.add(batch);
        Ok(())
    }
}
