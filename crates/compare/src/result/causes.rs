//! Causes of the arms side by side.

use schemars::JsonSchema;
use serde::Serialize;

use stapo_result::CauseCode;

/// A cause that any run has, in every arm.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CauseRow {
    /// Which.
    pub code: CauseCode,
    /// Who has it, in words.
    pub sentence: String,
    /// One entry an arm, in their order.
    pub arms: Vec<ArmCause>,
}

/// A cause in one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ArmCause {
    /// The arm.
    pub name: String,
    /// Its runs.
    pub runs: u64,
    /// Runs in which the cause is likely.
    pub likely: u64,
    /// Runs in which it is possible.
    pub possible: u64,
    /// Runs whose log cannot tell.
    pub not_checked: u64,
    /// What was found, with numbers, in the run where it is surest.
    pub message: Option<String>,
}

impl ArmCause {
    /// In how many of its runs.
    #[must_use]
    pub fn told(&self) -> String {
        let of =
            |runs: u64| if self.runs == 1 { String::new() } else { format!(" in {runs} of {}", self.runs) };
        match self {
            Self { likely: 0, possible: 0, .. } => self.not_seen(),
            Self { likely: 0, .. } => format!("possible{}", of(self.possible)),
            _ => format!("likely{}", of(self.likely)),
        }
    }

    /// What is said where no run has it: that of some could be checked, and of which not.
    pub(crate) fn not_seen(&self) -> String {
        match self.runs.saturating_sub(self.not_checked) {
            _ if self.not_checked == 0 => "not found".into(),
            0 => "could not be checked".into(),
            checked => format!(
                "not found in {checked} of {} runs, {} could not be checked",
                self.runs, self.not_checked
            ),
        }
    }
}
