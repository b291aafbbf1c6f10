//! What the user should know, and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;

/// The kinds of warnings, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningCode {
    /// Entropy fell to a small part of where it began and stayed there.
    EntropyCollapse,
    /// Entropy rose to a multiple of where it began and stayed there.
    EntropyExplosion,
    /// Reward fell far below what the run had reached.
    RewardCollapse,
    /// A part of the reward rises for good while another falls.
    RewardPartsDiverge,
    /// pass@1 rises for good while pass@k of a large k falls.
    DiversityLost,
    /// Importance weights leave less than half of a step's tokens effective.
    LowEffectiveShare,
    /// No token is trained.
    NothingTrained,
    /// Batches in which no token has an advantage.
    DeadBatches,
    /// Rewards, or values of a part, that are far beyond all others.
    FarRewards,
    /// Steps whose energy a token stands far above the run's.
    EnergySpike,
    /// A few strings take most of the mask.
    MaskConcentration,
    /// The mask takes more than a rare share of tokens.
    MaskTooWide,
    /// Many p and H cannot be of one distribution.
    Infeasible,
    /// Responses that are those of an earlier step again.
    RepeatedResponses,
    /// Responses that are a sibling again.
    CopiedSiblings,
    /// Responses that share step, group and sample with another one.
    RepeatedIds,
    /// Responses with a row for each of their updates or turns.
    SeveralRows,
    /// Responses without any trained token.
    UntrainedResponses,
    /// The token that ends responses is never trained.
    UntrainedEnds,
    /// Values of a column are missing or bad.
    MissingValues,
    /// Trainer and inference engine disagree.
    PolicyMismatch,
    /// Gradient norms are estimated.
    EstimatedGradients,
    /// Token ids do not fit the vocabulary size.
    VocabularyTooSmall,
    /// The vocabulary size is a guess.
    VocabularyGuessed,
    /// Token texts are not known.
    NoTokenText,
    /// p was logged under another temperature or a truncated distribution.
    SamplingChanged,
    /// Something about how the log was read.
    IngestNote,
}

impl WarningCode {
    /// All, the most serious first.
    pub const ALL: &'static [Self] = &[
        Self::EntropyCollapse,
        Self::EntropyExplosion,
        Self::RewardCollapse,
        Self::RewardPartsDiverge,
        Self::DiversityLost,
        Self::LowEffectiveShare,
        Self::NothingTrained,
        Self::DeadBatches,
        Self::FarRewards,
        Self::EnergySpike,
        Self::MaskConcentration,
        Self::MaskTooWide,
        Self::Infeasible,
        Self::RepeatedResponses,
        Self::CopiedSiblings,
        Self::RepeatedIds,
        Self::SeveralRows,
        Self::UntrainedResponses,
        Self::UntrainedEnds,
        Self::MissingValues,
        Self::PolicyMismatch,
        Self::EstimatedGradients,
        Self::VocabularyTooSmall,
        Self::VocabularyGuessed,
        Self::NoTokenText,
        Self::SamplingChanged,
        Self::IngestNote,
    ];

    /// The name in `summary.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EntropyCollapse => "entropy_collapse",
            Self::EntropyExplosion => "entropy_explosion",
            Self::RewardCollapse => "reward_collapse",
            Self::RewardPartsDiverge => "reward_parts_diverge",
            Self::DiversityLost => "diversity_lost",
            Self::LowEffectiveShare => "low_effective_share",
            Self::NothingTrained => "nothing_trained",
            Self::DeadBatches => "dead_batches",
            Self::FarRewards => "far_rewards",
            Self::EnergySpike => "energy_spike",
            Self::MaskConcentration => "mask_concentration",
            Self::MaskTooWide => "mask_too_wide",
            Self::Infeasible => "infeasible",
            Self::RepeatedResponses => "repeated_responses",
            Self::CopiedSiblings => "copied_siblings",
            Self::RepeatedIds => "repeated_ids",
            Self::SeveralRows => "several_rows",
            Self::UntrainedResponses => "untrained_responses",
            Self::UntrainedEnds => "untrained_ends",
            Self::MissingValues => "missing_values",
            Self::PolicyMismatch => "policy_mismatch",
            Self::EstimatedGradients => "estimated_gradients",
            Self::VocabularyTooSmall => "vocabulary_too_small",
            Self::VocabularyGuessed => "vocabulary_guessed",
            Self::NoTokenText => "no_token_text",
            Self::SamplingChanged => "sampling_changed",
            Self::IngestNote => "ingest_note",
        }
    }

    /// Whether the run itself is in trouble, not only the log.
    #[must_use]
    pub fn is_serious(self) -> bool {
        matches!(self, Self::EntropyCollapse | Self::EntropyExplosion | Self::RewardCollapse)
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Step, where it is at one.
    pub step: Option<i64>,
    /// What was looked at, e.g. `mean_entropy` or a token's text.
    pub what: String,
    /// Its value.
    pub value: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_listed() {
        let schema = serde_json::to_string(&schemars::schema_for!(WarningCode)).unwrap_or_default();
        assert_eq!(schema.matches("\"const\"").count(), WarningCode::ALL.len(), "{schema}");
        assert!(
            WarningCode::ALL.iter().all(|code| schema.contains(&format!("\"{}\"", code.name()))),
            "{schema}"
        );
    }
}
