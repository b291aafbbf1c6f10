//! What engineers ask beyond the framework: tables that unfold, each where the log has an answer.

mod groups;
mod offpolicy;
mod slices;
mod tokens;

use maud::{Markup, html};

use super::material::Material;
use crate::page::Section;
use crate::text::prose;
use stapo_base::format::words;
use stapo_result::Answers;

/// The section; `None` where no question is answered.
pub fn section(of: &Material<'_>) -> Option<Section> {
    of_run(&of.analysis.answers)
}

/// The section of any answers.
pub fn of_run(answers: &Answers) -> Option<Section> {
    let parts: Vec<Markup> = [
        offpolicy::ledger(answers),
        offpolicy::lags(answers),
        offpolicy::corrections(answers),
        offpolicy::breakdown(answers),
        groups::outcomes(answers),
        groups::rewards(answers),
        groups::truncated(answers),
        tokens::clipping(answers),
        tokens::reference(answers),
        tokens::punished(answers),
        slices::slices(answers),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        return None;
    }
    let open: Vec<String> =
        answers.not_answered.iter().map(|open| format!("{}: {}", words(&open.part), open.needs)).collect();
    let body = html! {
        @for part in &parts { (part) }
        @if !open.is_empty() {
            details.table {
                summary { "Not answered by this log" }
                ul.missing { @for line in &open { li { (prose(line)) "." } "\n" } }
            }
        }
    };
    Some(Section { id: "questions", link: "Questions", heading: "What engineers ask", body })
}
