//! Causes and answers of the arms side by side.

use maud::html;

use super::metrics::ARMS;
use crate::compare::Comparison;
use crate::compare::result::ArmCause;
use crate::compare::verdict::shown_value;
use crate::report::numbers::none;
use crate::report::page::{Kind, Section, Sheet};
use crate::report::text::prose;

/// What stands under the table of answers.
pub const UNTESTED: &str =
    "Values of whole runs, the mean over the runs of an arm. No test stands behind a difference here.";

fn columns(comparison: &Comparison, first: &str) -> Vec<String> {
    let arms = comparison.arms.iter().take(ARMS);
    [first.to_owned()].into_iter().chain(arms.map(|arm| prose(&arm.name))).collect()
}

fn told(arm: &ArmCause) -> String {
    let of = |runs: u64| if arm.runs > 1 { format!(", {runs} of {} runs", arm.runs) } else { String::new() };
    let found = match arm {
        ArmCause { likely: 0, possible: 0, .. } => return arm.not_seen(),
        ArmCause { likely: 0, .. } => format!("possible{}", of(arm.possible)),
        _ => format!("likely{}", of(arm.likely)),
    };
    match &arm.message {
        Some(message) => format!("{found}: {}", prose(message)),
        None => found,
    }
}

/// One row a cause, one column an arm.
pub fn causes(comparison: &Comparison) -> Sheet {
    let columns = columns(comparison, "cause");
    let mut sheet = Sheet::new(&columns);
    for name in &columns[1..] {
        sheet = sheet.with(Kind::Words, name);
    }
    for row in &comparison.causes {
        let arms = row.arms.iter().take(ARMS).map(told);
        sheet.push([row.code.name().replace('_', " ")].into_iter().chain(arms).collect::<Vec<String>>());
    }
    sheet
}

/// One row a quantity, one column an arm.
pub fn answers(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::new(&columns(comparison, "quantity"));
    for row in &comparison.answers {
        let values =
            row.values.iter().take(ARMS).map(|value| value.map_or_else(none, |v| shown_value(row.unit, v)));
        sheet.push([prose(&row.label)].into_iter().chain(values).collect::<Vec<String>>());
    }
    sheet
}

/// The section; `None` where there is nothing to say.
pub fn section(comparison: &Comparison) -> Option<Section> {
    let (causes, answers) = (causes(comparison), answers(comparison));
    let body = html! {
        @if causes.is_empty() {
            p { "No run has a cause of damage, likely or possible, in what its log can tell." }
        } @else {
            (causes.html())
        }
        @if !answers.is_empty() {
            (answers.folded("What drives the updates, side by side", Some("compare_answers"), UNTESTED))
        }
    };
    let heading = "Causes, arm by arm";
    (!comparison.runs.is_empty()).then_some(Section { id: "causes", link: "Causes", heading, body })
}
