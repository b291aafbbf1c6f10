//! The main job.

use std::io::{self, Write};
use std::path::Path;

use super::diagnosed;
use super::outcome::{Outcome, stdout};
use super::present::{Presentation, Shown};
use super::progress::Bar;
use super::terminal::{self, Colours, fact};
use super::{curves, gates, partial, settings};
use crate::analyze::{analyze_cached, analyze_with_flagged};
use crate::analyze::{analyze_curves, analyze_partial, are_curves, is_partial};
use crate::cli::args::{AnalyzeArgs, Format};
use stapo_base::error::Result;
use stapo_base::format::{fixed_percent, grouped, none, number};
use stapo_base::output::OutputFolder;
use stapo_collect::flagged::FlaggedTokens;
use stapo_collect::shards::Cache;
use stapo_ingest::Run;
use stapo_report::{ReportFiles, write_report_beside};
use stapo_result::gate::Gate;
use stapo_result::{ClaimRow, RunAnalysis};

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
    if arguments.shown.verbose && wanted.format == Format::Text {
        stdout(claims(&analysis.claims, out))?;
    }
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
        quiet: arguments.input.reading.quiet,
        gates,
        claimed,
    }
}

impl Shown for RunAnalysis {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text(self, out)
    }
}

/// Everything `--report` asks for; the page comes last, so that its links never dangle.
pub fn write_all(analysis: &RunAnalysis, flagged: &mut FlaggedTokens, folder: &Path) -> Result<ReportFiles> {
    let tables = || {
        let rest = || analysis.write_tables(folder).and_then(|()| analysis.write_summary(folder));
        let (flagged, rest) = rayon::join(|| flagged.write(folder), rest);
        rest.and(flagged)
    };
    write_report_beside(analysis, folder, tables)
}

/// The paper's claims, a paragraph each.
fn claims(rows: &[ClaimRow], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nthe paper's claims on this run")?;
    for row in rows {
        let value = row.value.map(number).into_iter().chain(row.beside.clone()).collect::<Vec<_>>().join(" ");
        let said = format!("{}: {value}", row.claim);
        let said = if value.is_empty() { row.claim.clone() } else { said };
        let text = terminal::visible(&format!("{said} ({})", row.why));
        writeln!(
            out,
            "{}",
            terminal::paragraph(&format!("  {:<19} ", row.verdict), &text, 22, terminal::columns())
        )?;
    }
    Ok(())
}

fn text(analysis: &RunAnalysis, out: &mut dyn Write) -> io::Result<()> {
    let (totals, s2t) = (&analysis.totals, &analysis.s2t);
    diagnosed::write(analysis, out, Colours::of_stdout())?;
    let percent = |share: Option<f64>| share.map_or_else(none, |share| fixed_percent(share, 3));
    let size = format!("{} in {} responses", grouped(totals.tokens), grouped(totals.responses));
    let silenced = format!("{} ({})", grouped(s2t.silenced), percent(Some(s2t.fraction)));
    let energy = format!("{} of the gradient energy ({})", percent(s2t.energy_share), totals.gradient_source);
    writeln!(out, "{}\n{}", fact("tokens", &size), fact("candidates", &grouped(s2t.candidates)))?;
    writeln!(out, "{}\n{}", fact("silenced", &silenced), fact("their energy", &energy))?;
    for warning in &analysis.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}
