//! One line a step.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cli::terminal::{columns, paragraph, visible};
use stapo_base::format::{grouped, none, number};
use stapo_result::RunAnalysis;
use stapo_result::StepRow;

/// Steps that are shown of a run that is older than the watch.
const MOST: usize = 20;

/// What was printed.
#[derive(Default)]
pub struct StepLines {
    /// The steps, with the tokens that each had then.
    steps: BTreeMap<i64, u64>,
    /// How the run stood.
    state: String,
}

impl StepLines {
    /// Writes the steps that are whole and new, and again those of which there is more now. The newest may be
    /// half written until a later one begins, or until it is `settled`.
    pub fn write(&mut self, analysis: &RunAnalysis, settled: bool, out: &mut dyn Write) -> io::Result<()> {
        let newest = analysis.steps.last().map(|row| row.step);
        let whole = analysis.steps.iter().filter(|row| settled || Some(row.step) != newest);
        let mut new: Vec<(&StepRow, &str)> = Vec::new();
        for row in whole {
            match self.steps.insert(row.step, row.tokens) {
                None => new.push((row, "")),
                Some(before) if before != row.tokens => new.push((row, " (more of it)")),
                Some(_) => {}
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let hidden = new.len().saturating_sub(MOST);
        if hidden > 0 {
            writeln!(out, "{} steps before are in the report", grouped(hidden as u64))?;
        }
        for (row, more) in &new[hidden..] {
            writeln!(out, "{}", within(&format!("{}{more}", line(row)), columns()))?;
        }
        let state = visible(&analysis.diagnosis.sentence);
        if state != self.state {
            writeln!(out, "{}", paragraph("state   ", &state, 8, columns()))?;
            self.state = state;
        }
        out.flush()
    }
}

/// A line as it is where it fits; else without what lines it up with others, in as many as it takes.
fn within(line: &str, columns: Option<usize>) -> String {
    match columns {
        Some(most) if line.chars().count() > most => {
            let words: Vec<&str> = line.split_whitespace().collect();
            paragraph("", &words.join(" "), 8, columns)
        }
        _ => line.to_owned(),
    }
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
mod tests {
    use super::within;

    #[test]
    fn a_line_that_does_not_fit_is_broken_between_words() {
        let line = "step 3     tokens 57,827      reward 0.605    entropy 0.415";
        assert_eq!(within(line, None), line);
        assert_eq!(within(line, Some(100)), line);
        let broken = "step 3 tokens 57,827 reward 0.605\n        entropy 0.415";
        assert_eq!(within(line, Some(40)), broken);
    }
}
