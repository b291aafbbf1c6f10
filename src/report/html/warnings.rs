//! The warnings of a run.

use super::material::Material;
use crate::analyze::result::{Evidence, Warning};
use crate::report::numbers::number;
use crate::report::page::Section;
use crate::report::page::warnings::{self, Notice};
use crate::report::text::token_label;

/// The section.
pub fn section(of: &Material<'_>) -> Option<Section> {
    Some(of_run(&of.analysis.warnings))
}

/// The section of any warnings.
pub fn of_run(found: &[Warning]) -> Section {
    let notices: Vec<Notice> = found.iter().map(notice).collect();
    warnings::section(&notices, "summary.json")
}

fn notice(warning: &Warning) -> Notice {
    Notice {
        name: warning.code.name().replace('_', " "),
        serious: warning.code.is_serious(),
        message: warning.message.clone(),
        hint: warning.hint.clone(),
        evidence: warning.evidence.iter().map(line).collect(),
    }
}

fn line(evidence: &Evidence) -> String {
    let place = evidence.step.map_or(String::new(), |s| format!("step {s}: "));
    format!("{place}{} = {}", token_label(&evidence.what).replace('␣', " "), number(evidence.value))
}
