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
        /// The log of a run lacks columns, and what rests on them is not compared.
        MissingColumns = "missing_columns",
        /// Rewards are on scales of their own.
        RewardScales = "reward_scales",
        /// Steps that only one of two runs has.
        UnalignedSteps = "unaligned_steps",
        /// Groups are so many that several share their totals.
        CoarseGroups = "coarse_groups",
        /// Two runs had the same name.
        RenamedRun = "renamed_run",
        /// Runs in files of trainers that are not here, or the other way round.
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
