//! What a replay found. Serialised, it is `replay.json`; the same numbers for the same inputs, so
//! speeds are kept apart in `timing.json`.

mod arm;
mod cases;
mod counts;
mod enough;
mod old_policy;
mod summary;
mod timing;
mod warnings;

pub use arm::{ArmResult, BadToken, HoldoutMetrics, PromptScores, StepDrift, Stop, UnfinishedArm, Update};
pub use cases::{Alternative, Case};
pub use counts::Counts;
pub use enough::FEWEST_PROMPTS;
pub use old_policy::OldPolicy;
pub use summary::{ArmSummary, Difference, Finding, Metric, MetricSummary};
pub use timing::{ArmTiming, UpdateSpeed};
pub use warnings::{ReplayWarning, ReplayWarningCode};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seeds (shuffles) from which on differences can be told from chance.
pub const FEWEST_SEEDS: u64 = 3;

/// Version of `replay.json`.
pub const SCHEMA_VERSION: u32 = 2;

/// Everything one replay found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReplayResult {
    /// Version of this format.
    pub schema_version: u32,
    /// What the data supports, in plain words.
    pub verdict: ReplayVerdict,
    /// What was replayed.
    pub data: Data,
    /// The policy that every arm started from.
    pub model: Model,
    /// How it was trained.
    pub training: Training,
    /// Hold-out metrics of the policy before any update.
    pub start: Option<HoldoutMetrics>,
    /// One an objective and seed.
    pub arms: Vec<ArmResult>,
    /// Arms that the time was too short for (`--max-minutes`); `--resume` goes on with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<UnfinishedArm>,
    /// One an objective, over its seeds.
    pub summary: Vec<ArmSummary>,
    /// Differences between objectives, over prompts and shuffles: first those that the verdict is about, against the
    /// random mask before the baseline.
    pub differences: Vec<Difference>,
    /// What each arm says of each held-out prompt at its end; in `tables/replay_prompts.parquet`.
    #[serde(skip)]
    pub prompts: Vec<PromptScores>,
    /// Flagged tokens with the policy's own alternatives, where asked for.
    pub cases: Vec<Case>,
    /// What the user should know.
    pub warnings: Vec<ReplayWarning>,
}

impl ReplayResult {
    /// Arms that have lost the policy, each with its divergence from the start at the end, in nats a token: they
    /// are further from it than a policy that knows nothing. That one gives every token 1/V, so its divergence is
    /// ln V less the entropy of the start.
    pub fn lost(&self) -> Vec<(&ArmResult, f64)> {
        let ends = self.arms.iter().filter_map(|arm| Some((arm, arm.divergence()?)));
        ends.filter(|(_, divergence)| is_lost(*divergence, self.model.vocab_size)).collect()
    }

    /// Whether no arm has kept the policy.
    pub fn is_lost(&self) -> bool {
        !self.arms.is_empty() && self.lost().len() == self.arms.len()
    }
}

/// Whether a policy that is so many nats a token away from its start is further from it than a guess. Not a
/// number is no divergence that was measured: such arms have stopped.
fn is_lost(divergence: f64, vocabulary: u64) -> bool {
    divergence > (vocabulary.max(2) as f64).ln()
}

/// What the data supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReplayVerdict {
    /// The finding in a few words.
    pub word: &'static str,
    /// Whether it is the mask: the objective minus the random mask, else minus the baseline.
    pub headline: String,
    /// The same against the baseline, or what would be enough to tell.
    pub detail: String,
}

/// The replayed part of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Data {
    /// The log's files.
    pub files: Vec<String>,
    /// Steps.
    pub steps: u64,
    /// Responses that are trained on.
    pub responses: u64,
    /// Tokens that are trained on, once an epoch.
    pub tokens: u64,
    /// Responses that no arm trains on.
    pub holdout_responses: u64,
    /// Their tokens.
    pub holdout_tokens: u64,
    /// Prompts among them.
    pub holdout_prompts: u64,
    /// Held-out responses beyond what is evaluated.
    pub holdout_unused: u64,
    /// Longest response of the log.
    pub longest_response: u64,
    /// What makes a response correct, in words.
    pub correct: String,
    /// Where advantages come from: `logged` or `rewards`.
    pub advantages: String,
    /// Responses that cannot be replayed, with the reason.
    pub skipped: Vec<SkippedResponses>,
    /// Trained tokens without an old log-probability or an advantage: they are not trained on.
    pub incomplete_tokens: u64,
}

impl Data {
    /// The log in a message: its file, or the first of them.
    #[must_use]
    pub fn name(&self) -> String {
        match self.files.as_slice() {
            [] => "the log".into(),
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }
}

/// Responses that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedResponses {
    /// Why.
    pub reason: String,
    /// How many.
    pub responses: u64,
}

/// The starting policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Folder of the checkpoint; `None` for a surrogate.
    pub path: Option<String>,
    /// Whether it is a small policy fitted to the log, not the one that was trained.
    pub surrogate: bool,
    /// Parameters.
    pub parameters: u64,
    /// Size of the vocabulary.
    pub vocab_size: u64,
    /// The low-rank adapter that was trained instead of the model, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapter>,
    /// How the surrogate was fitted.
    pub fit: Option<SurrogateFit>,
}

/// A low-rank adapter: W + scale · B A in the place of W.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Adapter {
    /// Folder that it was read from; `None` for a new one.
    pub path: Option<String>,
    /// Rows of A.
    pub rank: u64,
    /// PEFT's `lora_alpha`.
    pub alpha: f64,
    /// What B A is multiplied by: alpha over the rank, or over its root.
    pub scale: f64,
    /// Linear layers that have one.
    pub modules: Vec<String>,
    /// Numbers that are trained.
    pub parameters: u64,
}

/// How well a surrogate follows the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SurrogateFit {
    /// Updates of the fit.
    pub updates: u64,
    /// Mean cross-entropy a token at its end.
    pub cross_entropy: f64,
    /// Pearson correlation of its log-probabilities with the logged ones.
    pub correlation: Option<f64>,
    /// Mean distance of its log-probabilities from the logged ones, in nats.
    pub mean_abs_error: Option<f64>,
    /// Whether it was judged on responses that it was not fitted to.
    pub held_out: bool,
    /// Tokens that it was judged on.
    pub tokens: u64,
    /// Whether correlation and distance reached what was asked for.
    pub reached: bool,
}

/// Where a learning rate is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// The user gave it.
    Option,
    /// The log's metadata.
    Log,
    /// Neither says: the default.
    Default,
}

/// How every arm was trained.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Training {
    /// Responses of a mini-batch; `None` where the log's own mini-batches were used.
    pub minibatch: Option<u64>,
    /// Passes over each step.
    pub epochs: u64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Where the learning rate is from.
    pub learning_rate_source: RateSource,
    /// AdamW's β₁ and β₂.
    pub betas: (f64, f64),
    /// AdamW's ε.
    pub eps: f64,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// Updates of linear warm-up.
    pub warmup: u64,
    /// The gradient's global norm is clipped to this.
    pub max_grad_norm: f64,
    /// Weight of the divergence from the start.
    pub kl_beta: f64,
    /// Seeds of every objective.
    pub seeds: u64,
    /// Whether the order of mini-batches depends on the seed.
    pub shuffled: bool,
    /// τ_p of the masks.
    pub tau_p: f64,
    /// The old policy that was asked for.
    pub old: OldPolicy,
    /// Drift at which `auto` recomputes.
    pub drift_limit: f64,
    /// Share of the prompts that is held out.
    pub holdout: f64,
    /// The device.
    pub device: String,
}

#[cfg(test)]
mod tests {
    use super::is_lost;

    #[test]
    fn a_policy_is_lost_where_a_guess_would_be_nearer() {
        assert!(is_lost(5_771.0, 256) && is_lost(5.6, 256));
        assert!(!is_lost(5.5, 256) && !is_lost(0.08, 256) && !is_lost(f64::NAN, 256));
    }
}
