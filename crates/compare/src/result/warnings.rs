//! What the user should know about a comparison.

use stapo_base::named;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

named! {
    /// The kinds of warnings, the most serious first.
    pub enum CompareCode {
        /// Two runs are read from the same files.
        SameLog = "same_log",
        /// A run is damaged or has collapsed, by its own diagnosis.
        RunInTrouble = "run_in_trouble",
        /// The runs were not logged or analysed alike.
        NotAlike = "not_alike",
        /// Rewards are on scales of their own.
        RewardScales = "reward_scales",
        /// Too few steps are aligned for a test over steps.
        FewSteps = "few_steps",
        /// Neighbouring steps differ alike.
        SerialCorrelation = "serial_correlation",
        /// Steps without a partner.
        UnalignedSteps = "unaligned_steps",
        /// Prompts differ or are not logged.
        UnpairedPrompts = "unpaired_prompts",
        /// A metric that one side has no data for.
        MissingMetric = "missing_metric",
        /// One run each.
        OneSeed = "one_seed",
        /// Gradient norms are estimated.
        EstimatedGradients = "estimated_gradients",
        /// Groups are so many that several share a cluster, or not logged.
        CoarseClusters = "coarse_clusters",
        /// Two runs had the same name.
        RenamedRun = "renamed_run",
        /// Rows or columns of the trainer's scalars that were not used.
        TrainerRows = "trainer_rows",
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
