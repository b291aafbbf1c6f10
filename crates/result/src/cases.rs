//! Tokens and responses one by one.

use schemars::JsonSchema;
use serde::Serialize;

use super::totals::NormSource;

/// Why a token is in the case list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// Silenced: A > 0, p < τ_p, H < τ_h.
    Spurious,
    /// A candidate that is kept: H ≥ τ_h.
    Exploratory,
}

impl FlagKind {
    /// The word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spurious => "spurious",
            Self::Exploratory => "exploratory",
        }
    }
}

/// The flagged tokens of the run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Cases {
    /// Spurious tokens of the run.
    pub spurious: u64,
    /// Exploratory tokens of the run.
    pub exploratory: u64,
    /// The first [`CASE_LIMIT`]: spurious before exploratory, highest risk first.
    pub top: Vec<FlaggedToken>,
    /// Whether `top` holds all of them.
    pub complete: bool,
    /// What goes between the texts of two tokens (a space where texts are words).
    pub separator: &'static str,
}

/// Flagged tokens that are kept with their context for the report.
pub const CASE_LIMIT: usize = 4_000;

/// A flagged token in its context.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlaggedToken {
    /// Spurious or exploratory.
    pub kind: FlagKind,
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where logged.
    pub update: Option<i64>,
    /// Group, where logged.
    pub group_id: Option<String>,
    /// Response id, where logged.
    pub sample_id: Option<String>,
    /// Response, counted from 0 in the order the files were given.
    pub row: u64,
    /// Position in the response, from 0.
    pub position: i64,
    /// Token id, where logged.
    pub token_id: Option<i64>,
    /// Its text, where known.
    pub token: Option<String>,
    /// ln p.
    pub logprob: f64,
    /// H in nats.
    pub entropy: f64,
    /// A.
    pub advantage: f64,
    /// Gradient norm with respect to the logits.
    pub grad_norm: f64,
    /// Lower end of the norm; equal to it where measured or exact.
    pub grad_norm_low: f64,
    /// Upper end of the norm.
    pub grad_norm_high: f64,
    /// Where its norm comes from.
    pub norm_source: NormSource,
    /// Threshold of its batch.
    pub tau_h: f64,
    /// Surprisal minus entropy, in nats: the analyzer's own score.
    pub risk: f64,
    /// Lower end of the first-order entropy change per unit of step size.
    pub change_low: f64,
    /// Upper end.
    pub change_high: f64,
    /// `entropy_after − entropy`, where logged.
    pub measured_change: Option<f64>,
    /// Reward of the response.
    pub reward: Option<f64>,
    /// Responses of the group that are right, by `--pass`, else a part of the reward whose name says so, else
    /// the higher of just two rewards; `None` where none of them says it of each.
    pub group_passes: Option<u32>,
    /// Responses of the group.
    pub group_size: Option<u32>,
    /// Texts of up to [`CONTEXT_TOKENS`](crate::settings::CONTEXT_TOKENS) tokens before it.
    pub before: Vec<String>,
    /// Texts of as many tokens after it.
    pub after: Vec<String>,
}

/// The candidates (A > 0) one by one, up to the largest τ_p that a reader may try.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Candidates {
    /// By step, mini-batch, entropy, log-probability.
    pub points: Vec<CandidatePoint>,
    /// All tokens with A > 0 and p below this are among `points`.
    pub complete_below: f64,
    /// Whether `complete_below` reaches [`LARGEST_TAU_P`].
    pub complete: bool,
}

/// Largest τ_p that candidates are kept for.
pub const LARGEST_TAU_P: f64 = 0.02;

/// Candidates that are kept for live thresholds.
pub const CANDIDATE_LIMIT: usize = 100_000;

/// One candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CandidatePoint {
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where batches are finer than steps.
    pub update: Option<i64>,
    /// Token id, where logged.
    pub token_id: Option<i32>,
    /// ln p.
    pub logprob: f32,
    /// H in nats.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// Gradient norm.
    pub grad_norm: f32,
}

/// Why a response is among those that are shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShownFor {
    /// Its candidates have the most unexplained surprise.
    Risk,
    /// Its reward is among the highest.
    HighReward,
    /// Its reward is among the lowest.
    LowReward,
    /// It was cut.
    Truncated,
    /// Its group was drawn at random.
    Group,
}

/// A whole response for a heat map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ResponseView {
    /// Why it is shown.
    pub shown_for: Vec<ShownFor>,
    /// The prompt, where logged; of a long one its end.
    pub prompt: Option<String>,
    /// Why it ended, where logged.
    pub ending: Option<String>,
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where logged.
    pub update: Option<i64>,
    /// Group, where logged.
    pub group_id: Option<String>,
    /// Response id, where logged.
    pub sample_id: Option<String>,
    /// Response, counted from 0 in the order the files were given.
    pub row: u64,
    /// Reward, where logged.
    pub reward: Option<f64>,
    /// Sum of the risk of its candidates: what the responses are ranked by.
    pub risk: f64,
    /// Tokens of the response; the arrays below hold at most [`VIEW_TOKENS`].
    pub length: u64,
    /// Position of the first token in the arrays.
    pub first_position: u64,
    /// Token ids; empty where not logged.
    pub token_ids: Vec<i32>,
    /// Texts; a placeholder with the id where unknown.
    pub texts: Vec<String>,
    /// Whether each token is trained on.
    pub trained: Vec<bool>,
    /// −ln p; NaN where missing.
    pub surprisal: Vec<f32>,
    /// H; NaN where missing.
    pub entropy: Vec<f32>,
    /// A; NaN where missing.
    pub advantage: Vec<f32>,
    /// Gradient norm; NaN where missing.
    pub grad_norm: Vec<f32>,
    /// Flagged positions (indices into the arrays).
    pub flagged: Vec<(u32, FlagKind)>,
}

/// Responses that are kept whole for their risk.
pub const VIEW_LIMIT: usize = 24;
/// Tokens of a response that are kept: those around its riskiest candidate.
pub const VIEW_TOKENS: usize = 4_096;
/// Responses of a group that was drawn at most.
pub const GROUP_RESPONSES: usize = 16;
/// Tokens of a response that are kept where it is only one of a group that was drawn.
pub const SAMPLED_TOKENS: usize = 1_024;
/// Characters of a prompt that are kept.
pub const PROMPT_CHARACTERS: usize = 4_000;
/// Tokens of a prompt that are kept.
pub const PROMPT_TOKENS: usize = 1_000;
