//! The run in a few numbers.

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;

use super::diagnosis::RunState;

use stapo_framework::norm::GradientSource;
use stapo_framework::s2t::{Population, Preset};

named! {
    /// What a batch is: the tokens that have one τ_h.
    #[derive(Default)]
    pub enum BatchKind {
        /// All tokens of a step.
        #[default]
        Step = "step",
        /// Those of one update of a step.
        Minibatch = "minibatch",
    }
}

named! {
    /// Where gradient norms come from.
    #[derive(Default)]
    pub enum NormSource {
        /// Logged.
        Measured = "measured",
        /// From a logged Σ π².
        Exact = "exact",
        /// From p and H.
        #[default]
        Estimated = "estimated",
        /// Some of one kind, some of another.
        Mixed = "mixed",
    }
}

impl NormSource {
    /// Whether any norm is an estimate.
    #[must_use]
    pub fn is_estimated(self) -> bool {
        matches!(self, Self::Estimated | Self::Mixed)
    }
}

impl From<GradientSource> for NormSource {
    fn from(of_token: GradientSource) -> Self {
        match of_token {
            GradientSource::Measured => Self::Measured,
            GradientSource::Exact => Self::Exact,
            GradientSource::Estimated => Self::Estimated,
        }
    }
}

/// Counts and means over all trained tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Trained tokens (mask applied).
    pub tokens: u64,
    /// Tokens that the log's mask leaves out of training.
    pub masked_out: u64,
    /// Responses.
    pub responses: u64,
    /// Groups (prompts within a step), where logged.
    pub groups: Option<u64>,
    /// Groups in which no token has an advantage.
    pub zero_advantage_groups: Option<u64>,
    /// Distinct steps.
    pub steps: u64,
    /// Batches that thresholds are taken over: mini-batches where logged or asked for, else steps.
    pub batches: u64,
    /// Tokens with A > 0.
    pub positive: u64,
    /// Tokens with A < 0.
    pub negative: u64,
    /// Tokens with A = 0.
    pub zero_advantage: u64,
    /// Trained tokens without a usable log-probability, entropy or advantage.
    pub missing: u64,
    /// Tokens whose p and H cannot be of one distribution (beyond 0.02 nats).
    pub infeasible: u64,
    /// Tokens that PPO clipping cuts; `None` without `logprob_new` or `clipped`.
    pub clipped: Option<u64>,
    /// Mean reward of the responses.
    pub mean_reward: Option<f64>,
    /// Mean number of trained tokens a response.
    pub mean_length: Option<f64>,
    /// Mean entropy in nats.
    pub mean_entropy: Option<f64>,
    /// Mean probability of the sampled tokens.
    pub mean_prob: Option<f64>,
    /// Sum of squared token gradient norms: not the norm of the batch gradient. Tokens with A = 0
    /// have none.
    pub gradient_energy: f64,
    /// Lower end of the energy, where norms are estimated.
    pub gradient_energy_low: f64,
    /// Upper end of the energy, where norms are estimated.
    pub gradient_energy_high: f64,
    /// Energy of the tokens with A > 0.
    pub positive_energy: f64,
    /// Where gradient norms come from.
    pub gradient_source: NormSource,
    /// Tokens with w ≠ 0 whose norm is estimated.
    pub estimated_norms: u64,
    /// Mean norm of the tokens with w ≠ 0.
    pub mean_norm: Option<f64>,
    /// Mean norm of the tokens with A > 0 and w ≠ 0.
    pub mean_norm_positive: Option<f64>,
    /// Largest norm.
    pub max_norm: Option<f64>,
}

/// The spurious-token mask: what was asked, what came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct S2tSummary {
    /// The preset of the mask.
    pub preset: Preset,
    /// Tokens below this probability are rare.
    pub tau_p: f64,
    /// The quantile that defines τ_h; `None` where an absolute threshold was given.
    pub entropy_quantile: Option<f64>,
    /// The absolute τ_h, where given.
    pub entropy_threshold: Option<f64>,
    /// Whose entropies define τ_h.
    pub population: Population,
    /// What a batch is.
    pub per: BatchKind,
    /// Tokens with A > 0 and p < τ_p.
    pub candidates: u64,
    /// Candidates with H < τ_h: spurious.
    pub silenced: u64,
    /// Candidates with H ≥ τ_h.
    pub exploratory: u64,
    /// Silenced tokens among all trained ones.
    pub fraction: f64,
    /// Their share of the gradient energy; `None` where there is no energy.
    pub energy_share: Option<f64>,
    /// Their share of the energy of tokens with A > 0.
    pub positive_energy_share: Option<f64>,
    /// Their mean norm over that of all tokens; both of the tokens with w ≠ 0.
    pub mean_norm_ratio: Option<f64>,
    /// Their mean norm over that of the tokens with A > 0; both of the tokens with w ≠ 0.
    pub mean_norm_ratio_positive: Option<f64>,
    /// Share of the energy of the exploratory tokens.
    pub exploratory_energy_share: Option<f64>,
    /// Median of the batches' τ_h.
    pub median_tau_h: Option<f64>,
}

/// The answer for the first screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunVerdict {
    /// How the run stands.
    pub state: RunState,
    /// The answer in a few sentences: what is wrong and since when, what to do.
    pub health: String,
    /// One sentence: how much is spurious, and is it worth silencing.
    pub spurious: String,
    /// Silenced tokens among all trained ones.
    pub fraction: f64,
    /// Their share of the gradient energy.
    pub energy_share: Option<f64>,
    /// Their mean norm over that of all tokens with w ≠ 0.
    pub mean_norm_ratio: Option<f64>,
    /// The first step at which something went wrong; null where nothing did.
    pub first_bad_step: Option<i64>,
    /// The strings that are silenced most, most frequent first.
    pub top_tokens: Vec<String>,
}
