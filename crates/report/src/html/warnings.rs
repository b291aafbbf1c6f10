//! The warnings of a run.

use super::diagnosis::line;
use super::material::Material;
use crate::page::Section;
use crate::page::warnings;
use crate::page::warnings::Notice;
use stapo_base::format::words;
use stapo_result::Warning;

/// Every warning with its hint.
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
        name: words(warning.code.name()),
        serious: false,
        message: warning.message.clone(),
        hint: warning.hint.clone(),
        evidence: warning.evidence.iter().map(line).collect(),
    }
}
