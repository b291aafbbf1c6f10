//! `stapo-analyze check`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::settings;
use super::terminal::{self, Colours, paragraph, visible};
use crate::cli::args::CheckArgs;
use crate::cli::args::Format;
use stapo_base::error::Result;
use stapo_base::format::grouped;
use stapo_base::output::json_text;
use stapo_base::tables::{Columns, text};
use stapo_batch::columns::Column;
use stapo_ingest::check::{CheckOutcome, CheckReport, check};
use stapo_ingest::{RawSource, Reason, Run};

/// Runs the command.
pub fn run(arguments: &CheckArgs, out: &mut dyn Write) -> Result<Outcome> {
    let run = Run::open(&arguments.input.inputs, &settings::ingest(&arguments.input.reading)?)?;
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let report = check(&run, arguments.vocab_size, &bar);
    bar.finish();
    let report = report?;
    let written = match arguments.format {
        Format::Text => summary(&report, out),
        Format::Json => out.write_all(json_text(&report, Path::new("stdout"))?.as_bytes()),
    };
    stdout(written)?;
    Ok(if arguments.strict && report.failed() { Outcome::GateFailed } else { Outcome::Fine })
}

fn summary(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    facts(report, out)?;
    writeln!(out, "\nColumns")?;
    columns(report, out)?;
    if !report.unused.is_empty() {
        writeln!(out, "{}", note("not used: ", &report.unused.join(", ")))?;
    }
    if !report.notes.is_empty() || !report.skipped.is_empty() {
        writeln!(out, "\nNotes")?;
        for said in &report.notes {
            writeln!(out, "{}", note("", said))?;
        }
        for skipped in report.skipped.iter().take(10) {
            writeln!(out, "{}", note("skipped ", &format!("{}: {}", skipped.path, skipped.reason)))?;
        }
        if report.skipped.len() > 10 {
            writeln!(out, "  … and {} more skipped", report.skipped.len() - 10)?;
        }
    }
    writeln!(out, "\nChecks")?;
    let colours = Colours::of_stdout();
    for check in &report.checks {
        let code = match check.verdict {
            CheckOutcome::Pass => "32",
            CheckOutcome::Warn => "33",
            CheckOutcome::Fail => "31",
            CheckOutcome::Skip => "2",
        };
        let lead = format!("  {}  {:<20} ", colours.paint(code, check.verdict.name()), check.code);
        let hint = check.hint.map(|hint| format!("hint: {hint}"));
        said(&lead, &visible(&check.message), hint.as_deref(), out)?;
    }
    let count = |v: CheckOutcome| report.checks.iter().filter(|c| c.verdict == v).count();
    let counts = format!(
        "{} passed, {} to look at, {} failed, {} not applicable",
        count(CheckOutcome::Pass),
        count(CheckOutcome::Warn),
        count(CheckOutcome::Fail),
        count(CheckOutcome::Skip)
    );
    writeln!(out, "\n{}", paragraph("", &counts, 0, terminal::columns()))
}

/// A line among others.
fn note(lead: &str, text: &str) -> String {
    paragraph(&format!("  {lead}"), &visible(text), 4, terminal::columns())
}

/// Columns below which a check's words stand under its name.
const BESIDE: usize = 72;

/// What a check says, beside its name where there is room.
fn said(name: &str, message: &str, hint: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let columns = terminal::columns();
    let indent = match columns.is_some_and(|columns| columns < BESIDE) {
        true => {
            writeln!(out, "{}", name.trim_end())?;
            writeln!(out, "{}", paragraph("        ", message, 8, columns))?;
            8
        }
        false => {
            writeln!(out, "{}", paragraph(name, message, 29, columns))?;
            29
        }
    };
    let lead = " ".repeat(indent);
    hint.map_or(Ok(()), |hint| writeln!(out, "{}", paragraph(&lead, hint, indent, columns)))
}

fn facts(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    let layouts: Vec<String> = report.layouts.iter().map(|l| format!("{l:?}").to_lowercase()).collect();
    let steps = match (report.steps.first, report.steps.last) {
        (Some(first), Some(last)) => {
            let logged = report.columns.iter().any(|c| c.canonical == Column::Step.name());
            let from = if logged { "" } else { ", from folder or file names" };
            format!("{} ({first} to {last}{from})", report.steps.count)
        }
        _ => "none".into(),
    };
    let vocabulary = match report.vocabulary.size {
        Some(size) => format!("{} ({})", grouped(u64::from(size)), report.vocabulary.from),
        None => "unknown".into(),
    };
    let facts = [
        ("framework", report.frameworks.join(", ")),
        ("layout", format!("{}, alignment: {}", layouts.join(" and "), report.alignments.join(", "))),
        ("files", format!("{} ({:.1} MB)", grouped(report.files as u64), report.bytes as f64 / 1e6)),
        ("steps", steps),
        ("groups", report.groups.map_or("no group id".into(), grouped)),
        ("responses", grouped(report.responses)),
        ("tokens", format!("{} ({} trained)", grouped(report.tokens), grouped(report.trained_tokens))),
        ("vocabulary", vocabulary),
    ];
    for (name, value) in facts {
        writeln!(out, "{}", paragraph(&format!("{name:<11} "), &visible(&value), 12, terminal::columns()))?;
    }
    Ok(())
}

fn columns(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    let names = |sources: &[RawSource]| -> Vec<String> { sources.iter().map(|s| visible(&s.name)).collect() };
    let table = Columns::of(&report.columns)
        .text("canonical", |c| visible(&c.canonical))
        .text("column", |c| names(&c.sources).join(" + "))
        .text("found by", |c| match c.reason {
            Reason::Option => "--map".to_owned(),
            reason => format!("{reason:?}").to_lowercase(),
        })
        .text("missing", |c| match c.missing_share {
            Some(0.0) => "0 %".to_owned(),
            Some(share) => format!("{:.2} %", share * 100.0),
            None => "–".to_owned(),
        })
        .text("first bad value", |c| c.first_bad.as_deref().map(visible).unwrap_or_default())
        .frame();
    // A column that has nothing to say only takes room.
    let no_bad = report.columns.iter().all(|c| c.first_bad.is_none());
    let table = if no_bad { table.drop_many(["first bad value"]) } else { table };
    text::write_within(&table, &["missing"], &["found by"], terminal::columns(), out)
}
