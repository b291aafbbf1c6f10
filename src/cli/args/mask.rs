//! The mask and the model: what is computed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::questions::QuestionArgs;
use super::values::{non_negative, positive, probability};

/// The mask and the model: what is computed.
#[derive(Debug, Args)]
pub struct MaskArgs {
    /// Thresholds of the mask that silences spurious tokens (S2T): the paper's late version (v5) or its
    /// early one (v1)
    #[arg(long, value_enum, default_value_t = PresetArg::V5, help_heading = "Silencing")]
    pub preset: PresetArg,

    /// A token is improbable below this probability [default: 0.002]
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Silencing")]
    pub tau_p: Option<f64>,

    /// The entropy threshold is this quantile of the population [default: 0.75; v1: 0.8]
    #[arg(long, value_name = "Q", value_parser = probability, conflicts_with = "entropy_threshold", help_heading = "Silencing")]
    pub entropy_quantile: Option<f64>,

    /// A fixed entropy threshold instead of a quantile
    #[arg(long, value_name = "NATS", value_parser = non_negative, help_heading = "Silencing")]
    pub entropy_threshold: Option<f64>,

    /// Tokens that the quantile is taken over [default: candidates; v1: all]
    #[arg(long, value_enum, help_heading = "Silencing")]
    pub population: Option<PopulationArg>,

    /// What one threshold holds for
    #[arg(long, value_enum, default_value_t = PerArg::Auto, help_heading = "Silencing")]
    pub per: PerArg,

    /// Token texts from this tokenizer.json [default: the one the log's metadata names]; of logged texts, the lengths in
    /// its tokens [default: characters]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub tokenizer: Option<PathBuf>,

    /// Size of the vocabulary [default: from metadata, else guessed from the largest id]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Model")]
    pub vocab_size: Option<u32>,

    /// PPO clip range below 1 [default: from metadata, else 0.2]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_high", help_heading = "Model")]
    pub clip_low: Option<f64>,

    /// PPO clip range above 1 [default: from metadata, else 0.28]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_low", help_heading = "Model")]
    pub clip_high: Option<f64>,

    /// Take gradients with respect to logits before they are divided by this temperature
    #[arg(long, value_name = "T", value_parser = positive, help_heading = "Model")]
    pub temperature: Option<f64>,

    /// What is asked beyond it.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// Presets of the S2T mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetArg {
    /// Quantile over the candidates of a batch
    V5,
    /// Quantile over all trained tokens of a batch
    V1,
}

/// Populations of the entropy quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PopulationArg {
    /// Tokens with positive advantage and low probability
    Candidates,
    /// Tokens with positive advantage
    Positive,
    /// All trained tokens
    All,
}

/// What a threshold holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PerArg {
    /// The mini-batch where it is logged, else the step
    Auto,
    /// The step
    Step,
    /// The mini-batch
    Minibatch,
}
