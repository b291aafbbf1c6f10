//! One line a step.

use std::io::{self, Write};

use crate::analyze::RunAnalysis;
use crate::analyze::result::StepRow;
use crate::format::{grouped, none, number};

/// Steps that are shown of a run that is older than the watch.
const MOST: usize = 20;

/// The last step that was shown, with its tokens: it may have been half written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastShown {
    step: i64,
    tokens: u64,
}

impl LastShown {
    /// The last step of an analysis, unless a later one was shown.
    pub fn of(analysis: &RunAnalysis, before: Option<Self>) -> Option<Self> {
        let last = analysis.steps.last().map(|row| Self { step: row.step, tokens: row.tokens });
        last.filter(|last| before.is_none_or(|before| last.step >= before.step)).or(before)
    }
}

/// Writes the steps after `last`, and `last` again where it has more tokens now.
pub fn write(analysis: &RunAnalysis, last: Option<LastShown>, out: &mut dyn Write) -> io::Result<()> {
    let grew = |row: &&StepRow| last.is_some_and(|last| row.step == last.step && row.tokens != last.tokens);
    if let Some(row) = analysis.steps.iter().find(grew) {
        writeln!(out, "{} (now whole, or more of it)", line(row))?;
    }
    let is_new = |row: &&StepRow| last.is_none_or(|last| row.step > last.step);
    let new: Vec<&StepRow> = analysis.steps.iter().filter(is_new).collect();
    let hidden = new.len().saturating_sub(MOST);
    if hidden > 0 {
        writeln!(out, "{} steps before are in the report", grouped(hidden as u64))?;
    }
    for row in &new[hidden..] {
        writeln!(out, "{}", line(row))?;
    }
    if new.is_empty() && !analysis.steps.iter().any(|row| grew(&row)) {
        writeln!(out, "more of the steps up to {}", last.map_or_else(none, |last| last.step.to_string()))?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ingest::{Run, Silent};

    /// A step that was half written at the last look is written again, the others are not.
    #[test]
    fn a_step_that_grew_is_shown_again() {
        let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/ward/easy.parquet");
        let run = Run::open(&[log.into()], &Default::default()).unwrap();
        let analysis = crate::analyze::analyze(&run, &Default::default(), &Silent).unwrap();
        let last = LastShown::of(&analysis, None).unwrap();
        let said = |last: LastShown| {
            let mut out = Vec::new();
            write(&analysis, Some(last), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let steps = |text: &str| text.lines().filter(|line| line.starts_with("step ")).count();
        let half = said(LastShown { tokens: last.tokens / 2, ..last });
        assert!(steps(&half) == 1 && half.contains(&grouped(last.tokens)), "{half}");
        assert_eq!(steps(&said(last)), 0);
        assert!(said(last).starts_with("more of the steps up to"));
    }
}
