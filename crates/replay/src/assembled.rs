//! A mini-batch, its responses' numbers one after another.

use super::log::LoggedResponse;
use super::model::{Sequence, TokenStats};
use super::objective::MiniBatch;
use super::stage::StepData;

/// Everything of a mini-batch that does not change with the policy.
pub struct Assembled {
    /// For the model.
    pub sequences: Vec<Sequence>,
    /// Where responses start.
    pub bounds: Vec<usize>,
    /// Whether a token is trained on.
    pub trained: Vec<bool>,
    /// Old log-probabilities.
    pub old: Vec<f32>,
    /// Log-probabilities of the start.
    pub start: Vec<f32>,
    /// Advantages.
    pub advantage: Vec<f32>,
    rollout: Option<Vec<f32>>,
    teacher: Option<Vec<f32>>,
    centred_reward: Option<Vec<f32>>,
}

impl Assembled {
    /// The responses `members` of a step; `old` has a list for every response of the step.
    pub fn new(step: &StepData, members: &[usize], old: &[Vec<f32>]) -> Self {
        let responses: Vec<&LoggedResponse> = members.iter().map(|i| &step.responses[*i]).collect();
        let mut bounds = vec![0];
        for response in &responses {
            bounds.push(bounds.last().copied().unwrap_or(0) + response.len());
        }
        let of_tokens = |values: fn(&LoggedResponse) -> &[f32]| -> Vec<f32> {
            responses.iter().flat_map(|r| values(r)).copied().collect()
        };
        let gather = |lists: &[Vec<f32>]| members.iter().flat_map(|i| &lists[*i]).copied().collect();
        let has_teacher = responses.iter().all(|r| r.teacher.len() == r.len());
        let has_rollout = responses.iter().all(|r| r.rollout.len() == r.len());
        let centred = responses.iter().map(|r| r.centred_reward).collect::<Vec<f32>>();
        Self {
            sequences: members.iter().map(|i| step.sequences[*i].clone()).collect(),
            bounds,
            trained: responses.iter().flat_map(|r| &r.trained).copied().collect(),
            old: gather(old),
            start: gather(&step.start),
            advantage: of_tokens(|r| &r.advantage),
            rollout: has_rollout.then(|| of_tokens(|r| &r.rollout)),
            teacher: has_teacher.then(|| of_tokens(|r| &r.teacher)),
            centred_reward: centred.iter().all(|c| !c.is_nan()).then_some(centred),
        }
    }

    /// As objectives see it, with the current policy's numbers.
    pub fn view<'a>(&'a self, current: &'a Current, pass: usize, seed: u64) -> MiniBatch<'a> {
        MiniBatch {
            bounds: &self.bounds,
            trained: &self.trained,
            logprob: &current.logprob,
            old: &self.old,
            entropy: &current.entropy,
            advantage: &self.advantage,
            rollout: self.rollout.as_deref(),
            teacher: self.teacher.as_deref(),
            start: Some(&self.start),
            centred_reward: self.centred_reward.as_deref(),
            pass,
            seed,
        }
    }

    /// Numbers of all tokens as a list a response.
    pub fn by_response(&self, values: &[f64]) -> Vec<Vec<f32>> {
        let cast = |w: &[usize]| values[w[0]..w[1]].iter().map(|v| *v as f32).collect();
        self.bounds.windows(2).map(cast).collect()
    }

    /// Trained tokens.
    pub fn trained_tokens(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.trained.len()).filter(|t| self.trained[*t])
    }
}

/// What the current policy says of a mini-batch.
#[derive(Clone, Debug, Default)]
pub struct Current {
    /// ln π.
    pub logprob: Vec<f32>,
    /// Entropy.
    pub entropy: Vec<f32>,
}

impl Current {
    /// From one list a response to one list.
    pub fn of(stats: &[TokenStats]) -> Self {
        Self {
            logprob: stats.iter().flat_map(|s| &s.logprob).copied().collect(),
            entropy: stats.iter().flat_map(|s| &s.entropy).copied().collect(),
        }
    }
}
