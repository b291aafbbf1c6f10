//! Objectives over their seeds, and their differences.

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;

use super::arm::{ArmResult, HoldoutMetrics};
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
    /// The values, by seed.
    pub values: Vec<f64>,
}

named! {
    /// What is compared between objectives.
    pub enum Metric {
        /// [`super::HoldoutMetrics::margin`]: what the verdict is about.
        Margin = "margin",
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
        /// Mean gradient norm over the updates: of what is trained on, so no interval over prompts.
        GradNorm = "grad_norm",
    }
}

impl Metric {
    /// What the verdict is about; all else is shown with intervals and decides nothing.
    pub const PRIMARY: Self = Self::Margin;

    /// For people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Margin => "right over wrong answers, nats a token",
            Self::Auc => "right above wrong (AUC)",
            Self::CorrectLogprob => "log-probability of right answers",
            Self::WrongLogprob => "log-probability of wrong answers",
            Self::Entropy => "entropy",
            Self::KlToStart => "divergence from the start",
            Self::GradNorm => "gradient norm",
        }
    }

    /// The metric on held-out responses; `None` for what is measured elsewhere.
    #[must_use]
    pub fn of_holdout(self, metrics: &HoldoutMetrics) -> Option<f64> {
        match self {
            Self::Margin => metrics.margin,
            Self::Auc => metrics.auc,
            Self::CorrectLogprob => metrics.correct_logprob,
            Self::WrongLogprob => metrics.wrong_logprob,
            Self::Entropy => Some(metrics.entropy),
            Self::KlToStart => Some(metrics.kl_to_start),
            Self::GradNorm => None,
        }
    }

    /// The metric at the end of an arm.
    #[must_use]
    pub fn of(self, arm: &ArmResult) -> Option<f64> {
        if self == Self::GradNorm {
            let sum: f64 = arm.updates.iter().map(|u| u.grad_norm).sum();
            return (!arm.updates.is_empty()).then(|| sum / arm.updates.len() as f64);
        }
        self.of_holdout(arm.holdout.last()?)
    }
}

named! {
    /// What a difference shows.
    pub enum Finding {
        /// Fewer than 30 prompts, or fewer than three shuffles: no interval is given.
        TooLittle = "too_little",
        /// The interval leaves out 0.
        Differs = "differs",
        /// The interval holds 0.
        Undecided = "undecided",
    }
}

/// One objective against another on one metric: the same held-out prompts, the same shuffles.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The objective.
    pub objective: Rule,
    /// What it is compared with.
    pub baseline: Rule,
    /// On what.
    pub metric: Metric,
    /// Held-out prompts that have the metric.
    pub prompts: u64,
    /// Shuffles (seeds) that both came to the end of.
    pub shuffles: u64,
    /// Mean of objective − baseline.
    pub mean: f64,
    /// Its interval, over prompts and shuffles: 95 %, for those that decide 95 % for all of them together. `None` with
    /// too little.
    pub interval: Option<(f64, f64)>,
    /// Whether the verdict is about it.
    pub decides: bool,
    /// What it shows: nothing but where the interval lies.
    pub finding: Finding,
}

impl Difference {
    /// A finding is where the interval lies, so that no verdict can say something else than the interval beside it.
    #[must_use]
    pub fn finding(interval: Option<(f64, f64)>) -> Finding {
        match interval {
            None => Finding::TooLittle,
            Some((low, high)) if low > 0.0 || high < 0.0 => Finding::Differs,
            Some(_) => Finding::Undecided,
        }
    }

    /// Mean and interval as they are read: with the same decimals, two digits of the interval's half.
    #[must_use]
    pub fn shown(&self) -> (String, Option<String>) {
        let width = self.interval.map_or(self.mean.abs(), |(low, high)| (high - low) / 2.0);
        let signed = |value: f64| signed(value, width);
        (signed(self.mean), self.interval.map(|(low, high)| format!("{} to {}", signed(low), signed(high))))
    }
}

/// With its sign, and two digits of `scale`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn signed(value: f64, scale: f64) -> String {
    let digits = 1.0 - scale.abs().log10().floor();
    let decimals = if digits.is_finite() { digits.clamp(0.0, 9.0) as usize } else { 3 };
    let text = format!("{value:+.decimals$}");
    // Neither +0.00 nor −0.00.
    let text = if text.bytes().all(|b| !(b'1'..=b'9').contains(&b)) { text[1..].to_owned() } else { text };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_where_the_interval_lies() {
        assert_eq!(Difference::finding(None), Finding::TooLittle);
        assert_eq!(Difference::finding(Some((0.1, 0.3))), Finding::Differs);
        assert_eq!(Difference::finding(Some((-0.3, -0.1))), Finding::Differs);
        assert_eq!(Difference::finding(Some((-0.1, 0.3))), Finding::Undecided);
        assert_eq!(Difference::finding(Some((0.0, 0.0))), Finding::Undecided);
    }

    #[test]
    fn differences_are_read_with_the_digits_that_are_known() {
        let one = |mean, interval| Difference {
            objective: Rule::Stapo,
            baseline: Rule::Random,
            metric: Metric::Margin,
            prompts: 40,
            shuffles: 3,
            mean,
            interval,
            decides: true,
            finding: Difference::finding(interval),
        };
        assert_eq!(
            one(0.012_34, Some((0.004_1, 0.020_6))).shown(),
            ("+0.0123".into(), Some("+0.0041 to +0.0206".into()))
        );
        assert_eq!(one(-0.5, Some((-2.0, 1.0))).shown().1, Some("−2.0 to +1.0".into()));
        assert_eq!(one(0.0, Some((0.0, 0.0))).shown(), ("0.000".into(), Some("0.000 to 0.000".into())));
        assert_eq!(one(0.001_2, None).shown(), ("+0.0012".into(), None));
    }
}
