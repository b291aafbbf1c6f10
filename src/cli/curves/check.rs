//! `check` of training curves: which numbers were found under which names.

use std::io::{self, Write};
use std::path::Path;

use crate::analyze::{CurveAnalysis, analyze_curves};
use crate::cli::args::{CheckArgs, Format};
use crate::cli::outcome::{Outcome, stdout};
use crate::cli::terminal::{self, paragraph, visible};
use stapo_base::error::Result;
use stapo_base::output::json_text;
use stapo_base::tables::{Columns, text};

/// Prints what was read, and how the run stands.
pub fn check(arguments: &CheckArgs, out: &mut dyn Write) -> Result<Outcome> {
    let analysis = analyze_curves(&arguments.input.inputs, &arguments.input.reading.maps, None)?;
    stdout(match arguments.format {
        Format::Text => summary(&analysis, out),
        Format::Json => out.write_all(json_text(&analysis, Path::new("stdout"))?.as_bytes()),
    })?;
    let is_sick = analysis.diagnosis.state.is_sick();
    Ok(if arguments.strict && is_sick { Outcome::GateFailed } else { Outcome::Fine })
}

fn summary(analysis: &CurveAnalysis, out: &mut dyn Write) -> io::Result<()> {
    let mut said = |lead: &str, words: &str| {
        let indent = lead.chars().count();
        writeln!(out, "{}", paragraph(lead, &visible(words), indent, terminal::columns()))
    };
    let steps = &analysis.steps;
    said("training curves  ", &analysis.files.join(", "))?;
    said("steps            ", &format!("{} ({} to {})", steps.count, steps.first, steps.last))?;
    let curves = Columns::of(&analysis.curves)
        .text("canonical", |curve| curve.name.clone())
        .text("column", |curve| visible(&curve.column))
        .text("rows", |curve| curve.rows.to_string())
        .frame();
    writeln!(out, "\nColumns")?;
    text::write_within(&curves, &["rows"], &[], terminal::columns(), out)?;
    let mut note = |lead: &str, words: &str| {
        writeln!(out, "{}", paragraph(&format!("  {lead}"), &visible(words), 4, terminal::columns()))
    };
    if !analysis.unknown_columns.is_empty() {
        note("not known: ", &analysis.unknown_columns.join(", "))?;
        note("", "name one with --map NAME=COLUMN (reward, kl, entropy, length, held_out, part, …)")?;
    }
    for words in &analysis.diagnosis.notes {
        note("note: ", words)?;
    }
    let run = format!("\nRun: {}. ", analysis.diagnosis.state.words());
    writeln!(out, "{}", paragraph(&run, &visible(&analysis.diagnosis.sentence), 0, terminal::columns()))
}
