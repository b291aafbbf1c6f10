//! `stapo-analyze check`.

use std::io::{self, Write};

use super::args::{CheckArgs, Format};
use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::settings;
use super::terminal::{self, colours, paint, paragraph, visible};
use crate::check::{CheckOutcome, CheckReport, check};
use crate::error::Result;
use crate::format::grouped;
use crate::ingest::{Column, RawSource, Reason, Run};
use crate::tables::{Columns, text};

/// Runs the command.
pub fn run(arguments: &CheckArgs, out: &mut dyn Write) -> Result<Outcome> {
    let run = Run::open(&arguments.input.inputs, &settings::ingest(&arguments.input.reading)?)?;
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let report = check(&run, arguments.vocab_size, &bar);
    bar.finish();
    let report = report?;
    let written = match arguments.format {
        Format::Text => summary(&report, out),
        Format::Json => serde_json::to_writer_pretty(&mut *out, &report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
    };
    stdout(written)?;
    Ok(if arguments.strict && report.failed() { Outcome::GateFailed } else { Outcome::Fine })
}

fn summary(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    facts(report, out)?;
    writeln!(out, "\nColumns")?;
    columns(report, out)?;
    if !report.unused.is_empty() {
        writeln!(out, "  not used: {}", visible(&report.unused.join(", ")))?;
    }
    if !report.notes.is_empty() || !report.skipped.is_empty() {
        writeln!(out, "\nNotes")?;
        for note in &report.notes {
            writeln!(out, "  {}", visible(note))?;
        }
        for skipped in report.skipped.iter().take(10) {
            writeln!(out, "  skipped {}: {}", visible(&skipped.path), skipped.reason)?;
        }
        if report.skipped.len() > 10 {
            writeln!(out, "  … and {} more skipped", report.skipped.len() - 10)?;
        }
    }
    writeln!(out, "\nChecks")?;
    let colours = colours();
    for check in &report.checks {
        let code = match check.verdict {
            CheckOutcome::Pass => 32,
            CheckOutcome::Warn => 33,
            CheckOutcome::Fail => 31,
            CheckOutcome::Skip => 2,
        };
        let verdict = paint(check.verdict.name(), code, colours);
        let line = |lead: &str, text: &str| paragraph(lead, text, 29, terminal::columns());
        let lead = format!("  {verdict}  {:<20} ", check.code);
        writeln!(out, "{}", line(&lead, &visible(&check.message)))?;
        if let Some(hint) = check.hint {
            writeln!(out, "{}", line(&format!("        {:<20} ", ""), &format!("hint: {hint}")))?;
        }
    }
    let count = |v: CheckOutcome| report.checks.iter().filter(|c| c.verdict == v).count();
    writeln!(
        out,
        "\n{} passed, {} to look at, {} failed, {} not applicable",
        count(CheckOutcome::Pass),
        count(CheckOutcome::Warn),
        count(CheckOutcome::Fail),
        count(CheckOutcome::Skip)
    )
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
        writeln!(out, "{name:<11} {}", visible(&value))?;
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
    text::write(&table, &["missing"], out)
}
