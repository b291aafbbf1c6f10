//! What a replay found. Serialised, it is `replay.json`; the same numbers for the same inputs, so
//! speeds are kept apart in `timing.json`.

use serde::{Deserialize, Serialize};

use super::objective::Counts;

/// Version of `replay.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// A replay.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayResult {
    /// Version of this format.
    pub schema_version: u32,
    /// What the data supports, in plain words.
    pub verdict: Verdict,
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
    /// One an objective, over its seeds.
    pub summary: Vec<ArmSummary>,
    /// Differences between objectives, paired by seed.
    pub differences: Vec<Difference>,
    /// Flagged tokens with the policy's own alternatives, where asked for.
    pub cases: Vec<Case>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// What the data supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// The main finding.
    pub headline: String,
    /// How far it can be trusted: seeds, drift, share of silenced tokens.
    pub detail: String,
}

/// The replayed part of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Where advantages come from: `logged` or `rewards`.
    pub advantages: String,
    /// Responses that cannot be replayed, with the reason.
    pub skipped: Vec<SkippedResponses>,
    /// Trained tokens without an old log-probability or an advantage: they are not trained on.
    pub incomplete_tokens: u64,
}

/// Responses that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkippedResponses {
    /// Why.
    pub reason: String,
    /// How many.
    pub responses: u64,
}

/// The starting policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Folder of the checkpoint; `None` for a surrogate.
    pub path: Option<String>,
    /// Whether it is a small policy fitted to the log, not the one that was trained.
    pub surrogate: bool,
    /// Parameters.
    pub parameters: u64,
    /// Size of the vocabulary.
    pub vocab_size: u64,
    /// How the surrogate was fitted.
    pub fit: Option<SurrogateFit>,
}

/// How well a surrogate follows the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurrogateFit {
    /// Updates of the fit.
    pub updates: u64,
    /// Mean cross-entropy a token at its end.
    pub cross_entropy: f64,
    /// Pearson correlation of its log-probabilities with the logged ones.
    pub correlation: Option<f64>,
    /// Tokens that the correlation was taken over.
    pub tokens: u64,
    /// Whether the correlation reached what was asked for.
    pub reached: bool,
}

/// How every arm was trained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Training {
    /// Responses of a mini-batch; `None` where the log's own mini-batches were used.
    pub minibatch: Option<u64>,
    /// Passes over each step.
    pub epochs: u64,
    /// Learning rate.
    pub learning_rate: f64,
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
    /// `log`, `recompute` or `auto`.
    pub old: String,
    /// Drift at which `auto` recomputes.
    pub drift_limit: f64,
    /// Share of the prompts that is held out.
    pub holdout: f64,
    /// The device.
    pub device: String,
}

/// One objective with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmResult {
    /// Name of the objective.
    pub objective: String,
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

/// Why an arm stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Norm of lm_head's part.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub old: String,
}

/// Quality on the responses that no arm trains on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldoutMetrics {
    /// Updates before the measurement.
    pub updates: u64,
    /// Step of the log after which it was taken.
    pub step: Option<i64>,
    /// Mean log-probability a token of correct responses (each response counts the same).
    pub correct_logprob: Option<f64>,
    /// The same for wrong responses.
    pub wrong_logprob: Option<f64>,
    /// Probability that a correct response has a higher mean log-probability than a wrong one.
    pub auc: Option<f64>,
    /// Mean entropy of the tokens.
    pub entropy: f64,
    /// k3 estimate of the divergence from the start, over the logged tokens.
    pub kl_to_start: f64,
}

/// An objective over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmSummary {
    /// Name of the objective.
    pub objective: String,
    /// What it does.
    pub rule: String,
    /// Seeds that came to their end.
    pub finished: u64,
    /// Seeds that stopped early.
    pub stopped: u64,
    /// Silenced tokens of a seed, on average; `None` where the objective silences nothing.
    pub silenced: Option<f64>,
    /// Their share of the trained tokens.
    pub silenced_share: Option<f64>,
    /// Metrics at the end.
    pub metrics: Vec<MetricSummary>,
}

/// A metric over the seeds of an objective.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricSummary {
    /// Which.
    pub metric: Metric,
    /// Mean over seeds.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean; `None` with fewer than two seeds.
    pub interval: Option<f64>,
    /// The values, by seed.
    pub values: Vec<f64>,
}

/// What is compared between objectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// [`HoldoutMetrics::auc`].
    Auc,
    /// [`HoldoutMetrics::correct_logprob`].
    CorrectLogprob,
    /// [`HoldoutMetrics::wrong_logprob`].
    WrongLogprob,
    /// [`HoldoutMetrics::entropy`].
    Entropy,
    /// [`HoldoutMetrics::kl_to_start`].
    KlToStart,
    /// Mean gradient norm over the updates.
    GradNorm,
}

impl Metric {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::Auc, Self::CorrectLogprob, Self::WrongLogprob, Self::Entropy, Self::KlToStart, Self::GradNorm];

    /// For people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Auc => "separation of correct from wrong (AUC)",
            Self::CorrectLogprob => "log-probability of correct responses",
            Self::WrongLogprob => "log-probability of wrong responses",
            Self::Entropy => "entropy",
            Self::KlToStart => "divergence from the start",
            Self::GradNorm => "gradient norm",
        }
    }

    /// The metric at the end of an arm.
    #[must_use]
    pub fn of(self, arm: &ArmResult) -> Option<f64> {
        let last = arm.holdout.last();
        match self {
            Self::Auc => last?.auc,
            Self::CorrectLogprob => last?.correct_logprob,
            Self::WrongLogprob => last?.wrong_logprob,
            Self::Entropy => last.map(|h| h.entropy),
            Self::KlToStart => last.map(|h| h.kl_to_start),
            Self::GradNorm => {
                let sum: f64 = arm.updates.iter().map(|u| u.grad_norm).sum();
                (!arm.updates.is_empty()).then(|| sum / arm.updates.len() as f64)
            }
        }
    }
}

/// One objective against another on one metric, paired by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The objective.
    pub objective: String,
    /// What it is compared with.
    pub baseline: String,
    /// On what.
    pub metric: Metric,
    /// Seeds that both finished.
    pub pairs: u64,
    /// Mean of objective − baseline.
    pub mean: f64,
    /// 95 % interval of the mean over seeds; `None` with fewer than two pairs.
    pub interval: Option<(f64, f64)>,
    /// Two-sided paired t-test; `None` with fewer than two pairs or without any variation.
    pub p_value: Option<f64>,
    /// Wilcoxon's signed-rank test of the same pairs.
    pub p_signed_rank: Option<f64>,
    /// `p_value` adjusted for all differences of this replay (Holm).
    pub p_adjusted: Option<f64>,
    /// Whether the data supports a difference: adjusted p below 0.05.
    pub supported: bool,
}

/// A flagged token with the policy's own alternatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Step of the log.
    pub step: i64,
    /// The response, by its id in the log.
    pub sample: String,
    /// Position in the response.
    pub position: u64,
    /// Id of the token.
    pub token_id: u32,
    /// Its text, where known.
    pub token: Option<String>,
    /// Texts before it.
    pub before: String,
    /// Texts after it.
    pub after: String,
    /// Its probability under the starting policy.
    pub probability: f64,
    /// Entropy there.
    pub entropy: f64,
    /// Its advantage.
    pub advantage: f64,
    /// Whether it is silenced; else it is an exploratory token.
    pub spurious: bool,
    /// The most probable tokens at its place.
    pub alternatives: Vec<Alternative>,
}

/// A token that the policy could have taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Id.
    pub token_id: u32,
    /// Text, where known.
    pub token: Option<String>,
    /// Probability.
    pub probability: f64,
}

/// What the user should know, and do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// Which.
    pub code: WarningCode,
    /// What was found.
    pub message: String,
    /// The next step.
    pub hint: String,
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// The policy is not the one that was trained.
    Surrogate,
    /// The first policy does not give the logged log-probabilities.
    OtherPolicy,
    /// The replay is far from the logged policy.
    Drift,
    /// An arm stopped early.
    ArmStopped,
    /// One seed tells nothing about chance.
    OneSeed,
    /// Seeds change nothing.
    SeedsAlike,
    /// The log was trained at another learning rate.
    LearningRate,
    /// A mask took nothing out.
    NothingSilenced,
    /// Responses or tokens cannot be replayed.
    Skipped,
    /// Nothing is held out, or it cannot tell correct from wrong.
    NoHoldout,
    /// An objective had to do without something.
    Objective,
}

impl WarningCode {
    /// For people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Surrogate => "surrogate policy",
            Self::OtherPolicy => "another policy",
            Self::Drift => "drift",
            Self::ArmStopped => "arm stopped",
            Self::OneSeed => "one seed",
            Self::SeedsAlike => "seeds alike",
            Self::LearningRate => "learning rate",
            Self::NothingSilenced => "nothing silenced",
            Self::Skipped => "left out",
            Self::NoHoldout => "hold-out",
            Self::Objective => "objective",
        }
    }
}
