//! `stapo-analyze replay`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::replay_progress::ReplayBar;
use super::terminal::{self, visible};
use super::{open, replay_settings, settings};
use crate::cli::args::Format;
use crate::cli::args::ReplayArgs;
use stapo_base::error::Result;
use stapo_base::format::{amount, none, number};
use stapo_base::output::{OutputFolder, json_text};
use stapo_base::tables::{Columns, text};
use stapo_ingest::Run;
use stapo_replay::{Workspace, replay};
use stapo_report::write_replay;
use stapo_result::replay::{ArmSummary, Difference, Metric, ReplayResult};

/// Columns of numbers, some with words: aligned to the right.
const NUMBERS: [&str; 6] = ["silenced", "AUC", "ln p correct", "ln p wrong", "entropy", "KL"];

/// What is left out first where the terminal is narrow; the page and the files have all.
const SPARE: [(&str, Option<Metric>); 8] = [
    ("seeds", None),
    ("updates", None),
    ("silenced", None),
    ("KL", Some(Metric::KlToStart)),
    ("entropy", Some(Metric::Entropy)),
    ("ln p wrong", Some(Metric::WrongLogprob)),
    ("ln p correct", Some(Metric::CorrectLogprob)),
    ("AUC", Some(Metric::Auc)),
];

/// What can be left out, in that order: what the answer speaks of stays.
fn spare(differences: &[Difference]) -> Vec<&'static str> {
    let differs = |metric: Metric| differences.iter().any(|found| found.supported && found.metric == metric);
    let can_go = SPARE.iter().filter(|(_, metric)| !metric.is_some_and(differs));
    // Two columns of results are always there.
    can_go.map(|(name, _)| *name).take(SPARE.len() - 2).collect()
}

/// Runs the command.
pub fn run(arguments: &ReplayArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let settings = replay_settings::replay(arguments);
    let run = Run::open(&arguments.input.inputs, &settings::ingest(&arguments.input.reading)?)?;
    let claimed = OutputFolder::claim(&arguments.report)?;
    let bar = ReplayBar::new(arguments.input.reading.quiet);
    let workspace = Workspace { folder: arguments.report.clone(), resume: arguments.resume };
    let replayed = replay(&run, &settings, Some(&workspace), &bar);
    bar.finish();
    let replayed = replayed?;
    claimed.retire("replay.html")?;
    replayed.write(&arguments.report)?;
    let report = write_replay(&replayed.result, &replayed.timing, &arguments.report)?;
    let result = replayed.result.clone();
    replayed.forget_checkpoints()?;
    stdout(match arguments.showing.format {
        Format::Json => out.write_all(json_text(&result, Path::new("stdout"))?.as_bytes()),
        Format::Text => summary(&result, out),
    })?;
    if !arguments.input.reading.quiet {
        stdout(writeln!(talk, "\nreport: {}", report.html.display()))?;
    }
    if arguments.showing.open {
        open::in_browser(&report.html, talk)?;
    }
    Ok(Outcome::Fine)
}

fn summary(result: &ReplayResult, out: &mut dyn Write) -> io::Result<()> {
    for line in [&result.verdict.headline, &result.verdict.detail] {
        writeln!(out, "{}", terminal::paragraph("", &visible(line), 0, terminal::columns()))?;
    }
    writeln!(out)?;
    let metric = |row: &ArmSummary, metric: Metric| {
        let found = row.metrics.iter().find(|m| m.metric == metric);
        found.map_or("–".into(), |m| match m.interval {
            Some(interval) => format!("{} ± {}", number(m.mean), number(interval)),
            None => number(m.mean),
        })
    };
    let updates = |row: &ArmSummary| {
        result.arms.iter().find(|a| a.objective == row.objective).map_or(0, |a| a.updates.len() as u64)
    };
    let table = Columns::of(&result.summary)
        .text("objective", |r| r.objective.name())
        .count("seeds", |r| r.finished)
        .count("updates", updates)
        .text("silenced", |r| r.silenced.map_or_else(none, amount))
        .text("AUC", |r| metric(r, Metric::Auc))
        .text("ln p correct", |r| metric(r, Metric::CorrectLogprob))
        .text("ln p wrong", |r| metric(r, Metric::WrongLogprob))
        .text("entropy", |r| metric(r, Metric::Entropy))
        .text("KL", |r| metric(r, Metric::KlToStart))
        .frame();
    text::write_within(&table, &NUMBERS, &spare(&result.differences), terminal::columns(), out)?;
    for warning in &result.warnings {
        writeln!(out, "\n{}", terminal::warning(&warning.message, &warning.hint, terminal::columns()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_framework::rules::Rule;

    #[test]
    fn a_narrow_table_keeps_what_the_answer_speaks_of() {
        let differing = |metric, supported| Difference {
            objective: Rule::Stapo,
            baseline: Rule::Dapo,
            metric,
            pairs: 3,
            mean: 0.1,
            interval: None,
            p_value: None,
            p_signed_rank: None,
            p_adjusted: None,
            supported,
        };
        assert_eq!(spare(&[]), ["seeds", "updates", "silenced", "KL", "entropy", "ln p wrong"]);
        let entropy = [differing(Metric::Entropy, true), differing(Metric::KlToStart, false)];
        assert_eq!(spare(&entropy), ["seeds", "updates", "silenced", "KL", "ln p wrong", "ln p correct"]);
    }
}
