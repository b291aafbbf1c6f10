//! Objectives over their seeds, and their differences.

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;

use super::arm::ArmResult;
use stapo_framework::rules::Rule;

/// An objective over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmSummary {
    /// Name of the objective.
    pub objective: Rule,
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

named! {
    /// What is compared between objectives.
    pub enum Metric {
        /// [`super::HoldoutMetrics::auc`].
        Auc = "auc",
        /// [`super::HoldoutMetrics::correct_logprob`].
        CorrectLogprob = "correct_logprob",
        /// [`super::HoldoutMetrics::wrong_logprob`].
        WrongLogprob = "wrong_logprob",
        /// [`super::HoldoutMetrics::entropy`].
        Entropy = "entropy",
        /// [`super::HoldoutMetrics::kl_to_start`].
        KlToStart = "kl_to_start",
        /// Mean gradient norm over the updates.
        GradNorm = "grad_norm",
    }
}

impl Metric {
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The objective.
    pub objective: Rule,
    /// What it is compared with.
    pub baseline: Rule,
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
    /// Whether the data supports a difference: adjusted p below 0.05, and at least three pairs.
    pub supported: bool,
}
