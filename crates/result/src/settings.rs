//! What the user can say about an analysis.

use std::path::PathBuf;

use stapo_base::condition::Condition;
use stapo_framework::corrections::Correction;
use stapo_framework::s2t::S2tSettings;
use stapo_framework::token::ClipRange;

/// Tokens of context kept on either side of a flagged token.
pub const CONTEXT_TOKENS: usize = 12;

/// What thresholds are taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum BatchUnit {
    /// The log's mini-batch where there is one, else its step.
    #[default]
    Auto,
    /// The step.
    Step,
    /// The mini-batch inside the step.
    MiniBatch,
}

/// How much may be held in memory; results are the same for any choice, except where exactness
/// gives way to sampling, which the result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MemoryLimits {
    /// Entropies kept for exact step quantiles.
    pub kept_entropies: u64,
    /// Entropies kept where τ_h is a quantile over more than the candidates.
    pub kept_population: u64,
    /// Bytes of candidates before they go to a temporary file.
    pub candidate_bytes: usize,
    /// Tokens whose differences of log-probabilities are kept for exact quantiles.
    pub kept_differences: u64,
    /// Tokens of whole groups that are kept, for what moves the advantage and for length by outcome; a response counts
    /// as 64 more.
    pub group_tokens: u64,
    /// Tokens with p below the largest τ_p of the sweep that are kept one by one.
    pub rare_tokens: u64,
    /// Other tokens with an advantage that are kept one by one.
    pub common_tokens: u64,
    /// Tokens without advantage that are kept one by one: rules choose among them, too.
    pub idle_tokens: u64,
    /// Tokens that are kept one by one to hold the paper's claims against.
    pub claim_tokens: u64,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            kept_entropies: 1 << 20,
            kept_population: 24_000_000,
            candidate_bytes: 64 << 20,
            kept_differences: 1 << 20,
            group_tokens: 1 << 21,
            rare_tokens: 1 << 18,
            common_tokens: 1 << 17,
            idle_tokens: 1 << 17,
            claim_tokens: 1 << 19,
        }
    }
}

/// Everything that defines an analysis.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct AnalyzeSettings {
    /// The spurious-token mask.
    pub s2t: S2tSettings,
    /// What thresholds are taken over.
    pub per: BatchUnit,
    /// A `tokenizer.json`; else the one that the log's metadata names, where it exists.
    pub tokenizer: Option<PathBuf>,
    /// V, where the log does not state it.
    pub vocab_size: Option<u32>,
    /// PPO clipping; else the log's metadata, else 0.2/0.28.
    pub clip: Option<ClipRange>,
    /// T, if the gradient is wanted with respect to logits before division by it.
    pub temperature: Option<f64>,
    /// When a response is right; else a reward of two values decides.
    pub pass: Option<Condition>,
    /// What tokens are sliced by, beside turn, lag and finish_reason.
    pub by: Vec<String>,
    /// Corrections on the bench beside the default ones.
    pub corrections: Vec<Correction>,
    /// Tokens of context on either side of a flagged token.
    pub context: usize,
    /// How much may be held in memory.
    pub limits: MemoryLimits,
}

impl Default for AnalyzeSettings {
    fn default() -> Self {
        Self {
            s2t: S2tSettings::v5(),
            per: BatchUnit::Auto,
            tokenizer: None,
            vocab_size: None,
            clip: None,
            temperature: None,
            pass: None,
            by: Vec::new(),
            corrections: Vec::new(),
            context: CONTEXT_TOKENS,
            limits: MemoryLimits::default(),
        }
    }
}
