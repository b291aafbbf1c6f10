//! The diagnosis on a terminal: verdict and causes first, in colour where the terminal can.

use std::io::{self, Write};

use super::terminal::{Colours, columns, paragraph, visible};
use stapo_base::format::words;
use stapo_result::RunAnalysis;
use stapo_result::{Cause, Confidence, Damage, Diagnosis, NotChecked, RunState};

/// Causes that are shown with their numbers.
const CAUSES: usize = 5;
/// Where texts begin.
const INDENT: usize = 9;

/// Its colour and word.
fn badge(diagnosis: &Diagnosis) -> (&'static str, &'static str) {
    let state = diagnosis.state;
    let colour = match state {
        RunState::Healthy => "32;1",
        RunState::Suspicious | RunState::NotLearning => "33;1",
        RunState::NotFinite | RunState::Damaged | RunState::Collapsed => "31;1",
        RunState::Undecided | RunState::Unknown => "36;1",
    };
    (colour, state.words())
}

/// Writes verdict, damage, causes and what could not be checked.
pub fn write(analysis: &RunAnalysis, out: &mut dyn Write, colours: Colours) -> io::Result<()> {
    let (verdict, diagnosis) = (&analysis.verdict, &analysis.diagnosis);
    let (code, word) = badge(diagnosis);
    let lead = format!("{}  ", colours.paint(code, word));
    writeln!(out, "{}", paragraph(&lead, &visible(&verdict.health), 0, columns()))?;
    writeln!(out, "{}\n", paragraph("", &visible(&verdict.spurious), 0, columns()))?;
    findings(diagnosis, out, colours)
}

/// Writes the verdict on a run of which only a part could be checked.
pub fn headline_of_part(diagnosis: &Diagnosis, out: &mut dyn Write, colours: Colours) -> io::Result<()> {
    let (code, word) = match badge(diagnosis) {
        (code, _) if diagnosis.state == RunState::Unknown => (code, "partly checked"),
        known => known,
    };
    let lead = format!("{}  ", colours.paint(code, word));
    writeln!(out, "{}", paragraph(&lead, &visible(&diagnosis.sentence), 0, columns()))
}

/// Writes damage, causes and what could not be checked.
pub fn findings(diagnosis: &Diagnosis, out: &mut dyn Write, colours: Colours) -> io::Result<()> {
    if diagnosis.damage.is_empty() && diagnosis.causes.is_empty() && diagnosis.not_checked.is_empty() {
        return Ok(());
    }
    for damage in &diagnosis.damage {
        let Damage { signal, before, after, from_step, slice } = damage;
        let of = slice.as_ref().map_or_else(String::new, |slice| format!(" of {slice}"));
        let line = format!("{signal}{of} {before:.3} → {after:.3} (from step {from_step})");
        let lead = format!("{}   ", colours.paint("31", "damage"));
        writeln!(out, "{}", paragraph(&lead, &visible(&line), INDENT, columns()))?;
    }
    for cause in diagnosis.causes.iter().take(CAUSES) {
        write_cause(cause, out, colours)?;
    }
    if diagnosis.causes.len() > CAUSES {
        writeln!(out, "and {} more in summary.json", diagnosis.causes.len() - CAUSES)?;
    }
    if !diagnosis.not_checked.is_empty() {
        writeln!(out, "{}", colours.paint("2", "not checked"))?;
        for (needs, names) in by_need(&diagnosis.not_checked) {
            let line = format!("{}: log {needs}", names.join(", "));
            writeln!(out, "{}", paragraph("         ", &visible(&line), INDENT, columns()))?;
        }
    }
    writeln!(out)
}

/// What would have to be logged, each with the causes that it lets check; in the order of the causes.
fn by_need(open: &[NotChecked]) -> Vec<(&str, Vec<String>)> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for cause in open {
        match found.iter_mut().find(|(needs, _)| *needs == cause.needs) {
            Some((_, names)) => names.push(words(cause.code.name())),
            None => found.push((&cause.needs, vec![words(cause.code.name())])),
        }
    }
    found
}

fn write_cause(cause: &Cause, out: &mut dyn Write, colours: Colours) -> io::Result<()> {
    let (code, word) = match cause.confidence {
        Confidence::Likely => ("31;1", "likely  "),
        Confidence::Possible => ("33", "possible"),
        Confidence::Note => ("2", "note    "),
    };
    let name = colours.paint("1", &words(cause.code.name()));
    let lead = format!("{} {name}: ", colours.paint(code, word));
    writeln!(out, "{}", paragraph(&lead, &visible(&cause.message), INDENT, columns()))?;
    writeln!(out, "{}", paragraph("         next: ", &visible(&cause.hint), INDENT, columns()))
}
