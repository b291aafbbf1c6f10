//! The main job on a log without entropy or advantages: as far as it goes.

use std::io::{self, Write};
use std::path::Path;

use super::diagnosed;
use super::present::Shown;
use super::terminal::{self, Colours, fact};
use stapo_base::error::Result;
use stapo_base::format::{grouped, number, number_or_dash};
use stapo_report::{ReportFiles, write_partial_report};
use stapo_result::partial::TextUnit;
use stapo_result::{Diagnosis, PartialAnalysis};

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
    match analysis.partial.texts_in {
        None => diagnosed::findings(&analysis.diagnosis, out, colours)?,
        // One line says what all of these need.
        Some(_) => {
            let diagnosis = Diagnosis { not_checked: Vec::new(), ..analysis.diagnosis.clone() };
            diagnosed::findings(&diagnosis, out, colours)?;
        }
    }
    let unit = match analysis.partial.texts_in {
        Some(TextUnit::Characters) => "characters",
        _ => "tokens",
    };
    let size = format!("{} in {} responses", grouped(totals.tokens), grouped(totals.responses));
    writeln!(out, "{}", fact(unit, &size))?;
    writeln!(out, "{}", fact("mean reward", &number_or_dash(totals.mean_reward)))?;
    writeln!(out, "{}", fact("mean length", &number_or_dash(totals.mean_length)))?;
    if let Some(entropy) = totals.mean_entropy {
        writeln!(out, "{}", fact("mean entropy", &format!("{} nats", number(entropy))))?;
    }
    if let Some((dead, all)) = totals.zero_advantage_groups.zip(totals.groups) {
        writeln!(out, "{}", fact("dead groups", &format!("{} of {}", grouped(dead), grouped(all))))?;
    }
    let ledger = analysis.answers.offpolicy.as_ref().map(|ledger| &ledger.run);
    if let Some(engine) = ledger.and_then(|run| run.engine.as_ref()) {
        writeln!(out, "{}", fact("engine k3", &format!("{} (trainer against sampler)", number(engine.k3))))?;
    }
    if let Some(update) = ledger.and_then(|run| run.update.as_ref()) {
        writeln!(out, "{}", fact("update k3", &format!("{} (new policy against old)", number(update.k3))))?;
    }
    for warning in &analysis.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}
