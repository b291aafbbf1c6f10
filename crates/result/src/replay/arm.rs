//! One arm: updates, drift, hold-out metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::old_policy::OldPolicy;
use stapo_framework::rules::Rule;

/// One objective with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmResult {
    /// Name of the objective.
    pub objective: Rule,
    /// What it does.
    pub rule: String,
    /// The seed, from 1.
    pub seed: u64,
    /// File of its tokens.
    pub token_log: String,
    /// Where it stopped early; `None` where it came to its end.
    pub stopped: Option<Stop>,
    /// All updates.
    pub updates: Vec<Update>,
    /// All steps.
    pub steps: Vec<StepDrift>,
    /// Hold-out metrics along the way; the last one is of the final policy.
    pub holdout: Vec<HoldoutMetrics>,
}

impl ArmResult {
    /// How far the policy is from its start at the end, in nats a token: held out, else over the logged tokens.
    pub(crate) fn divergence(&self) -> Option<f64> {
        let held_out = self.holdout.last().map(|metrics| metrics.kl_to_start);
        held_out.or_else(|| self.updates.last().map(|update| update.kl_to_start))
    }
}

/// An arm that the time was too short for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnfinishedArm {
    /// Name of the objective.
    pub objective: Rule,
    /// The seed, from 1.
    pub seed: u64,
    /// Steps that are done.
    pub steps_done: u64,
    /// Steps of the log.
    pub steps: u64,
}

/// Why an arm stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// What happened.
    pub reason: String,
    /// Number of the update, from 0.
    pub update: u64,
    /// Step of the log.
    pub step: i64,
    /// Mini-batch of the step, from 0.
    pub minibatch: u64,
    /// Tokens of the mini-batch with the worst numbers, by response and position.
    pub tokens: Vec<BadToken>,
}

/// A token of a mini-batch that gave no finite loss or gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BadToken {
    /// The response, by its id in the log.
    pub sample: String,
    /// Position in the response.
    pub position: u64,
    /// Id of the token.
    pub token_id: u32,
    /// What is wrong.
    pub what: String,
}

/// One update of the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Update {
    /// Number, from 0.
    pub update: u64,
    /// Step of the log.
    pub step: i64,
    /// Mini-batch of the step, from 0.
    pub minibatch: u64,
    /// Epoch, from 0.
    pub epoch: u64,
    /// Which of the objective's updates on this mini-batch, from 0.
    pub pass: u64,
    /// Trained tokens of the mini-batch.
    pub tokens: u64,
    /// The loss.
    pub loss: f64,
    /// Global norm of the gradient, before clipping.
    pub grad_norm: f64,
    /// Norm of lm_head's part; 0 where only an adapter is trained, which leaves lm_head as it is.
    pub lm_head_grad_norm: f64,
    /// Whether a gate dropped the gradient before the optimizer.
    pub dropped: bool,
    /// Mean entropy of the trained tokens before the update.
    pub mean_entropy: f64,
    /// The same after the update; `None` where another pass follows.
    pub mean_entropy_after: Option<f64>,
    /// Mean ratio to the old policy.
    pub mean_ratio: f64,
    /// Largest ratio.
    pub max_ratio: f64,
    /// Mean of |ln ρ|.
    pub mean_abs_log_ratio: f64,
    /// Share of the tokens in the loss that clipping bounds.
    pub clip_share: Option<f64>,
    /// k3 estimate of the divergence from the start, over the logged tokens.
    pub kl_to_start: f64,
    /// What the rule did.
    #[serde(flatten)]
    pub counts: Counts,
}

/// How far the replayed policy is from the one that wrote a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepDrift {
    /// Step of the log.
    pub step: i64,
    /// Mean |ln ρ| against the log, before the step's first update; `None` without a log-probability.
    pub drift: Option<f64>,
    /// Responses that it was measured on.
    pub measured_responses: u64,
    /// Responses of the step.
    pub responses: u64,
    /// The old policy in use: `log` or `recompute`.
    pub old: OldPolicy,
}

/// Quality on the responses that no arm trains on: means over prompts, each of which counts the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HoldoutMetrics {
    /// Updates before the measurement.
    pub updates: u64,
    /// Step of the log after which it was taken.
    pub step: Option<i64>,
    /// Log-probability a token of correct responses less that of wrong ones of the same prompt.
    pub margin: Option<f64>,
    /// Mean log-probability a token of correct responses.
    pub correct_logprob: Option<f64>,
    /// The same for wrong responses.
    pub wrong_logprob: Option<f64>,
    /// Probability that a correct response has a higher mean log-probability than a wrong one of the same prompt.
    pub auc: Option<f64>,
    /// Mean entropy of the tokens.
    pub entropy: f64,
    /// k3 estimate of the divergence from the start, over the logged tokens.
    pub kl_to_start: f64,
}

/// What the final policy of an arm says of one held-out prompt: what intervals are made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptScores {
    /// Name of the objective.
    pub objective: Rule,
    /// The seed, from 1.
    pub seed: u64,
    /// Which of the held-out prompts, from 0.
    pub prompt: u64,
    /// Its held-out responses.
    pub responses: u64,
    /// Its part of [`HoldoutMetrics`], whose numbers are means of these.
    pub metrics: HoldoutMetrics,
}
