//! The off-policy ledger: how far sampler, trainer and updated policy are from each other.

use schemars::JsonSchema;
use serde::Serialize;

use super::breakdown::Breakdown;
use super::corrections::{CorrectionRow, SpuriousOverlap};
use stapo_base::format::percent;

/// One difference d of log-probabilities over trained tokens; r = e^d.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Trained tokens with both values.
    pub tokens: u64,
    /// Responses with such tokens.
    pub responses: u64,
    /// Mean of d; k1 is its negative.
    pub mean: f64,
    /// Mean of |d|.
    pub mean_abs: f64,
    /// Mean of d²/2.
    pub k2: f64,
    /// Mean of e^d − 1 − d.
    pub k3: f64,
    /// The same with ratios outside of [0.1, 10] counted as 0.1 and 10: how far the many moved. A few tokens
    /// that are far out make k3 any size.
    pub k3_bounded: f64,
    /// χ² = mean of r² − 1; absent where it is beyond the largest number.
    pub chi2: Option<f64>,
    /// Effective share of the tokens: (Σr)²/(n·Σr²).
    pub ess: f64,
    /// Share of tokens with r outside [0.9, 1.1].
    pub outside_0_9_1_1: f64,
    /// Share of tokens with r outside [0.5, 2].
    pub outside_0_5_2: f64,
    /// Share of tokens with r outside [0.2, 5].
    pub outside_0_2_5: f64,
    /// Share of tokens with r beyond e^20: two policies with such tokens have nothing in common there, and k3, which one of
    /// them makes any size, measures nothing.
    pub beyond_e20: f64,
    /// Quantiles of d; see `quantile_error`.
    pub quantiles: DifferenceQuantiles,
    /// Effective share of the responses by their product weights e^s, s = Σ d.
    pub ess_sequence: f64,
    /// χ² of the product weights; absent where it is beyond the largest number.
    pub chi2_sequence: Option<f64>,
    /// Largest |d|.
    pub max_abs: f64,
    /// Mean of s over responses.
    pub mean_sequence_sum: f64,
    /// Mean over responses of e^{s/T}.
    pub geometric_mean: f64,
    /// χ² with d within ±20, as verl has it, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verl_chi2: Option<f64>,
    /// χ² of the product weights with s within ±20, as verl has it, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verl_chi2_sequence: Option<f64>,
}

/// Quantiles of a difference, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DifferenceQuantiles {
    /// 0.1 %.
    #[serde(rename = "0.001")]
    pub q0_1: f64,
    /// 1 %.
    #[serde(rename = "0.01")]
    pub q1: f64,
    /// 5 %.
    #[serde(rename = "0.05")]
    pub q5: f64,
    /// 25 %.
    #[serde(rename = "0.25")]
    pub q25: f64,
    /// Median.
    #[serde(rename = "0.5")]
    pub q50: f64,
    /// 75 %.
    #[serde(rename = "0.75")]
    pub q75: f64,
    /// 95 %.
    #[serde(rename = "0.95")]
    pub q95: f64,
    /// 99 %.
    #[serde(rename = "0.99")]
    pub q99: f64,
    /// 99.9 %.
    #[serde(rename = "0.999")]
    pub q99_9: f64,
}

impl DifferenceQuantiles {
    /// The orders, ascending.
    pub const ORDERS: [f64; 9] = [0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999];

    /// From values in the order of [`Self::ORDERS`].
    #[must_use]
    pub fn from_values(v: [f64; 9]) -> Self {
        let [q0_1, q1, q5, q25, q50, q75, q95, q99, q99_9] = v;
        Self { q0_1, q1, q5, q25, q50, q75, q95, q99, q99_9 }
    }

    /// The values, in the order of [`Self::ORDERS`].
    #[must_use]
    pub fn values(&self) -> [f64; 9] {
        let Self { q0_1, q1, q5, q25, q50, q75, q95, q99, q99_9 } = *self;
        [q0_1, q1, q5, q25, q50, q75, q95, q99, q99_9]
    }
}

/// The differences of a run or a step. One that is not logged is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Differences {
    /// e = ln π_old − ln μ (`logprob` − `logprob_rollout`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Difference>,
    /// u = ln π_θ − ln π_old (`logprob_new` − `logprob`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Difference>,
    /// d = ln π_θ − ln μ (`logprob_new` − `logprob_rollout`), of tokens whose `logprob` is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Difference>,
}

/// The differences of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepDifferences {
    /// Step.
    pub step: i64,
    /// Its differences.
    #[serde(flatten)]
    pub differences: Differences,
}

/// The engine difference of the responses of one lag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LagDifference {
    /// `step` − `policy_version`, or the version itself where that is not a step (`lag_is_version`).
    pub lag: i64,
    /// The engine difference.
    #[serde(flatten)]
    pub difference: Difference,
}

/// The engine difference of the responses of one step and lag, in short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepLag {
    /// Step.
    pub step: i64,
    /// As in `lags`.
    pub lag: i64,
    /// Trained tokens with both values.
    pub tokens: u64,
    /// Mean difference.
    pub mean: f64,
    /// Mean absolute difference.
    pub mean_abs: f64,
    /// k3.
    pub k3: f64,
    /// Effective share of the tokens.
    pub ess: f64,
}

/// The off-policy ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OffPolicy {
    /// Over the run.
    pub run: Differences,
    /// By step, ascending.
    pub steps: Vec<StepDifferences>,
    /// The engine difference by lag, ascending; empty without `policy_version`.
    pub lags: Vec<LagDifference>,
    /// The same by step and lag.
    pub step_lags: Vec<StepLag>,
    /// Whether `lag` is the logged version: some versions are above their step, so they are no steps.
    pub lag_is_version: bool,
    /// Largest relative error of the quantiles; 0 where they are exact.
    pub quantile_error: f64,
    /// What corrections would do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<CorrectionRow>,
    /// Where the engine difference sits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// Whether the tokens that trainer and sampler see differently are the spurious ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious: Option<SpuriousOverlap>,
}

/// Two policies with ratios beyond e^20: how far they are apart is no measurement any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NothingInCommon {
    /// The first step with such a ratio.
    pub from_step: i64,
    /// The share of the tokens from that step on.
    pub share: f64,
}

impl OffPolicy {
    /// From where on the two policies of a difference have nothing in common; `None` where no ratio is beyond e^20.
    ///
    /// ```
    /// use stapo_result::offpolicy::OffPolicy;
    /// assert_eq!(OffPolicy::default().nothing_in_common(|differences| differences.engine.as_ref()), None);
    /// ```
    #[must_use]
    pub fn nothing_in_common(
        &self,
        of: impl Fn(&Differences) -> Option<&Difference>,
    ) -> Option<NothingInCommon> {
        let steps = || self.steps.iter().filter_map(|row| Some((row.step, of(&row.differences)?)));
        let from_step = steps().find(|(_, difference)| difference.beyond_e20 > 0.0)?.0;
        let later = || steps().filter(|(step, _)| *step >= from_step);
        let tokens = later().map(|(_, difference)| difference.tokens as f64).sum::<f64>();
        let beyond =
            later().map(|(_, difference)| difference.tokens as f64 * difference.beyond_e20).sum::<f64>();
        Some(NothingInCommon { from_step, share: beyond / tokens })
    }
}

impl std::fmt::Display for NothingInCommon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { from_step, share } = self;
        write!(f, "the policies have nothing in common from step {from_step} on: ")?;
        write!(f, "the ratio of {} of the tokens is beyond e^20", percent(*share))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_beyond_all_bounds_is_no_measurement() {
        let step = |step, beyond_e20| StepDifferences {
            step,
            differences: Differences {
                update: Some(Difference { tokens: 100, k3: 9.2e18, beyond_e20, ..Difference::default() }),
                ..Differences::default()
            },
        };
        let of = |steps| OffPolicy { steps, ..OffPolicy::default() };
        let found = of(vec![step(11, 0.0), step(12, 0.02), step(13, 0.04)]);
        let apart = found.nothing_in_common(|differences| differences.update.as_ref()).unwrap();
        assert_eq!(
            apart.to_string(),
            "the policies have nothing in common from step 12 on: the ratio of 3.0 % of the tokens is beyond e^20"
        );
        assert_eq!(found.nothing_in_common(|differences| differences.engine.as_ref()), None);
        assert_eq!(of(vec![step(11, 0.0)]).nothing_in_common(|d| d.update.as_ref()), None);
    }
}
