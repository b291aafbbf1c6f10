//! `stapo-analyze compare`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::Outcome;
use super::present::{Presentation, Shown, on_terminal};
use super::progress::Bar;
use super::{gates, settings};
use crate::analyze::are_curves;
use crate::cli::args::{CompareArgs, ReadingArgs};
use crate::compare::compare;
use serde_json::{Value, json};
use stapo_base::error::Result;
use stapo_base::output::OutputFolder;
use stapo_compare::Comparison;
use stapo_compare::result::MetricRow;
use stapo_page::document::Place;
use stapo_page::{Brief, Files};

/// Rows that an answer in few words has.
const METRICS: usize = 10;

/// Runs the command.
pub fn run(arguments: &CompareArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = gates::of_comparison(&arguments.fail_on)?;
    let arms = settings::arms(arguments)?;
    let mut wanted = settings::compare(arguments)?;
    // Fails now rather than after the scan.
    let claimed = arguments.report.as_deref().map(OutputFolder::claim).transpose()?;
    let quiet = arguments.reading.quiet;
    // Curves have names of their own.
    let of_curves = arms.iter().flat_map(|arm| &arm.runs).all(|run| are_curves(&run.paths));
    let reading = match of_curves {
        true => ReadingArgs { maps: Vec::new(), ..arguments.reading.clone() },
        false => arguments.reading.clone(),
    };
    if of_curves {
        wanted.curve_maps.clone_from(&arguments.reading.maps);
    }
    let ingest = settings::ingest_texts(&reading, &arguments.part, &arguments.options)?;
    let comparison = compare(&arms, &ingest, &wanted, |run| Bar::new(run, quiet))?;
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

    fn text(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        on_terminal(&stapo_page::compare(self), verbose, out)
    }

    fn brief(&self) -> Option<Brief> {
        let mut document = stapo_page::compare(self);
        // All that is said stands in words of its own.
        document.sections.retain(|section| section.place != Place::Action);
        let metric = |row: &MetricRow| {
            json!({"name": row.name, "run": row.run, "baseline": row.baseline, "other": row.other,
                   "difference": row.difference, "half": row.half(), "verdict": row.verdict})
        };
        let metrics: Vec<Value> = self.metrics.iter().take(METRICS).map(metric).collect();
        let more = vec![
            ("runs_differ", json!(self.runs_differ)),
            ("methods_differ", json!(self.methods_differ)),
            ("said", json!(self.said)),
            ("metrics", json!(metrics)),
        ];
        Some(stapo_page::brief(&document, more))
    }
}

/// Everything `--report` asks for; the page comes last, so that its links never dangle.
fn write_all(comparison: &Comparison, folder: &Path) -> Result<Files> {
    comparison.write(folder)?;
    stapo_page::write_comparison(comparison, folder)
}
