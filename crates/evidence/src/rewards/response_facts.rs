//! What one response says, from one pass over its tokens.

use super::Ending;
use super::hash::of_tokens;
use super::whole::Placed;
use crate::{Response, mix};
use serde::{Deserialize, Serialize};

/// An advantage of this size or less is 0.
pub const NO_ADVANTAGE: f64 = 1e-6;

/// What is kept of a response among its siblings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sibling {
    /// Order in the log.
    pub hash: u64,
    /// Trainer step.
    pub step: i64,
    /// Hash of the slice's name.
    pub slice: u32,
    /// Final reward.
    pub reward: f32,
    /// Advantage of its trained tokens, the largest where they differ; NaN where there is none.
    pub advantage: f32,
    /// Parts of the reward.
    pub parts: Box<[f32]>,
    /// Mini-batch of the step.
    pub update: Option<i64>,
    /// Hash of its tokens and of its prompt, where that is known.
    pub tokens: Option<u64>,
    /// Σ ln μ of what it drew (the trainer's, where the sampler's is not logged): no less than its tokens' chance.
    pub ln_chance: f32,
    /// Tokens.
    pub len: u32,
    /// Tokens that are trained.
    pub trained: u32,
    /// Last token.
    pub last: Option<i32>,
    /// Last token that is trained.
    pub last_trained: Option<i32>,
    /// How it ended.
    pub ending: Ending,
    /// Whether it was cut.
    pub cut: Option<bool>,
}

impl Placed for Sibling {
    fn order(&self) -> (u64, u64) {
        (self.hash, self.tokens.unwrap_or(0) ^ u64::from(self.reward.to_bits()))
    }
}

/// The advantage over the trained tokens of a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advantage {
    /// The largest in size; NaN where none is known.
    pub value: f32,
    /// Share of the trained tokens that have 0.
    pub zeros: f64,
    /// Whether those that are not 0 differ, as a critic's do.
    pub varies: bool,
}

/// Trained tokens that are neither first nor last, in a response to which the sampler gave values: engines leave out the
/// first token's, the last one's or a whole response's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inner {
    /// All.
    pub all: u64,
    /// Without a value of the sampler's: it did not draw them.
    pub undrawn: u64,
    /// Of these, those beside another one.
    pub in_rows: u64,
    /// Of these, those alone after an untrained token.
    pub at_starts: u64,
    /// Of these, those alone before an untrained token.
    pub at_ends: u64,
    /// Whether the first token of the response is undrawn, and the last, where they are trained.
    pub first: Option<bool>,
    /// See `first`.
    pub last: Option<bool>,
}

/// Everything that is counted of a response.
#[derive(Clone, Copy, Debug)]
pub struct ResponseFacts {
    pub advantage: Advantage,
    pub inner: Inner,
    pub trained: u32,
    /// Whether it is trained: it has such tokens, or none are logged.
    pub is_trained: bool,
    /// Whether its end is trained, where the policy ended it and something of it is trained.
    pub end_trained: Option<bool>,
    /// Whether the sampler has a value for an end that is untrained: it drew it.
    pub end_drawn: bool,
    pub ending: Ending,
    pub cut: Option<bool>,
    pub tokens: Option<u64>,
    pub last: Option<i32>,
    ln_chance: f32,
}

impl ResponseFacts {
    #[allow(clippy::cast_possible_truncation)] // a response is shorter than 2^32
    pub fn of(response: &Response<'_>) -> Self {
        let trained = match response.mask {
            None => response.len(),
            Some(mask) => mask.iter().filter(|trained| **trained == 1).count(),
        };
        let ending = Ending::of(response);
        let end_trained = if ending == Ending::Finished { end_trained(response, trained) } else { None };
        let logged = response.tokens.filter(|ids| !ids.is_empty() && !ids.contains(&i32::MIN));
        Self {
            advantage: advantage(response, trained),
            inner: inner(response, trained),
            trained: trained as u32,
            is_trained: trained > 0 || response.is_empty() && response.tokens.is_none(),
            end_trained,
            end_drawn: end_trained == Some(false) && end_drawn(response),
            ending,
            cut: response.truncated.or(match ending {
                Ending::Cut => Some(true),
                Ending::Finished => Some(false),
                Ending::Failed | Ending::Unknown => None,
            }),
            tokens: logged
                .map(|ids| response.prompt.map_or(of_tokens(ids), |prompt| mix(of_tokens(ids), prompt))),
            last: response.tokens.and_then(|ids| ids.last().copied()).filter(|id| *id != i32::MIN),
            ln_chance: ln_chance(response),
        }
    }

    /// It among its siblings.
    #[allow(clippy::cast_possible_truncation)]
    pub fn sibling(&self, response: &Response<'_>, slice: u32) -> Sibling {
        Sibling {
            hash: response.hash,
            step: response.step,
            slice,
            reward: response.reward,
            advantage: self.advantage.value,
            parts: response.parts.into(),
            update: response.update,
            tokens: self.tokens,
            ln_chance: self.ln_chance,
            len: response.len() as u32,
            trained: self.trained,
            last: self.last,
            last_trained: last_trained(response),
            ending: self.ending,
            cut: self.cut,
        }
    }
}

/// The advantage of a response. That of a response none of whose tokens is trained is known all the same where it is logged
/// by response: its group's mean is taken over it, too.
fn advantage(response: &Response<'_>, trained: usize) -> Advantage {
    let of_tokens = |values: &[f32]| {
        let known = || {
            let values = values.iter().enumerate().filter(|(t, _)| response.is_trained(*t));
            values.map(|(_, value)| *value).filter(|value| value.is_finite())
        };
        let (mut all, mut zeros) = (0_u64, 0_u64);
        let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
        for value in known() {
            all += 1;
            if value == 0.0 {
                zeros += 1;
            } else {
                lowest = lowest.min(value);
                highest = highest.max(value);
            }
        }
        let value = match (all, zeros == all) {
            (0, _) => f32::NAN,
            (_, true) => 0.0,
            _ if -lowest > highest => lowest,
            _ => highest,
        };
        // A mean in single precision rounds at its last digits.
        let varies =
            highest > lowest && f64::from(highest - lowest) > 1e-3 * f64::from(value.abs()).max(1e-3);
        Advantage { value, zeros: zeros as f64 / all.max(1) as f64, varies }
    };
    match (response.advantages, response.advantage) {
        (Some(values), _) if trained > 0 => of_tokens(values),
        (None, Some(value)) if value.is_finite() => {
            Advantage { value, zeros: f64::from(u8::from(value == 0.0)), varies: false }
        }
        _ => Advantage { value: f32::NAN, zeros: 0.0, varies: false },
    }
}

fn inner(response: &Response<'_>, trained: usize) -> Inner {
    let mut inner = Inner::default();
    let Some(drawn) = response.rollout.filter(|_| response.len() > 2) else { return inner };
    let undrawn = match response.mask {
        None => drawn.iter().filter(|value| !value.is_finite()).count(),
        Some(mask) => mask.iter().zip(drawn).filter(|(m, value)| (**m == 1) & !value.is_finite()).count(),
    };
    if undrawn == trained {
        return inner;
    }
    let last = drawn.len() - 1;
    let is_undrawn = |t: usize| response.is_trained(t) && !drawn[t].is_finite();
    let ends = [0, last].map(|t| response.is_trained(t).then(|| is_undrawn(t)));
    [inner.first, inner.last] = ends;
    inner.all = (trained - ends.iter().flatten().count()) as u64;
    if undrawn == 0 {
        return inner;
    }
    for t in (1..last).filter(|t| is_undrawn(*t)) {
        inner.undrawn += 1;
        if is_undrawn(t - 1) || is_undrawn(t + 1) {
            inner.in_rows += 1;
        } else if !response.is_trained(t - 1) {
            inner.at_starts += 1;
        } else if !response.is_trained(t + 1) {
            inner.at_ends += 1;
        }
    }
    inner
}

/// Whether the end of a response is trained, where all before it is: up to two tokens (an end token, and a line feed that
/// a chat template puts after it) that a mask leaves out. More is an observation.
fn end_trained(response: &Response<'_>, trained: usize) -> Option<bool> {
    let last = response.len().checked_sub(1).filter(|_| trained > 0)?;
    let is_trained = |back: usize| last.checked_sub(back).is_some_and(|t| response.is_trained(t));
    match (is_trained(0), is_trained(1) || is_trained(2)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Whether the sampler has a value for one of the untrained tokens at the end; 0 stands for none in some logs.
fn end_drawn(response: &Response<'_>) -> bool {
    let Some(drawn) = response.rollout else { return false };
    let untrained = (0..drawn.len()).rev().take_while(|t| !response.is_trained(*t));
    untrained.into_iter().any(|t| drawn[t].is_finite() && drawn[t] != 0.0)
}

fn last_trained(response: &Response<'_>) -> Option<i32> {
    let ids = response.tokens?;
    (0..ids.len()).rev().find(|t| response.is_trained(*t)).map(|t| ids[t]).filter(|id| *id != i32::MIN)
}

/// Σ ln μ over what the sampler has a value for, else Σ ln π_old over trained tokens: what nobody drew, as an observation,
/// makes a copy no less probable.
#[allow(clippy::cast_possible_truncation)]
fn ln_chance(response: &Response<'_>) -> f32 {
    let sum = |values: &[f32], trained: bool| {
        let values = values.iter().enumerate().filter(|(t, _)| !trained || response.is_trained(*t));
        values.map(|(_, value)| f64::from(*value)).filter(|value| value.is_finite()).sum::<f64>() as f32
    };
    match response.rollout.filter(|drawn| drawn.iter().any(|value| value.is_finite())) {
        Some(drawn) => sum(drawn, false),
        None => sum(response.logprob, true),
    }
}
