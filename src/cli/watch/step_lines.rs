//! One line a step.

use std::io::{self, Write};

use crate::analyze::RunAnalysis;
use crate::analyze::result::StepRow;
use crate::format::{grouped, none, number};

/// Steps that are shown of a run that is older than the watch.
const MOST: usize = 20;

/// Writes the steps after `last`.
pub fn write(analysis: &RunAnalysis, last: Option<i64>, out: &mut dyn Write) -> io::Result<()> {
    let new: Vec<&StepRow> =
        analysis.steps.iter().filter(|row| last.is_none_or(|last| row.step > last)).collect();
    let hidden = new.len().saturating_sub(MOST);
    if hidden > 0 {
        writeln!(out, "{} steps before are in the report", grouped(hidden as u64))?;
    }
    for row in &new[hidden..] {
        writeln!(out, "{}", line(row))?;
    }
    if new.is_empty() {
        writeln!(out, "more of the steps up to {}", last.map_or_else(none, |step| step.to_string()))?;
    }
    writeln!(out, "state   {}", crate::cli::terminal::visible(&analysis.diagnosis.sentence))?;
    out.flush()
}

fn line(row: &StepRow) -> String {
    let value = |v: Option<f64>| v.map_or_else(none, number);
    format!(
        "step {:<5} tokens {:<11} reward {:<8} entropy {:<8} candidates {:<7} silenced {}",
        row.step,
        grouped(row.tokens),
        value(row.mean_reward),
        value(row.mean_entropy),
        grouped(row.candidates),
        grouped(row.silenced)
    )
}
