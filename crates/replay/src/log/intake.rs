//! From the token stream to responses that can be replayed.

use super::groups::GroupRewards;
use super::labels::Labels;
use super::response::LoggedResponse;
use stapo_batch::batch::{Id, MISSING_ID, TokenBatch};
use stapo_batch::columns::Column;

/// What a token cannot be trained on without, for all arms alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// The log's old log-probability.
    pub old: bool,
    /// The sampler's log-probability.
    pub rollout: bool,
}

/// How responses are taken over.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Rewards of groups.
    pub groups: &'a GroupRewards,
    /// What makes a response correct.
    pub labels: &'a Labels,
    /// What a token cannot be trained on without.
    pub needs: Needs,
}

/// Why a response cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refused {
    /// Nothing before the first token.
    NoPrompt,
    /// No tokens.
    Empty,
    /// An id is missing or negative.
    MissingIds,
    /// Positions say that tokens are missing.
    Gaps,
    /// No token is trained on.
    Untrained,
}

impl Refused {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoPrompt => "no prompt ids",
            Self::Empty => "no tokens",
            Self::MissingIds => "missing token ids",
            Self::Gaps => "positions with gaps",
            Self::Untrained => "no token is trained on",
        }
    }
}

/// Whether response `i` can be replayed.
pub fn refusal(batch: &TokenBatch, i: usize) -> Option<Refused> {
    let range = batch.range(i);
    if range.is_empty() {
        return Some(Refused::Empty);
    }
    let prompt = batch.responses.prompt_ids.as_ref().and_then(|p| p[i].as_ref());
    let Some(prompt) = prompt.filter(|p| !p.is_empty()) else { return Some(Refused::NoPrompt) };
    let Some(ids) = batch.token_ids().map(|ids| &ids[range.clone()]) else {
        return Some(Refused::MissingIds);
    };
    if ids.iter().chain(prompt.iter()).any(|id| *id == MISSING_ID || *id < 0) {
        return Some(Refused::MissingIds);
    }
    let in_place = |(place, t): (usize, usize)| usize::try_from(batch.position(i, t)) == Ok(place);
    if !range.clone().enumerate().all(in_place) {
        return Some(Refused::Gaps);
    }
    let untrained = batch.mask().is_some_and(|mask| mask[range].iter().all(|m| *m != 1));
    untrained.then_some(Refused::Untrained)
}

/// Response `i`, copied; the second number counts trained tokens that lack a number.
pub fn take_over(batch: &TokenBatch, i: usize, ordinal: u64, reading: Reading<'_>) -> (LoggedResponse, u64) {
    let Reading { groups, labels, needs } = reading;
    let range = batch.range(i);
    let r = &batch.responses;
    let prompt = r.prompt_ids.as_ref().and_then(|p| p[i].as_ref());
    let ids = &batch.token_ids().unwrap_or_default()[range.clone()];
    let prompt = prompt.map_or(&[][..], |p| &p[..]);
    let tokens = prompt.iter().chain(ids).map(|id| id.cast_unsigned()).collect();
    let column = |c: Column| batch.floats(c).map_or_else(Vec::new, |values| values[range.clone()].to_vec());
    let advantage = match batch.advantages() {
        Some(all) => all[range.clone()].to_vec(),
        None => {
            let one = groups.advantage(batch, i).map_or(f32::NAN, |a| a as f32);
            vec![one; range.len()]
        }
    };
    let (old, rollout) = (column(Column::Logprob), column(Column::LogprobRollout));
    let mut trained: Vec<bool> = match batch.mask() {
        Some(mask) => mask[range.clone()].iter().map(|m| *m == 1).collect(),
        None => vec![true; range.len()],
    };
    let mut incomplete = 0;
    for t in 0..range.len() {
        let is_missing = |values: &[f32]| !values.get(t).is_some_and(|v| v.is_finite());
        let lacks = advantage[t].is_nan()
            || (needs.old && is_missing(&old))
            || (needs.rollout && is_missing(&rollout));
        if trained[t] && lacks {
            trained[t] = false;
            incomplete += 1;
        }
    }
    let id = |c: Column| batch.ids(c).map_or(Id::Missing, |ids| ids[i].clone());
    let response = LoggedResponse {
        ordinal,
        step: r.step[i],
        update: r.ints.get(Column::Update).and_then(|u| u[i]),
        group: id(Column::GroupId),
        sample: id(Column::SampleId),
        reward: r.floats.get(Column::Reward).map_or(f32::NAN, |v| v[i]),
        correct: labels.of(batch, i, &advantage),
        centred_reward: groups.centred(batch, i).map_or(f32::NAN, |c| c as f32),
        tokens,
        response_start: prompt.len(),
        old,
        rollout,
        teacher: column(Column::LogprobRef),
        advantage,
        trained,
    };
    (response, incomplete)
}
