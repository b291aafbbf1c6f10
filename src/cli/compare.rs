//! `stapo-analyze compare`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::Outcome;
use super::present::{Presentation, Shown};
use super::progress::Bar;
use super::terminal::{self, visible};
use super::{gates, settings};
use crate::cli::args::CompareArgs;
use crate::compare::compare;
use stapo_base::error::Result;
use stapo_base::format::{none, number};
use stapo_base::output::OutputFolder;
use stapo_base::tables::{Columns, text};
use stapo_compare::Comparison;
use stapo_compare::result::{Family, MetricRow};
use stapo_compare::shown::{shown, shown_difference, shown_interval, shown_p, shown_value};
use stapo_page::Files;
use stapo_report::write_comparison;

/// Columns of numbers, some with words: aligned to the right.
const NUMBERS: [&str; 7] = ["baseline", "other", "difference", "interval", "p", "p corrected", "effect"];

/// Sentences of a kind before the tables: eight arms have dozens.
const SENTENCES: usize = 6;

/// What is left out first where the terminal is narrow; the page and the files have all.
const SPARE: [&str; 6] = ["test", "effect", "p", "other", "baseline", "interval"];

/// Runs the command.
pub fn run(arguments: &CompareArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = gates::of_comparison(&arguments.fail_on)?;
    let arms = settings::arms(arguments)?;
    // Fails now rather than after the scan.
    let claimed = arguments.report.as_deref().map(OutputFolder::claim).transpose()?;
    let quiet = arguments.reading.quiet;
    let ingest = settings::ingest_part(&arguments.reading, &arguments.part)?;
    let comparison = compare(&arms, &ingest, &settings::compare(arguments), |run| Bar::new(run, quiet))?;
    let wanted = Presentation {
        report: arguments.report.as_deref(),
        open: arguments.showing.open,
        format: arguments.showing.format,
        verbose: arguments.showing.verbose,
        full: arguments.showing.full,
        quiet,
        gates: &gates,
        claimed: claimed.as_ref(),
    };
    wanted.present(&comparison, |folder| write_all(&comparison, folder), out, talk)
}

impl Shown for Comparison {
    const PAGE: &'static str = "compare.html";
    const FILE: &'static str = "compare.json";

    fn text(&self, _verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        summary(self, out)
    }
}

/// Everything `--report` asks for; the page comes last, so that its links never dangle.
fn write_all(comparison: &Comparison, folder: &Path) -> Result<Files> {
    comparison.write(folder)?;
    let files = write_comparison(comparison, folder)?;
    Ok(Files { html: files.html, markdown: files.markdown, charts: files.charts })
}

/// A text behind a lead, broken where the terminal ends.
fn said(lead: &str, text: &str, indent: usize) -> String {
    terminal::paragraph(lead, text, indent, terminal::columns())
}

/// The first of many sentences, and where the others are.
fn write_some(sentences: &[String], elsewhere: &str, out: &mut dyn Write) -> io::Result<()> {
    for sentence in sentences.iter().take(SENTENCES) {
        writeln!(out, "{}", said("", &visible(sentence), 0))?;
    }
    match sentences.len().saturating_sub(SENTENCES) {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more: {elsewhere}"),
    }
}

fn summary(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let verdict = &comparison.verdict;
    writeln!(out, "{}", said("", &visible(&verdict.headline), 0))?;
    write_some(&verdict.differences, "marked with * in the tables", out)?;
    write_some(&verdict.alike, "in the tables, and in compare.md (--report DIR)", out)?;
    writeln!(out, "{}", said("", &visible(&verdict.scope), 0))?;
    for row in &comparison.causes {
        writeln!(out, "{}", said("cause ", &visible(&row.sentence), 6))?;
    }
    writeln!(out)?;
    for arm in comparison.arms.iter().skip(1) {
        let rows: Vec<&MetricRow> = comparison
            .metrics
            .iter()
            .filter(|r| {
                r.run == arm.name
                    && (!matches!(r.family, Family::Classes | Family::Questions) || r.significant)
            })
            .collect();
        let table = Columns::of(&rows)
            .text("metric", |r| format!("{}{}", if r.significant { "* " } else { "  " }, visible(&r.label)))
            .text("baseline", |r| shown(r, r.baseline))
            .text("other", |r| shown(r, r.other))
            .text("difference", |r| shown_difference(r, r.difference))
            .text("interval", |r| shown_interval(r).unwrap_or_else(none))
            .text("p", |r| r.p_value.map_or_else(none, shown_p))
            .text("p corrected", |r| r.p_adjusted.map_or_else(none, shown_p))
            .text("effect", |r| r.effect.map_or_else(none, number))
            .text("test", |r| r.test_unit.counted(r.n))
            .frame();
        let (baseline, other) = (&comparison.arms[0].name, &arm.name);
        let versus = format!("{} against {} (* differs)", visible(other), visible(baseline));
        writeln!(out, "{}", said("", &versus, 0))?;
        text::write_within(&table, &NUMBERS, &SPARE, terminal::columns(), out)?;
        writeln!(out)?;
    }
    if !comparison.answers.is_empty() {
        let arms: Vec<&str> = comparison.arms.iter().map(|arm| arm.name.as_str()).collect();
        let names = format!("side by side, not tested ({}):", visible(&arms.join(", ")));
        writeln!(out, "{}", said("", &names, 0))?;
    }
    for row in &comparison.answers {
        let value = |value: &Option<f64>| value.map_or_else(none, |v| shown_value(row.unit, v));
        let values: Vec<String> = row.values.iter().map(value).collect();
        writeln!(out, "{}", said("  ", &format!("{}: {}", row.label, values.join(", ")), 4))?;
    }
    for warning in &comparison.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}
