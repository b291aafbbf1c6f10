//! What an objective sees of a mini-batch.

use stapo_framework::token::ratio;

/// Statistics of a mini-batch; one entry a response token unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct MiniBatch<'a> {
    /// Response `i` has the tokens `bounds[i]..bounds[i + 1]`.
    pub bounds: &'a [usize],
    /// Whether the token is trained on.
    pub trained: &'a [bool],
    /// ln π of the current policy.
    pub logprob: &'a [f32],
    /// ln π of the old policy, the ratio's denominator.
    pub old: &'a [f32],
    /// Entropy of the current policy.
    pub entropy: &'a [f32],
    /// Advantages.
    pub advantage: &'a [f32],
    /// ln μ of the sampler.
    pub rollout: Option<&'a [f32]>,
    /// ln π of the logged teacher or reference.
    pub teacher: Option<&'a [f32]>,
    /// ln π of the policy that the replay started from.
    pub start: Option<&'a [f32]>,
    /// R − mean of the group, one a response.
    pub centred_reward: Option<&'a [f32]>,
    /// Which of the objective's updates on this mini-batch.
    pub pass: usize,
    /// Seed of random choices, different for every mini-batch.
    pub seed: u64,
}

impl MiniBatch<'_> {
    /// The trained tokens.
    pub fn trained_tokens(&self) -> impl Iterator<Item = usize> + '_ {
        self.trained.iter().enumerate().filter(|(_, trained)| **trained).map(|(t, _)| t)
    }

    /// The trained tokens of one response.
    pub fn trained_of(&self, response: usize) -> impl Iterator<Item = usize> + '_ {
        (self.bounds[response]..self.bounds[response + 1]).filter(|t| self.trained[*t])
    }

    /// Number of responses.
    pub fn responses(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// ρ of a token.
    pub fn ratio(&self, t: usize) -> f64 {
        ratio(f64::from(self.logprob[t]), f64::from(self.old[t]))
    }

    /// A of a token.
    pub fn advantage(&self, t: usize) -> f64 {
        f64::from(self.advantage[t])
    }

    /// The mean of a column over the trained tokens; NaN where there are none.
    pub fn mean_of(&self, values: &[f32]) -> f64 {
        let (sum, count) =
            self.trained_tokens().fold((0.0, 0_u64), |(s, n), t| (s + f64::from(values[t]), n + 1));
        sum / count as f64
    }

    /// The response that each token belongs to.
    pub fn response_of_tokens(&self) -> Vec<usize> {
        let mut owner = vec![0; self.trained.len()];
        for response in 0..self.responses() {
            owner[self.bounds[response]..self.bounds[response + 1]].fill(response);
        }
        owner
    }
}
