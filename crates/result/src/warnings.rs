//! What the user should know, and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;

named! {
    /// The kinds of warnings, the most serious first.
    pub enum WarningCode {
        /// pass@1 rises for good while pass@k of a large k falls.
        DiversityLost = "diversity_lost",
        /// Ratios of two policies are beyond e^20.
        NothingInCommon = "nothing_in_common",
        /// Importance weights leave less than half of a step's tokens effective.
        LowEffectiveShare = "low_effective_share",
        /// No token is trained.
        NothingTrained = "nothing_trained",
        /// Batches in which no token has an advantage.
        DeadBatches = "dead_batches",
        /// Steps whose energy a token stands far above the run's.
        EnergySpike = "energy_spike",
        /// Most of the mask's candidates are rare for the trainer alone.
        RareForTrainerAlone = "rare_for_trainer_alone",
        /// A few strings take most of the mask.
        MaskConcentration = "mask_concentration",
        /// Many p and H cannot be of one distribution.
        Infeasible = "infeasible",
        /// Responses that share step, group and sample with another one.
        RepeatedIds = "repeated_ids",
        /// Responses with a row for each of their updates or turns.
        SeveralRows = "several_rows",
        /// Responses without any trained token.
        UntrainedResponses = "untrained_responses",
        /// Values of a column are missing or bad.
        MissingValues = "missing_values",
        /// Gradient norms are estimated.
        EstimatedGradients = "estimated_gradients",
        /// Token ids do not fit the vocabulary size.
        VocabularyTooSmall = "vocabulary_too_small",
        /// The vocabulary size is a guess.
        VocabularyGuessed = "vocabulary_guessed",
        /// Token texts are not known.
        NoTokenText = "no_token_text",
        /// p was logged under another temperature or a truncated distribution.
        SamplingChanged = "sampling_changed",
        /// Something about how the log was read.
        IngestNote = "ingest_note",
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Warning {
    /// What kind.
    pub code: WarningCode,
    /// What was found, with numbers.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The numbers and places behind it.
    pub evidence: Vec<Evidence>,
}

/// A number or a place behind a warning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Step, where it is at one.
    pub step: Option<i64>,
    /// What was looked at, e.g. `mean_entropy` or a token's text.
    pub what: String,
    /// Its value.
    pub value: f64,
    /// What a healthy run has, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<String>,
}
