//! All causes of a run.

use crate::causes::CAUSES;
use crate::{Code, Measures, Need, Ranked, rank};

/// What was found, and what could not be looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Causes, the first first.
    pub findings: Vec<Ranked>,
    /// Causes that the log cannot show, with the first thing that they need.
    pub not_checked: Vec<(Code, Need)>,
}

/// Looks for every cause.
#[must_use]
pub fn examine_all(measures: &Measures<'_>) -> Diagnosis {
    let mut findings = Vec::new();
    let mut not_checked = Vec::new();
    for cause in CAUSES {
        match cause.needs.iter().find(|need| !measures.meets(**need)) {
            Some(missing) => not_checked.push((cause.code, *missing)),
            None => findings.extend((cause.examine)(measures)),
        }
    }
    Diagnosis { findings: rank(findings, measures.outcome.symptom), not_checked }
}
