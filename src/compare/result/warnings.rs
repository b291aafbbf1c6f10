//! What the user should know about a comparison.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// The kinds of warnings, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompareCode {
    /// Two runs are read from the same files.
    SameLog,
    /// A run is damaged or has collapsed, by its own diagnosis.
    RunInTrouble,
    /// The runs were not logged or analysed alike.
    NotAlike,
    /// Rewards are on scales of their own.
    RewardScales,
    /// Too few steps are aligned for a test over steps.
    FewSteps,
    /// Neighbouring steps differ alike.
    SerialCorrelation,
    /// Steps without a partner.
    UnalignedSteps,
    /// Prompts differ or are not logged.
    UnpairedPrompts,
    /// A metric that one side has no data for.
    MissingMetric,
    /// One run each.
    OneSeed,
    /// Gradient norms are estimated.
    EstimatedGradients,
    /// Groups are so many that several share a cluster, or not logged.
    CoarseClusters,
    /// Two runs had the same name.
    RenamedRun,
    /// Rows or columns of the trainer's scalars that were not used.
    TrainerRows,
}

impl CompareCode {
    /// All, the most serious first.
    pub const ALL: &'static [Self] = &[
        Self::SameLog,
        Self::RunInTrouble,
        Self::NotAlike,
        Self::RewardScales,
        Self::FewSteps,
        Self::SerialCorrelation,
        Self::UnalignedSteps,
        Self::UnpairedPrompts,
        Self::MissingMetric,
        Self::OneSeed,
        Self::EstimatedGradients,
        Self::CoarseClusters,
        Self::RenamedRun,
        Self::TrainerRows,
    ];

    /// The name in `compare.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SameLog => "same_log",
            Self::RunInTrouble => "run_in_trouble",
            Self::NotAlike => "not_alike",
            Self::RewardScales => "reward_scales",
            Self::FewSteps => "few_steps",
            Self::SerialCorrelation => "serial_correlation",
            Self::UnalignedSteps => "unaligned_steps",
            Self::UnpairedPrompts => "unpaired_prompts",
            Self::MissingMetric => "missing_metric",
            Self::OneSeed => "one_seed",
            Self::EstimatedGradients => "estimated_gradients",
            Self::CoarseClusters => "coarse_clusters",
            Self::RenamedRun => "renamed_run",
            Self::TrainerRows => "trainer_rows",
        }
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CompareWarning {
    /// What kind.
    pub code: CompareCode,
    /// What was found, with numbers.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Numbers behind it, by name.
    pub evidence: BTreeMap<String, f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_listed() {
        let schema = serde_json::to_string(&schemars::schema_for!(CompareCode)).unwrap_or_default();
        assert_eq!(schema.matches("\"const\"").count(), CompareCode::ALL.len(), "{schema}");
        assert!(
            CompareCode::ALL.iter().all(|code| schema.contains(&format!("\"{}\"", code.name()))),
            "{schema}"
        );
    }
}
