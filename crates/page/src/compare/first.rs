//! What stands beside the charts in words.

use stapo_base::format::words as named;
use stapo_compare::Comparison;
use stapo_compare::result::{Level, Pair};

use super::{has_methods, leading, short};
use crate::document::{Block, Fact, MIND, Text};
use crate::words;

/// Statements that stand on the first screen.
const LINES: usize = 6;
/// Settings and runs that are named there.
const NAMED: usize = 4;

/// Every statement but the headline, the surest level first.
pub fn shows(comparison: &Comparison) -> Vec<Block> {
    let lead = leading(comparison);
    let first = lead.into_iter().flat_map(|said| said.lines.iter().skip(1));
    // Of single runs only where nothing is known of methods: seeds differ from each other, too.
    let counts = |level: Level| level != Level::Runs || !has_methods(comparison);
    let others = comparison.said.iter().filter(|said| !lead.is_some_and(|lead| std::ptr::eq(lead, *said)));
    let others: Vec<&String> =
        others.filter(|said| counts(said.level)).flat_map(|said| &said.lines).collect();
    let mut lines: Vec<&String> = Vec::new();
    for line in first.chain(others) {
        // What limits one pair limits the others.
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(LINES);
    let shown = lines.into_iter().take(LINES).map(|line| Block::plain(Text::quoting(line.clone())));
    let rest = (more > 0)
        .then(|| Block::note(Text::new().say(format!("{more} more: ")).link("all of them", "#said")));
    shown.chain(rest).collect()
}

/// What is known of the runs, what their settings are, what is wrong, what to do next.
pub fn notes(comparison: &Comparison) -> Block {
    let mut rows = Vec::new();
    let differing = |warning: &&stapo_compare::result::CompareWarning| {
        warning.code != stapo_compare::result::CompareCode::RunInTrouble
    };
    for warning in comparison.warnings.iter().filter(differing).take(NAMED) {
        rows.push(Fact::new(MIND, Text::quoting(format!("{}.", warning.message))));
    }
    for run in comparison.runs.iter().take(NAMED) {
        // What to do stands in its own report.
        let health = run.health.split(" Do: ").next().unwrap_or_default();
        let value = Text::new().say(words::capital(run.state.words())).say(". ").log(health);
        rows.push(Fact::new(Text::new().log(short(&run.name)), value));
    }
    for row in comparison.causes.iter().take(NAMED) {
        rows.push(Fact::new("Cause", Text::quoting(format!("{}.", words::capital(&row.sentence)))));
    }
    if let [pair] = &comparison.pairs[..] {
        rows.extend(settings(pair).map(|text| Fact::new("Settings", text)));
        rows.extend(next(comparison, pair).map(|text| Fact::new("Next", text)));
    }
    Block::notes(rows)
}

/// `learning_rate 1e-5 against 2e-5`.
fn settings(pair: &Pair) -> Option<Text> {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not logged".into());
    let one = |change: &stapo_compare::result::SettingChange| {
        Text::new()
            .log_code(change.name.clone())
            .say(" ")
            .log(value(&change.baseline))
            .say(" against ")
            .log(value(&change.other))
    };
    (!pair.settings.is_empty()).then(|| Text::joined(pair.settings.iter().take(NAMED).map(one), " · "))
}

/// Seeds, where the answer hangs on them.
fn next(comparison: &Comparison, pair: &Pair) -> Option<Text> {
    (comparison.runs_differ && comparison.methods.is_none() && !pair.same_settings).then(|| {
        Text::new()
            .say("Three seeds a side: ")
            .code("stapo-analyze compare --arm A=A1,A2,A3 --arm B=B1,B2,B3")
    })
}

/// The name of a cause.
pub fn cause(code: &str) -> String {
    named(code)
}
