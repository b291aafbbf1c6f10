//! The main job.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::Outcome;
use super::present::{Presentation, Shown, brief_of, on_terminal};
use super::progress::Bar;
use super::{curves, gates, partial, settings};
use crate::analyze::{analyze_cached, analyze_with_flagged};
use crate::analyze::{analyze_curves, analyze_partial, are_curves, is_partial};
use crate::cli::args::AnalyzeArgs;
use stapo_base::error::Result;
use stapo_base::output::OutputFolder;
use stapo_collect::flagged::FlaggedTokens;
use stapo_collect::shards::Cache;
use stapo_ingest::Run;
use stapo_page::{Brief, Files, REPORT, write_beside};
use stapo_result::RunAnalysis;
use stapo_result::gate::Gate;

/// Runs the command.
pub fn run(arguments: &AnalyzeArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = gates::of_summary(&arguments.fail_on)?;
    // Fails now rather than after the scan.
    let claimed = arguments.shown.report.as_deref().map(OutputFolder::claim).transpose()?;
    if are_curves(&arguments.input.inputs) {
        let maps = &arguments.input.reading.maps;
        let analysis = analyze_curves(&arguments.input.inputs, maps, arguments.run.as_deref())?;
        let wanted = presentation(arguments, &gates, claimed.as_ref());
        return curves::present(&analysis, &wanted, out, talk);
    }
    let run = Run::open(
        &arguments.input.inputs,
        &settings::ingest_texts(&arguments.input.reading, &arguments.part, &arguments.options)?,
    )?;
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let analyze = settings::analyze(&arguments.options);
    let cache = arguments.cache.as_deref().map(Cache::open).transpose()?;
    let wanted = presentation(arguments, &gates, claimed.as_ref());
    if is_partial(&run) {
        let analysed = analyze_partial(&run, &analyze, cache.as_ref(), &bar);
        bar.finish();
        let analysis = analysed?;
        return wanted.present(&analysis, |folder| partial::write_all(&analysis, folder), out, talk);
    }
    let analysed = match cache {
        None => analyze_with_flagged(&run, &analyze, &bar),
        Some(cache) => analyze_cached(&run, &analyze, &cache, &bar).map(|(a, flagged, _)| (a, flagged)),
    };
    bar.finish();
    let (analysis, mut flagged) = analysed?;
    let shown = wanted.present(&analysis, |folder| write_all(&analysis, &mut flagged, folder), out, talk);
    // The process ends: its memory goes at once, not piece by piece.
    std::mem::forget((analysis, flagged));
    shown
}

fn presentation<'a>(
    arguments: &'a AnalyzeArgs,
    gates: &'a [Gate],
    claimed: Option<&'a OutputFolder>,
) -> Presentation<'a> {
    Presentation {
        report: arguments.shown.report.as_deref(),
        open: arguments.shown.showing.open,
        format: arguments.shown.showing.format,
        verbose: arguments.shown.showing.verbose,
        full: arguments.shown.showing.full,
        quiet: arguments.input.reading.quiet,
        gates,
        claimed,
    }
}

impl Shown for RunAnalysis {
    fn text(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        on_terminal(&stapo_page::run(self), verbose, out)
    }

    fn brief(&self) -> Option<Brief> {
        Some(brief_of(&stapo_page::run(self), &self.diagnosis))
    }
}

/// Everything `--report` asks for; the page comes last, so that its links never dangle.
pub fn write_all(analysis: &RunAnalysis, flagged: &mut FlaggedTokens, folder: &Path) -> Result<Files> {
    let tables = || {
        let rest = || analysis.write_tables(folder).and_then(|()| analysis.write_summary(folder));
        let (flagged, rest) = rayon::join(|| flagged.write(folder), rest);
        rest.and(flagged)
    };
    write_beside(|| stapo_page::run(analysis), REPORT, folder, tables)
}
