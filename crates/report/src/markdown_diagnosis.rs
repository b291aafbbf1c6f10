//! The diagnosis in `report.md`: damage, causes, the order of events, the tokens that drive the update.

use std::fmt::Write as _;

use super::charts::timeline::{Event, events};
use super::text::{markdown_code, markdown_prose, prose, sentence, token_label};
use stapo_base::format::{number, number_or_dash, percent};
use stapo_base::format::{token_of_id, words};
use stapo_result::RunAnalysis;
use stapo_result::{Cause, Confidence, Diagnosis, DriverToken};

/// Rows at most.
const DRIVERS: usize = 8;
const EVENTS: usize = 16;

/// Writes the diagnosis and the tokens that drive the update.
pub fn write(out: &mut String, analysis: &RunAnalysis) {
    findings(out, &analysis.diagnosis);
    drivers(out, analysis);
}

/// Writes damage, causes and what could not be checked in a run of these steps.
pub fn findings(out: &mut String, diagnosis: &Diagnosis) {
    out.push_str("## Diagnosis\n\n");
    for damage in &diagnosis.damage {
        let (before, after) = (number(damage.before), number(damage.after));
        let name = markdown_code(&prose(damage.signal.as_str()));
        let _ = writeln!(out, "- damage: {name} {before} → {after}, from step {}", damage.from_step);
    }
    for cause in &diagnosis.causes {
        write_cause(out, cause);
    }
    if diagnosis.damage.is_empty() && diagnosis.causes.is_empty() {
        out.push_str("Nothing was damaged and no cause was found.\n");
    }
    let one = |event: &Event| {
        let direction = event.direction.map(|direction| format!(" {direction}")).unwrap_or_default();
        format!("{}{direction} ({}) at {}", event.name, event.kind, event.when())
    };
    let events: Vec<String> = events(diagnosis).iter().take(EVENTS).map(one).collect();
    if !events.is_empty() {
        let _ = writeln!(out, "\nOrder of events: {}.", said(&events.join(", ")));
    }
    let one = |n: &stapo_result::NotChecked| format!("{} (log {})", words(n.code.name()), n.needs);
    let open: Vec<String> = diagnosis.not_checked.iter().map(one).collect();
    if !open.is_empty() {
        let _ = writeln!(out, "\nNot checked: {}.", said(&open.join("; ")));
    }
    let _ = writeln!(out, "\n{}\n", said(&sentence(&diagnosis.statement)));
}

/// A text of ours that may hold texts of the log.
fn said(text: &str) -> String {
    markdown_prose(&prose(text))
}

fn write_cause(out: &mut String, cause: &Cause) {
    let sure = match cause.confidence {
        Confidence::Likely => "**likely**",
        Confidence::Possible => "possible",
        Confidence::Note => "note",
    };
    let (message, hint) = (said(&cause.message), said(&cause.hint));
    let _ = writeln!(out, "- {sure}, {}: {message}. Next: {hint}.", words(cause.code.name()));
}

fn drivers(out: &mut String, analysis: &RunAnalysis) {
    let drivers = &analysis.drivers;
    let (Some(effective), Some(shares)) =
        (drivers.concentration.effective_number, drivers.concentration.shares)
    else {
        return;
    };
    let _ = writeln!(
        out,
        "## Tokens that drive the update\n\nThe gradient energy is as concentrated as that of **{}** equal tokens; the largest carries {}, the largest 1 % carry {}.\n\n| token | step | p | A | ratio | corner | energy |\n|---|---|---|---|---|---|---|",
        number(effective),
        percent(shares.top_1),
        percent(shares.top_1_percent)
    );
    for d in drivers.top.iter().take(DRIVERS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            markdown_code(&token_label(&name(d))),
            d.step,
            number(d.logprob.exp()),
            number(d.advantage),
            number_or_dash(d.ratio),
            d.corner.map_or("–", |c| c.name()),
            percent(d.energy_share)
        );
    }
    for row in &drivers.what_if {
        let after = row.effective_number.map_or("–".to_owned(), number);
        let kept = percent(row.energy_kept);
        let _ = writeln!(out, "\n`{}` would keep {kept} of it, spread like {after} tokens.", row.rule);
    }
    out.push('\n');
}

/// A token's text, or its id.
pub fn name(d: &DriverToken) -> String {
    let id = || d.token_id.map_or_else(|| token_of_id("?"), token_of_id);
    d.token.clone().unwrap_or_else(id)
}
