//! What the user should know about a comparison.

mod fit;
mod gaps;
mod same_log;
mod warning;

pub use fit::{of_arms, of_sides};
pub use same_log::{of_copies, of_files};

use self::warning::{NONE, warning};
use super::correction::{hangs_together, has_few_left};
use super::names::Names;
use super::quantities::Metric;
use super::result::{Arm, CompareCode, CompareWarning, MetricRow};
use super::reward_scale::Scale;
use super::trainer::Trainer;
use stapo_result::ClusterUnit;
use stapo_result::ComparedRun;

/// Warnings about the runs themselves and how they were logged.
pub fn of_runs(runs: &[(String, &ComparedRun)], names: &Names) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    for (name, run) in runs {
        if let Some(trouble) = trouble(run) {
            found.push(warning(
                CompareCode::RunInTrouble,
                format!("{name}: {trouble}"),
                "means over a run that broke down describe neither part of it: look at its own report first",
                &trouble_evidence(run),
            ));
        }
    }
    if let Some(((first, a), others)) = runs.split_first() {
        for (name, b) in others {
            found.extend(not_alike(first, a, name, b));
        }
    }
    let estimated: Vec<&str> = runs
        .iter()
        .filter(|(_, r)| r.totals.gradient_source.is_estimated())
        .map(|(name, _)| name.as_str())
        .collect();
    if !estimated.is_empty() {
        found.push(warning(
            CompareCode::EstimatedGradients,
            format!("gradient norms of {} are estimates", estimated.join(", ")),
            "differences of energies rest on them: log `sum_pi_sq` or `grad_norm`",
            &NONE,
        ));
    }
    for (name, run) in runs {
        if run.clusters.coarse {
            found.push(warning(
                CompareCode::CoarseClusters,
                format!("{name}: so many groups that several of a step share a cluster"),
                "intervals hold; prompts cannot be paired at this size",
                &NONE,
            ));
        } else if run.clusters.unit == ClusterUnit::Response {
            found.push(warning(
                CompareCode::CoarseClusters,
                format!("{name}: groups are not logged, so every response counts as independent"),
                "map the column of the prompt or group (--map group_id=COLUMN); intervals by groups are too narrow without it",
                &NONE,
            ));
        }
    }
    found.extend(gaps::of_rewards(runs));
    for (wanted, given) in &names.changed {
        found.push(warning(
            CompareCode::RenamedRun,
            format!("two runs are called {wanted}: one of them is {given} here"),
            "name runs yourself (NAME=PATH); seeds of one method belong together only by saying so (--arm NAME=A,B)",
            &NONE,
        ));
    }
    found
}

/// What broke in a run.
fn trouble(run: &ComparedRun) -> Option<&str> {
    run.diagnosis.state.is_loss().then_some(run.diagnosis.sentence.as_str())
}

/// The numbers behind what broke.
fn trouble_evidence(run: &ComparedRun) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for damage in &run.diagnosis.damage {
        let values =
            [("from step", damage.from_step as f64), ("before", damage.before), ("after", damage.after)];
        found.extend(values.map(|(what, value)| (format!("{}, {what}", damage.signal), value)));
    }
    let first = run.diagnosis.causes.iter().find(|cause| cause.is_root());
    found.extend(
        first
            .into_iter()
            .flat_map(|cause| &cause.evidence)
            .map(|evidence| (evidence.what.clone(), evidence.value)),
    );
    found
}

fn not_alike(first: &str, a: &ComparedRun, name: &str, b: &ComparedRun) -> Option<CompareWarning> {
    let mut differing = Vec::new();
    let mut differs = |what: &str, x: String, y: String| {
        if x != y {
            differing.push(format!("{what} ({x} and {y})"));
        }
    };
    let meta = |run: &ComparedRun, key: &str| {
        run.provenance.metadata.get(key).map_or("not logged".to_owned(), |v| v.chars().take(40).collect())
    };
    differs("gradient norms", a.totals.gradient_source.to_string(), b.totals.gradient_source.to_string());
    differs("vocabulary", a.provenance.vocab_size.to_string(), b.provenance.vocab_size.to_string());
    differs("what thresholds are taken over", a.s2t.per.to_string(), b.s2t.per.to_string());
    for key in ["temperature", "top_p", "top_k"] {
        differs(key, meta(a, key), meta(b, key));
    }
    if let (Some(a), Some(b)) = (tokenizer(a), tokenizer(b)) {
        differs("tokenizer", a, b);
    }
    (!differing.is_empty()).then(|| {
        warning(
            CompareCode::NotAlike,
            format!("{first} and {name} differ in {}", differing.join(", ")),
            "part of what differs may be how it was logged: log both runs alike, or analyse both with the same options",
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
pub fn of_scales([base, arm]: [&Arm; 2], scales: [Scale; 2], has_answers: bool) -> CompareWarning {
    let [a, b] = scales.map(Scale::text);
    let instead = match has_answers {
        true => "right answers are compared in their place",
        false => "and what is right is not known of both",
    };
    warning(
        CompareCode::RewardScales,
        format!(
            "{} and {} have rewards on scales of their own ({a} against {b}): their means are not tested, {instead}",
            base.name, arm.name
        ),
        "say what is right in both logs (--pass), or log both rewards on one scale",
        &NONE,
    )
}

/// Metrics of a run that one warning names.
const NAMED: usize = 4;

/// Warnings about single metrics.
pub fn of_metrics(rows: &[MetricRow], missing: &[(Metric, String)]) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    let alike: Vec<&MetricRow> = rows.iter().filter(|row| hangs_together(row)).collect();
    if !alike.is_empty() {
        let mut by_run: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in &alike {
            match by_run.iter_mut().find(|(run, _)| *run == row.run) {
                Some((_, labels)) => labels.push(&row.label),
                None => by_run.push((&row.run, vec![&row.label])),
            }
        }
        let of_run = |(run, labels): &(&str, Vec<&str>)| {
            let more = match labels.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{run} in {}{more}", labels[..labels.len().min(NAMED)].join(", "))
        };
        let least = alike.iter().filter_map(|r| r.effective_steps).fold(f64::INFINITY, f64::min);
        let message = format!(
            "neighbouring steps differ alike from the baseline: {}; they count for fewer than they are{}",
            by_run.iter().map(of_run).collect::<Vec<_>>().join("; "),
            if alike.iter().any(|row| has_few_left(row)) {
                ", and where fewer than 6 independent ones are left, nothing is called equal"
            } else {
                ""
            }
        );
        let hint = "more seeds say more than more steps of the same runs";
        found.push(warning(CompareCode::SerialCorrelation, message, hint, &[("effective_steps", least)]));
    }
    for (metric, run) in missing {
        found.push(warning(
            CompareCode::MissingMetric,
            format!("{} is not compared for {run}: one side has no data for it", metric.label),
            &format!("it needs {} in both logs", metric.needs.words),
            &NONE,
        ));
    }
    found
}

/// Warnings about the trainer's scalars.
pub fn of_trainer(trainer: &Trainer, arms: &[Arm]) -> Vec<CompareWarning> {
    let known: Vec<&String> = arms.iter().flat_map(|arm| &arm.runs).collect();
    let in_file = trainer.runs();
    let absent: Vec<&str> =
        known.iter().filter(|n| !in_file.contains(n.as_str())).map(|n| n.as_str()).collect();
    let unknown: Vec<String> = in_file
        .iter()
        .filter(|n| !known.iter().any(|known| known == *n))
        .take(8)
        .map(|n| n.chars().take(40).collect())
        .collect();
    let mut parts = Vec::new();
    if !absent.is_empty() {
        parts.push(format!("no rows for {}", absent.join(", ")));
    }
    if !unknown.is_empty() {
        parts.push(format!("rows of {} belong to no run here", unknown.join(", ")));
    }
    if trainer.repeated > 0 {
        parts.push(format!("{} rows repeat a run and step (the last counts)", trainer.repeated));
    }
    for (name, text, row) in trainer.skipped.iter().take(8) {
        parts.push(format!("column `{name}` is not numeric (`{text}` in row {row})"));
    }
    let short = |name: &String| -> String { name.chars().take(40).collect() };
    if !trainer.empty.is_empty() {
        let names: Vec<String> = trainer.empty.iter().take(8).map(short).collect();
        parts.push(format!("no numbers in {}", names.join(", ")));
    }
    if !trainer.left_out.is_empty() {
        let names: Vec<String> = trainer.left_out.iter().map(short).collect();
        parts.push(format!(
            "{} metrics beyond the first {} were left out: {}",
            names.len(),
            trainer.metrics.len(),
            names.join(", ")
        ));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let hint = match absent.is_empty() && unknown.is_empty() {
        true => "numbers by run and step are compared; leave the rest out of the file to be rid of this note",
        false => {
            "names of runs in the file are held against those here (NAME=PATH); a file of one run is given as \
             --metrics NAME=FILE"
        }
    };
    vec![warning(
        CompareCode::TrainerRows,
        format!("{}: {}", trainer.files.join(", "), parts.join("; ")),
        hint,
        &NONE,
    )]
}
