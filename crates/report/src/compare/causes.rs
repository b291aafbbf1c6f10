//! Causes and answers of the arms side by side.

use maud::html;

use super::shown_arms::{left_out, shown};
use crate::page::{Kind, Section, Sheet, note};
use crate::text::prose;
use stapo_base::format::none;
use stapo_base::format::words;
use stapo_compare::Comparison;
use stapo_compare::result::{ArmCause, CauseRow};
use stapo_compare::shown::shown_value;

/// What stands under the table of answers.
pub const UNTESTED: &str =
    "Values of whole runs, the mean over the runs of an arm. No test stands behind a difference here.";

/// What stands under the table of marks.
pub const MARKS: &str = "– not found; ? could not be checked with what the log holds; 2/3: in two of the arm’s three runs. What was found, in the run where it is surest:";

fn columns(comparison: &Comparison, first: &str) -> Vec<String> {
    let arms = shown(comparison).into_iter().map(|place| prose(&comparison.arms[place].name));
    [first.to_owned()].into_iter().chain(arms).collect()
}

/// How sure the cause is in an arm, and in how many of its runs.
fn mark(arm: &ArmCause) -> String {
    let of = |runs: u64| if arm.runs > 1 { format!(" {runs}/{}", arm.runs) } else { String::new() };
    match arm {
        ArmCause { likely: 0, possible: 0, not_checked: 0, .. } => none(),
        ArmCause { likely: 0, possible: 0, not_checked, .. } if *not_checked == arm.runs => "?".into(),
        ArmCause { likely: 0, possible: 0, not_checked, .. } => format!("?{}", of(*not_checked)),
        ArmCause { likely: 0, .. } => format!("possible{}", of(arm.possible)),
        _ => format!("likely{}", of(arm.likely)),
    }
}

/// One row a cause, one column an arm: how sure it is there.
pub fn causes(comparison: &Comparison) -> Sheet {
    let columns = columns(comparison, "cause");
    let mut sheet = Sheet::new(&columns);
    for name in &columns[1..] {
        sheet = sheet.with(Kind::Text, name);
    }
    for row in &comparison.causes {
        let arms = shown(comparison).into_iter().map(|place| row.arms.get(place).map_or_else(none, mark));
        sheet.push([spaced(row)].into_iter().chain(arms).collect::<Vec<String>>());
    }
    sheet
}

/// One row a cause and arm that has it: what was found, with numbers.
pub fn found(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::new(&["cause", "run", "what was found"])
        .with(Kind::Text, "run")
        .with(Kind::Words, "what was found");
    for row in &comparison.causes {
        for arm in row.arms.iter().filter(|arm| arm.likely + arm.possible > 0) {
            let message = arm.message.as_deref().map_or_else(none, prose);
            sheet.push([spaced(row), format!("{}: {}", prose(&arm.name), mark(arm)), message]);
        }
    }
    sheet
}

fn spaced(row: &CauseRow) -> String {
    words(row.code.name())
}

/// One row a quantity, one column an arm.
pub fn answers(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::new(&columns(comparison, "quantity"));
    for row in &comparison.answers {
        let value = |place: usize| row.values.get(place).copied().flatten();
        let values = shown(comparison)
            .into_iter()
            .map(|place| value(place).map_or_else(none, |v| shown_value(row.unit, v)));
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
            @if let Some(said) = left_out(comparison) { (note(&said)) }
            (note(MARKS))
            (found(comparison).html())
        }
        @if !answers.is_empty() {
            (answers.folded("What drives the updates, side by side", Some("compare_answers"), UNTESTED))
        }
    };
    let heading = "Causes, arm by arm";
    (!comparison.runs.is_empty()).then_some(Section { id: "causes", link: "Causes", heading, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_how_sure_and_in_how_many_runs() {
        let arm = |likely, possible, not_checked| ArmCause {
            runs: 3,
            likely,
            possible,
            not_checked,
            ..ArmCause::default()
        };
        let shown = [arm(2, 1, 0), arm(0, 1, 1), arm(0, 0, 0), arm(0, 0, 1), arm(0, 0, 3)].map(|a| mark(&a));
        assert_eq!(shown, ["likely 2/3", "possible 1/3", "–", "? 1/3", "?"]);
        assert_eq!(mark(&ArmCause { runs: 1, likely: 1, ..ArmCause::default() }), "likely");
    }
}
