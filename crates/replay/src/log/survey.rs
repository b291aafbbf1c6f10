//! A first look at the whole log: steps, prompts, lengths, rewards, and what is held out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::content::with_response;
use super::groups::GroupRewards;
use super::intake::{Refused, refusal};
use super::labels::{Labels, LoggedRewards};
use super::minibatches::minibatch_members;
use super::response::{COLUMNS, require_columns};
use crate::settings::ReplaySettings;
use stapo_base::error::{Error, Result};
use stapo_base::stats::random::{draw, seed_of};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_ingest::right::PassRule;
use stapo_ingest::{Run, scan_in_order};
use stapo_result::replay::{Data, SkippedResponses};

/// Tokens that are evaluated on at most; more would cost time and tell nothing.
const HOLDOUT_TOKENS: u64 = 2_000_000;
/// What the choice of prompts is seeded with, the same for all arms and seeds.
const HOLDOUT_SEED: u64 = 0x4f1d;

/// A step of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPlan {
    /// Its number.
    pub step: i64,
    /// Places in the log of the responses that are trained on.
    pub responses: Vec<u64>,
    /// Their tokens, prompts included.
    pub tokens: u64,
    /// Mini-batches that they become.
    pub minibatches: usize,
}

/// What a first look found.
#[derive(Debug)]
pub struct Survey {
    /// Steps in the order of the log.
    pub steps: Vec<StepPlan>,
    /// Places in the log of the responses that are evaluated on.
    pub holdout: Vec<u64>,
    /// Rewards of groups.
    pub groups: GroupRewards,
    /// Numbers for the result.
    pub data: Data,
    /// The largest token id.
    pub largest_id: u32,
    /// Hash of everything that was read.
    pub content: u64,
    /// What makes a response correct.
    pub labels: Labels,
}

/// What is kept of a response.
struct Fact {
    ordinal: u64,
    step: usize,
    prompt: u64,
    tokens: u64,
    trained: u64,
    sequence: u64,
    update: Option<i64>,
}

struct Surveyor<'a> {
    settings: &'a ReplaySettings,
    next: u64,
    steps: Vec<i64>,
    step_index: HashMap<i64, usize>,
    facts: Vec<Fact>,
    groups: GroupRewards,
    refused: BTreeMap<Refused, u64>,
    longest: u64,
    largest_id: u32,
    content: u64,
    rewards: LoggedRewards,
}

/// Looks at every response once.
pub fn survey(run: &Run, settings: &ReplaySettings, progress: &dyn Progress) -> Result<Survey> {
    require_columns(run)?;
    let mut surveyor = Surveyor {
        settings,
        next: 0,
        steps: Vec::new(),
        step_index: HashMap::new(),
        facts: Vec::new(),
        groups: GroupRewards::default(),
        refused: BTreeMap::new(),
        longest: 0,
        largest_id: 0,
        content: 0,
        rewards: LoggedRewards::new(run),
    };
    scan_in_order(run, COLUMNS, progress, &mut |batch| {
        surveyor.add(&batch);
        Ok(())
    })?;
    surveyor.finish(run)
}

impl Surveyor<'_> {
    fn add(&mut self, batch: &TokenBatch) {
        let mask = batch.mask();
        for i in 0..batch.len() {
            let ordinal = self.next;
            self.next += 1;
            let range = batch.range(i);
            self.longest = self.longest.max(range.len() as u64);
            if self.settings.responses.is_some_and(|most| ordinal >= most) {
                continue;
            }
            let step = batch.responses.step[i];
            let known = self.step_index.len();
            let most = self.settings.steps.unwrap_or(u64::MAX);
            if !self.step_index.contains_key(&step) && known as u64 >= most {
                continue;
            }
            if let Some(reason) = refusal(batch, i) {
                *self.refused.entry(reason).or_default() += 1;
                continue;
            }
            let index = *self.step_index.entry(step).or_insert(known);
            if index == self.steps.len() {
                self.steps.push(step);
            }
            let prompt = batch.responses.prompt_ids.as_ref().and_then(|p| p[i].as_ref());
            let prompt = prompt.map_or(&[][..], |p| &p[..]);
            let ids = &batch.token_ids().unwrap_or_default()[range.clone()];
            let largest = ids.iter().chain(prompt).copied().max().unwrap_or(0);
            self.largest_id = self.largest_id.max(u32::try_from(largest).unwrap_or(0));
            self.groups.add(batch, i);
            self.rewards.add(batch, i);
            self.content = with_response(self.content, batch, i);
            self.facts.push(Fact {
                ordinal,
                step: index,
                prompt: seed_of(&prompt.iter().map(|id| u64::from(id.cast_unsigned())).collect::<Vec<_>>()),
                tokens: range.len() as u64,
                trained: mask.map_or(range.len(), |m| m[range.clone()].iter().filter(|m| **m == 1).count())
                    as u64,
                sequence: (range.len() + prompt.len()) as u64,
                update: batch.responses.ints.get(Column::Update).and_then(|u| u[i]),
            });
        }
    }

    fn finish(self, run: &Run) -> Result<Survey> {
        if self.facts.is_empty() {
            let why: Vec<&str> = self.refused.keys().map(|r| r.reason()).collect();
            return Err(Error::Usage {
                message: format!("no response of this log can be replayed ({})", why.join("; ")),
                hint: "log prompt_ids and token_ids of every response, complete".into(),
            });
        }
        let held = self.held_out();
        let labels = match &self.settings.pass {
            Some(condition) => Labels::Condition(PassRule::new(run, condition)?),
            None => self.rewards.labels(),
        };
        let mut steps: Vec<StepPlan> = self
            .steps
            .iter()
            .map(|step| StepPlan { step: *step, responses: Vec::new(), tokens: 0, minibatches: 0 })
            .collect();
        let mut data = Data {
            files: run.files.iter().map(|f| f.context.path.display().to_string()).collect(),
            steps: 0,
            longest_response: self.longest,
            correct: labels.meaning(),
            holdout_prompts: held.len() as u64,
            advantages: if run.has(Column::Advantage) || run.has(Column::AdvantageSeq) {
                "logged".into()
            } else {
                "rewards".into()
            },
            skipped: (self.refused.iter())
                .map(|(r, n)| SkippedResponses { reason: r.reason().into(), responses: *n })
                .collect(),
            ..Data::default()
        };
        let mut holdout = Vec::new();
        let mut updates: Vec<Vec<Option<i64>>> = vec![Vec::new(); steps.len()];
        for fact in &self.facts {
            if !held.contains(&fact.prompt) {
                updates[fact.step].push(fact.update);
                steps[fact.step].responses.push(fact.ordinal);
                steps[fact.step].tokens += fact.sequence;
                data.responses += 1;
                data.tokens += fact.trained;
            } else if data.holdout_tokens + fact.tokens <= HOLDOUT_TOKENS {
                holdout.push(fact.ordinal);
                data.holdout_responses += 1;
                data.holdout_tokens += fact.tokens;
            } else {
                data.holdout_unused += 1;
            }
        }
        for (step, updates) in steps.iter_mut().zip(&updates) {
            step.minibatches = minibatch_members(updates, self.settings.minibatch).len();
        }
        steps.retain(|s| !s.responses.is_empty());
        data.steps = steps.len() as u64;
        if steps.is_empty() {
            return Err(Error::Usage {
                message: "every prompt of this log is held out".into(),
                hint: "give a smaller --holdout".into(),
            });
        }
        Ok(Survey {
            steps,
            holdout,
            groups: self.groups,
            data,
            largest_id: self.largest_id,
            content: self.content,
            labels,
        })
    }

    /// Prompts, not groups of a step: a prompt that comes again at a later step is not trained on
    /// there either.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn held_out(&self) -> BTreeSet<u64> {
        let mut seen = BTreeSet::new();
        let mut prompts: Vec<u64> =
            self.facts.iter().map(|f| f.prompt).filter(|prompt| seen.insert(*prompt)).collect();
        let count = (self.settings.holdout * prompts.len() as f64).round() as usize;
        draw(HOLDOUT_SEED, &mut prompts, count);
        prompts.into_iter().take(count).collect()
    }
}
