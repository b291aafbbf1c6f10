//! One row a step.

use schemars::JsonSchema;
use serde::Serialize;

use super::drivers::EnergyConcentration;

/// The run at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepRow {
    /// Step.
    pub step: i64,
    /// Trained tokens.
    pub tokens: u64,
    /// Responses.
    pub responses: u64,
    /// Groups, where logged.
    pub groups: Option<u64>,
    /// Groups in which no token has an advantage.
    pub zero_advantage_groups: Option<u64>,
    /// Mean reward of the responses.
    pub mean_reward: Option<f64>,
    /// Standard deviation of the rewards.
    pub reward_std: Option<f64>,
    /// Mean number of trained tokens a response.
    pub mean_length: Option<f64>,
    /// Mean entropy in nats.
    pub mean_entropy: Option<f64>,
    /// Quantiles of the entropy; see `provenance.statements` for their error.
    pub entropy_quantiles: Option<EntropyQuantiles>,
    /// Mean probability of the sampled tokens.
    pub mean_prob: Option<f64>,
    /// Tokens with A > 0.
    pub positive: u64,
    /// Tokens with A < 0.
    pub negative: u64,
    /// Tokens with A = 0.
    pub zero_advantage: u64,
    /// Tokens without a usable log-probability, entropy or advantage.
    pub missing: u64,
    /// Tokens whose p and H cannot be of one distribution.
    pub infeasible: u64,
    /// Sum of squared token gradient norms.
    pub gradient_energy: f64,
    /// Lower end of the energy.
    pub gradient_energy_low: f64,
    /// Upper end of the energy.
    pub gradient_energy_high: f64,
    /// Energy of the tokens with A > 0.
    pub positive_energy: f64,
    /// Largest norm.
    pub max_norm: Option<f64>,
    /// Tokens with A > 0 and p < τ_p.
    pub candidates: u64,
    /// Threshold of the step's batch; with several mini-batches see `minibatches`.
    pub tau_h: Option<f64>,
    /// The mini-batches of the step, where batches are finer than steps.
    pub minibatches: Vec<BatchThreshold>,
    /// Candidates with H < τ_h.
    pub silenced: u64,
    /// Candidates with H ≥ τ_h.
    pub exploratory: u64,
    /// Silenced tokens among the step's trained ones.
    pub silenced_ratio: f64,
    /// Energy share of the silenced tokens.
    pub spurious_energy_share: Option<f64>,
    /// Energy share of the exploratory tokens.
    pub exploratory_energy_share: Option<f64>,
    /// Tokens of each class, in the order of `taxonomy`.
    pub class_tokens: [u64; 9],
    /// Energy share of each class, in the order of `taxonomy`; zeros where there is no energy.
    pub class_energy_shares: [f64; 9],
    /// Share of tokens that PPO clipping cuts; `None` where it cannot be known.
    pub clipped_share: Option<f64>,
    /// Entropy change, predicted and measured.
    pub entropy_change: StepChange,
    /// Trainer against inference engine, where a rollout log-probability is logged.
    pub mismatch: Option<Mismatch>,
    /// How few tokens carry the energy.
    pub concentration: EnergyConcentration,
    /// How far the policy moves within the step: mean k3 of ln π_θ − ln π_old, where logged.
    pub update_k3: Option<f64>,
    /// The largest ratio π_θ/π_old, where logged.
    pub largest_ratio: Option<f64>,
    /// Distance from the reference: mean k3 of ln π_ref − ln π_old, where logged.
    pub reference_k3: Option<f64>,
}

impl StepRow {
    /// Whether any token has an advantage beyond what rounding leaves of one.
    #[must_use]
    pub fn teaches(&self) -> bool {
        let groups = self.groups.zip(self.zero_advantage_groups);
        let is_dead = groups.is_some_and(|(groups, without)| groups > 0 && groups == without);
        self.positive + self.negative > 0 && !is_dead
    }
}

/// Quantiles of the entropy of trained tokens, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EntropyQuantiles {
    /// 1 %.
    pub q01: f64,
    /// 5 %.
    pub q05: f64,
    /// 25 %.
    pub q25: f64,
    /// Median.
    pub q50: f64,
    /// 75 %.
    pub q75: f64,
    /// 80 %.
    pub q80: f64,
    /// 90 %.
    pub q90: f64,
    /// 95 %.
    pub q95: f64,
    /// 99 %.
    pub q99: f64,
}

impl EntropyQuantiles {
    /// The orders, ascending.
    pub const ORDERS: [f64; 9] = [0.01, 0.05, 0.25, 0.50, 0.75, 0.80, 0.90, 0.95, 0.99];

    /// Their names, as those of the fields.
    pub const NAMES: [&str; 9] = ["q01", "q05", "q25", "q50", "q75", "q80", "q90", "q95", "q99"];

    /// From values in the order of [`Self::ORDERS`].
    #[must_use]
    pub fn from_values(v: [f64; 9]) -> Self {
        Self {
            q01: v[0],
            q05: v[1],
            q25: v[2],
            q50: v[3],
            q75: v[4],
            q80: v[5],
            q90: v[6],
            q95: v[7],
            q99: v[8],
        }
    }

    /// Values in the order of [`Self::ORDERS`].
    #[must_use]
    pub fn values(&self) -> [f64; 9] {
        [self.q01, self.q05, self.q25, self.q50, self.q75, self.q80, self.q90, self.q95, self.q99]
    }
}

/// The threshold of one mini-batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BatchThreshold {
    /// Mini-batch inside the step; `None` for responses without one.
    pub update: Option<i64>,
    /// Trained tokens.
    pub tokens: u64,
    /// τ_h.
    pub tau_h: Option<f64>,
    /// Tokens with A > 0 and p < τ_p.
    pub candidates: u64,
    /// Candidates with H < τ_h.
    pub silenced: u64,
}

/// Entropy change of a step's tokens, each at its own position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepChange {
    /// Lower end of the mean first-order change per unit of step size; equal to the upper end
    /// where every token's is exact. `None` without tokens with w ≠ 0.
    pub predicted_low: Option<f64>,
    /// Upper end.
    pub predicted_high: Option<f64>,
    /// Mean of the paper's lemma −p(ln p + H)(A − Ā).
    pub lemma: Option<f64>,
    /// Mean of `entropy_after − entropy`, where logged.
    pub measured: Option<f64>,
}

/// Trainer against inference engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Mismatch {
    /// Tokens with both log-probabilities.
    pub tokens: u64,
    /// Mean of ln π_trainer − ln π_rollout.
    pub mean_difference: f64,
    /// Mean of its absolute value.
    pub mean_absolute_difference: f64,
    /// Estimate of KL(rollout ‖ trainer): mean of r − 1 − ln r, r = π_trainer/π_rollout.
    pub kl: f64,
    /// Largest absolute difference.
    pub max_absolute_difference: f64,
}
