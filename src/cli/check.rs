//! `stapo-analyze check`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::terminal::{self, Colours, paragraph, visible};
use super::{curves, settings};
use crate::analyze::{AnalyzeSettings, are_curves, diagnose};
use crate::cli::args::CheckArgs;
use crate::cli::args::Format;
use serde::Serialize;
use stapo_base::error::Result;
use stapo_base::format::{grouped, words};
use stapo_base::output::json_text;
use stapo_base::tables::{Columns, text};
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;
use stapo_ingest::check::{CheckOutcome, CheckReport, check};
use stapo_ingest::{RawSource, Reason, Run};
use stapo_result::{Cause, Confidence, Diagnosis, RunState};

/// Runs the command.
pub fn run(arguments: &CheckArgs, out: &mut dyn Write) -> Result<Outcome> {
    if are_curves(&arguments.input.inputs) {
        return curves::check(arguments, out);
    }
    let run = Run::open(&arguments.input.inputs, &settings::ingest(&arguments.input.reading)?)?;
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let report = check(&run, arguments.vocab_size, &bar);
    bar.finish();
    let report = report?;
    // What cannot be read for an analysis has its check, which says why.
    let diagnosis = match report.trained_tokens {
        0 => None,
        _ => diagnose(&run, &AnalyzeSettings::default(), &Silent).ok(),
    };
    let checked = Checked { report: &report, run: diagnosis.as_ref().map(Judged::of) };
    let written = match arguments.format {
        Format::Text => summary(&checked, out),
        Format::Json => out.write_all(json_text(&checked, Path::new("stdout"))?.as_bytes()),
    };
    stdout(written)?;
    let is_sick = diagnosis.is_some_and(|diagnosis| diagnosis.causes.iter().any(Cause::is_root));
    let failed = report.failed() || is_sick;
    Ok(if arguments.strict && failed { Outcome::GateFailed } else { Outcome::Fine })
}

/// What a log holds, and how its run stands.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    report: &'a CheckReport,
    /// State and likely causes, by the measures of the analysis; null where it cannot be analysed.
    run: Option<Judged<'a>>,
}

/// How a run stands.
#[derive(Serialize)]
struct Judged<'a> {
    state: RunState,
    sentence: &'a str,
    causes: Vec<&'a Cause>,
}

impl<'a> Judged<'a> {
    fn of(diagnosis: &'a Diagnosis) -> Self {
        let likely = diagnosis.causes.iter().filter(|cause| cause.confidence == Confidence::Likely);
        Self { state: diagnosis.state, sentence: &diagnosis.sentence, causes: likely.collect() }
    }
}

fn summary(checked: &Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = checked.report;
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
    writeln!(out, "\n{}", paragraph("", &counts, 0, terminal::columns()))?;
    let Some(run) = &checked.run else { return Ok(()) };
    let lead = format!("\nRun: {}. ", run.state.words());
    writeln!(out, "{}", paragraph(&lead, &visible(run.sentence), 0, terminal::columns()))?;
    for cause in &run.causes {
        let lead = format!("  {}: ", words(cause.code.name()));
        writeln!(out, "{}", paragraph(&lead, &visible(&cause.message), 4, terminal::columns()))?;
    }
    Ok(())
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
