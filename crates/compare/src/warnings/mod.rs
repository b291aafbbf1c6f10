//! What the user should know about a comparison.

mod same_log;
mod warning;

pub use same_log::{of_copies, of_files};

use self::warning::{NONE, warning};
use super::named_run::NamedRun;
use super::names::Names;
use super::result::{CompareCode, CompareWarning, Pair};
use super::reward_scale::{self, Scale};
use super::trainer::Trainer;
use stapo_base::format::counted;
use stapo_levels::Metric;
use stapo_result::ComparedRun;

/// Warnings about the runs themselves and how they were logged.
pub fn of_runs(runs: &[NamedRun]) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    for run in runs {
        let diagnosis = &run.analysis.diagnosis;
        if diagnosis.state.is_loss() {
            found.push(warning(
                CompareCode::RunInTrouble,
                format!("{}: {}", run.name, diagnosis.sentence),
                "means over a run that broke down describe neither part of it: look at its own report first",
                &trouble(&run.analysis),
            ));
        }
        if run.analysis.clusters.coarse {
            found.push(warning(
                CompareCode::CoarseGroups,
                format!("{}: so many groups that several of a step share their totals", run.name),
                "prompts that come back at other steps are not told apart: intervals may be too narrow",
                &NONE,
            ));
        }
    }
    if let Some((first, others)) = runs.split_first() {
        for other in others {
            found.extend(not_alike(first, other));
            found.extend(reward_scale::apart([first, other]).map(|scales| of_scales([first, other], scales)));
        }
    }
    found
}

/// A warning of columns that the log of a run lacks, and how to log them.
#[must_use]
pub fn of_missing(run: &str, columns: &[String], how: &str) -> CompareWarning {
    let columns = columns.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
    let message = format!("{run} has no {columns}: what rests on it is not compared");
    warning(CompareCode::MissingColumns, message, how, &NONE)
}

/// Warnings about steps that only one run has.
pub fn of_pairs(pairs: &[Pair], runs: &[NamedRun]) -> Vec<CompareWarning> {
    let gap = |pair: &Pair| {
        let [a, b] = pair.steps_of_one;
        let all = runs.iter().find(|run| run.name == pair.against)?.analysis.steps.len() as u64;
        (a + b > 0).then(|| {
            warning(
                CompareCode::UnalignedSteps,
                format!(
                    "{} in only one of {} and {}: {} compared",
                    counted(a + b, "step is", "steps are"),
                    pair.against,
                    pair.name,
                    counted(pair.steps, "is", "are")
                ),
                "log both runs at the same steps; --steps A..B takes a stretch that both have",
                &[("steps in common", pair.steps as f64), ("steps of the first run", all as f64)],
            )
        })
    };
    pairs.iter().filter_map(gap).collect()
}

/// Warnings about names that were taken.
pub fn of_names(names: &Names) -> Vec<CompareWarning> {
    let renamed = |(wanted, given): &(String, String)| {
        warning(
            CompareCode::RenamedRun,
            format!("two runs are called {wanted}: one of them is {given} here"),
            "name runs yourself (NAME=PATH); seeds of one method belong together only by saying so (--arm NAME=A,B)",
            &NONE,
        )
    };
    names.changed.iter().map(renamed).collect()
}

/// The numbers behind what broke.
fn trouble(run: &ComparedRun) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for damage in &run.diagnosis.damage {
        let values =
            [("from step", damage.from_step as f64), ("before", damage.before), ("after", damage.after)];
        found.extend(values.map(|(what, value)| (format!("{}, {what}", damage.signal), value)));
    }
    let first = run.diagnosis.causes.iter().find(|cause| cause.is_root());
    let evidence = first.into_iter().flat_map(|cause| &cause.evidence);
    found.extend(evidence.map(|evidence| (evidence.what.clone(), evidence.value)));
    found
}

fn not_alike(first: &NamedRun, other: &NamedRun) -> Option<CompareWarning> {
    let (a, b) = (&first.analysis, &other.analysis);
    let mut differing = Vec::new();
    let mut differs = |what: &str, x: String, y: String| {
        if x != y {
            differing.push(format!("{what} ({x} and {y})"));
        }
    };
    let meta = |run: &ComparedRun, key: &str| {
        run.provenance.metadata.get(key).map_or("not logged".to_owned(), |v| v.chars().take(40).collect())
    };
    let unit = |run: &ComparedRun| if run.in_characters { "characters" } else { "tokens" };
    differs("the unit of lengths, which are not tested then", unit(a).into(), unit(b).into());
    differs("vocabulary", a.provenance.vocab_size.to_string(), b.provenance.vocab_size.to_string());
    for key in ["temperature", "top_p", "top_k"] {
        differs(key, meta(a, key), meta(b, key));
    }
    if let (Some(a), Some(b)) = (tokenizer(a), tokenizer(b)) {
        differs("tokenizer", a, b);
    }
    (!differing.is_empty()).then(|| {
        warning(
            CompareCode::NotAlike,
            format!("{} and {} differ in {}", first.name, other.name, differing.join(", ")),
            "part of what differs may be how it was sampled or logged",
            &NONE,
        )
    })
}

/// The name of a run's tokenizer; `None` where it is only a file beside the log, which says nothing.
fn tokenizer(run: &ComparedRun) -> Option<String> {
    let name = run.provenance.metadata.get("tokenizer")?;
    (!name.ends_with("tokenizer.json")).then(|| name.chars().take(40).collect())
}

/// A warning of rewards that cannot be compared.
fn of_scales(runs: [&NamedRun; 2], scales: [Scale; 2]) -> CompareWarning {
    let [a, b] = scales.map(Scale::text);
    let has_answers = runs.iter().all(|run| run.analysis.clusters.groups.has(Metric::RightAnswers));
    let instead = match has_answers {
        true => "right answers are compared in their place",
        false => "and what is right is not known of both",
    };
    warning(
        CompareCode::RewardScales,
        format!(
            "{} and {} have rewards on scales of their own ({a} against {b}): their means are not tested, {instead}",
            runs[0].name, runs[1].name
        ),
        "say what is right in both logs (--pass), or log both rewards on one scale",
        &NONE,
    )
}

/// A warning about what the trainers' files have of other runs, or not of these.
pub fn of_trainer(trainer: &Trainer, runs: &[NamedRun]) -> Option<CompareWarning> {
    let has = |run: &&NamedRun| trainer.series.iter().any(|series| series.run == run.name);
    let absent: Vec<&str> = runs.iter().filter(|run| !has(run)).map(|run| run.name.as_str()).collect();
    let unknown: Vec<String> =
        trainer.unknown.iter().take(8).map(|name| name.chars().take(40).collect()).collect();
    let mut parts = Vec::new();
    if !absent.is_empty() {
        parts.push(format!("nothing of {}", absent.join(", ")));
    }
    if !unknown.is_empty() {
        parts.push(format!("{} belong to no run here", unknown.join(", ")));
    }
    (!parts.is_empty()).then(|| {
        warning(
            CompareCode::TrainerRows,
            format!("{}: {}", trainer.files.join(", "), parts.join("; ")),
            "names of runs in the file are held against those here (NAME=PATH); a file of one run is given as --metrics NAME=FILE",
            &NONE,
        )
    })
}
