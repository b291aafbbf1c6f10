//! The main job on a log without entropy: as far as it goes.

use std::io::{self, Write};
use std::path::Path;

use super::diagnosed::{self, Colours};
use super::present::Shown;
use super::terminal;
use crate::analyze::PartialAnalysis;
use crate::error::Result;
use crate::format::grouped;
use crate::report::{ReportFiles, write_partial_report};

impl Shown for PartialAnalysis {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text(self, out)
    }
}

/// Everything `--report` asks for; the page comes last.
pub fn write_all(analysis: &PartialAnalysis, folder: &Path) -> Result<ReportFiles> {
    analysis.write_tables(folder)?;
    analysis.write_summary(folder)?;
    write_partial_report(analysis, folder)
}

fn text(analysis: &PartialAnalysis, out: &mut dyn Write) -> io::Result<()> {
    let (totals, colours) = (&analysis.totals, Colours::of_stdout());
    diagnosed::headline_of_part(&analysis.diagnosis, out, colours)?;
    let hint = format!("To have the rest: {}.", terminal::visible(&analysis.partial.hint));
    writeln!(out, "{}\n", terminal::paragraph("", &hint, 0, terminal::columns()))?;
    diagnosed::findings(&analysis.diagnosis, out, colours)?;
    let number = |value: Option<f64>| value.map_or("–".into(), |v| format!("{v:.4}"));
    writeln!(out, "tokens            {} in {} responses", grouped(totals.tokens), grouped(totals.responses))?;
    writeln!(out, "mean reward       {}", number(totals.mean_reward))?;
    writeln!(out, "mean length       {}", number(totals.mean_length))?;
    if let Some((dead, all)) = totals.zero_advantage_groups.zip(totals.groups) {
        writeln!(out, "without advantage {} of {} groups", grouped(dead), grouped(all))?;
    }
    let ledger = analysis.answers.offpolicy.as_ref().map(|ledger| &ledger.run);
    if let Some(engine) = ledger.and_then(|run| run.engine.as_ref()) {
        writeln!(out, "engine k3         {:.3e} (trainer against sampler)", engine.k3)?;
    }
    if let Some(update) = ledger.and_then(|run| run.update.as_ref()) {
        writeln!(out, "update k3         {:.3e} (new policy against old)", update.k3)?;
    }
    for warning in &analysis.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}
