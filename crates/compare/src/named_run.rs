//! A run among those that are compared.

use stapo_result::ComparedRun;

/// An analysed run with its name.
pub struct NamedRun {
    /// Its name.
    pub name: String,
    /// The name of its arm.
    pub arm: String,
    /// Its analysis, with sums by group.
    pub analysis: ComparedRun,
}
