//! The main job.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use super::args::{AnalyzeArgs, Format};
use super::diagnosed::{self, Colours};
use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::terminal;
use super::{open, partial, settings};
use crate::analyze::{
    Cache, FlaggedTokens, Gate, RunAnalysis, analyze_cached, analyze_with_flagged, analyze_without_entropy,
};
use crate::error::Result;
use crate::format::grouped;
use crate::ingest::{Column, Run};
use crate::output::OutputFolder;
use crate::report::{ReportFiles, write_report};

/// Runs the command.
pub fn run(arguments: &AnalyzeArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = arguments.fail_on.iter().map(|g| Gate::parse(g)).collect::<Result<Vec<_>>>()?;
    // Fails now rather than after the scan.
    let claimed = arguments.report.as_deref().map(OutputFolder::claim).transpose()?;
    let run = Run::open(
        &arguments.input.inputs,
        &settings::ingest_part(&arguments.input.reading, &arguments.part)?,
    )?;
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let analyze = settings::analyze(&arguments.options);
    let cache = arguments.cache.as_deref().map(Cache::open).transpose()?;
    let wanted = Wanted {
        report: arguments.report.as_deref(),
        open: arguments.open,
        format: arguments.format,
        quiet: arguments.input.reading.quiet,
        gates: &gates,
        claimed: claimed.as_ref(),
    };
    if !run.has(Column::Entropy) {
        let analysed = analyze_without_entropy(&run, &analyze, cache.as_ref(), &bar);
        bar.finish();
        return partial::present(&analysed?, &wanted, out, talk);
    }
    let analysed = match cache {
        None => analyze_with_flagged(&run, &analyze, &bar),
        Some(cache) => analyze_cached(&run, &analyze, &cache, &bar).map(|(a, flagged, _)| (a, flagged)),
    };
    bar.finish();
    let (analysis, flagged) = analysed?;
    present(&analysis, flagged, &wanted, out, talk)
}

/// What is done with a result.
pub struct Wanted<'a> {
    /// Where the report goes.
    pub report: Option<&'a Path>,
    /// Whether it is shown.
    pub open: bool,
    /// What is printed.
    pub format: Format,
    /// Whether nothing else is.
    pub quiet: bool,
    /// What it is held against.
    pub gates: &'a [Gate],
    /// The claimed folder of the report.
    pub claimed: Option<&'a OutputFolder>,
}

/// Writes, prints and judges a result.
pub fn present(
    analysis: &RunAnalysis,
    mut flagged: FlaggedTokens,
    wanted: &Wanted<'_>,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Result<Outcome> {
    wanted.claimed.map_or(Ok(()), |folder| folder.retire("report.html"))?;
    let report = wanted.report.map(|folder| write_all(analysis, &mut flagged, folder)).transpose()?;
    stdout(match wanted.format {
        Format::Json => out.write_all(analysis.to_json()?.as_bytes()),
        Format::Text => text(analysis, out),
    })?;
    if let Some(report) = report {
        if !wanted.quiet {
            stdout(writeln!(talk, "\nreport: {}", report.html.display()))?;
        }
        if wanted.open {
            open::in_browser(&report.html, talk)?;
        }
    }
    if wanted.gates.is_empty() { Ok(Outcome::Fine) } else { wanted.judge(&analysis.to_value()?, talk) }
}

impl Wanted<'_> {
    /// Holds the gates against a summary.
    pub fn judge(&self, summary: &Value, talk: &mut dyn Write) -> Result<Outcome> {
        let mut outcome = Outcome::Fine;
        for gate in self.gates {
            if let Some(failed) = gate.check_value(summary, "summary.json")? {
                stdout(writeln!(talk, "failed: {failed}"))?;
                outcome = Outcome::GateFailed;
            }
        }
        Ok(outcome)
    }
}

/// Everything `--report` asks for; the page comes last, so that its links never dangle.
pub fn write_all(analysis: &RunAnalysis, flagged: &mut FlaggedTokens, folder: &Path) -> Result<ReportFiles> {
    analysis.write_tables(folder)?;
    flagged.write(folder)?;
    analysis.write_summary(folder)?;
    write_report(analysis, folder)
}

fn text(analysis: &RunAnalysis, out: &mut dyn Write) -> io::Result<()> {
    let (totals, s2t) = (&analysis.totals, &analysis.s2t);
    diagnosed::write(analysis, out, Colours::of_stdout())?;
    let percent = |share: Option<f64>| share.map_or("–".into(), |s| format!("{:.3} %", s * 100.0));
    writeln!(out, "tokens            {} in {} responses", grouped(totals.tokens), grouped(totals.responses))?;
    writeln!(out, "candidates        {}", grouped(s2t.candidates))?;
    writeln!(out, "silenced          {} ({})", grouped(s2t.silenced), percent(Some(s2t.fraction)))?;
    writeln!(out, "gradient energy   {} ({})", percent(s2t.energy_share), totals.gradient_source)?;
    for warning in &analysis.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}
