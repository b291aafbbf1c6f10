//! The warnings of a page, each with its next step.

use maud::{Markup, html};

use super::Section;
use super::words::with_code;

/// Warnings, and lines of evidence for each, that are shown at most.
const WARNINGS: usize = 40;
const EVIDENCE: usize = 8;

/// A warning.
pub struct Notice {
    /// Its name in words.
    pub name: String,
    /// Whether numbers cannot be used before it is dealt with.
    pub serious: bool,
    /// What was found.
    pub message: String,
    /// The next step.
    pub hint: String,
    /// What it rests on, a line each.
    pub evidence: Vec<String>,
}

/// The section; `file` has those that are left out.
pub fn section(notices: &[Notice], file: &str) -> Section {
    let body = html! {
        @if notices.is_empty() { p { "None." } }
        @else {
            ul.warnings { @for notice in notices.iter().take(WARNINGS) { (item(notice, file)) "\n" } }
            @if notices.len() > WARNINGS { p { (notices.len() - WARNINGS) " more are in " (file) "." } }
        }
    };
    Section { id: "warnings", link: "Warnings", heading: "Warnings", body }
}

fn item(notice: &Notice, file: &str) -> Markup {
    let (class, sign) = if notice.serious { ("serious", "✕") } else { ("mild", "▲") };
    html! {
        li class=(class) {
            p {
                span.code { span aria-hidden="true" { (sign) } " " (notice.name) } " "
                (with_code(&notice.message))
            }
            p.hint { b { "Next:" } " " (with_code(&notice.hint)) }
            @if !notice.evidence.is_empty() {
                details {
                    summary { "Evidence" }
                    ul {
                        @for line in notice.evidence.iter().take(EVIDENCE) { li { (line) } }
                        @if notice.evidence.len() > EVIDENCE {
                            li { "and " (notice.evidence.len() - EVIDENCE) " more, in " (file) }
                        }
                    }
                }
            }
        }
    }
}
