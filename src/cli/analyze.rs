//! The main job.

use std::io::{self, Write};
use std::path::Path;

use super::args::{AnalyzeArgs, Format};
use super::diagnosed::{self, Colours};
use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::terminal::visible;
use super::{open, settings};
use crate::analyze::{FlaggedTokens, Gate, RunAnalysis, analyze_with_flagged};
use crate::error::Result;
use crate::format::grouped;
use crate::ingest::Run;
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
    let analysed = analyze_with_flagged(&run, &settings::analyze(&arguments.options), &bar);
    bar.finish();
    let (analysis, mut flagged) = analysed?;
    claimed.as_ref().map_or(Ok(()), |folder| folder.retire("report.html"))?;
    let report =
        arguments.report.as_deref().map(|folder| write_all(&analysis, &mut flagged, folder)).transpose()?;
    stdout(match arguments.format {
        Format::Json => out.write_all(analysis.to_json()?.as_bytes()),
        Format::Text => text(&analysis, out),
    })?;
    if let Some(report) = report {
        if !arguments.input.reading.quiet {
            stdout(writeln!(talk, "\nreport: {}", report.html.display()))?;
        }
        if arguments.open {
            open::in_browser(&report.html, talk)?;
        }
    }
    let mut outcome = Outcome::Fine;
    for gate in gates {
        if let Some(failed) = gate.check(&analysis)? {
            stdout(writeln!(talk, "failed: {failed}"))?;
            outcome = Outcome::GateFailed;
        }
    }
    Ok(outcome)
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
        writeln!(out, "\nwarning: {}\n   hint: {}", visible(&warning.message), visible(&warning.hint))?;
    }
    Ok(())
}
