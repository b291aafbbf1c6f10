//! The level of runs.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use stapo_analyze::compare::Comparison;
use stapo_analyze::compare::result::CompareCode;

use crate::compare_support::Made;
use crate::support::{sample, write_batch};
use crate::{analysis, close, codes, compared, json, program, real, row, said};

#[derive(Deserialize)]
struct Expected {
    runs: [String; 2],
    rows: Vec<ExpectedRow>,
}

#[derive(Deserialize)]
struct ExpectedRow {
    name: String,
    values: [f64; 2],
    half: f64,
    freedom: f64,
    margin: f64,
    verdict: String,
}

/// `tests/data/two_runs.json` is what a reference says of these logs that was written apart, with numpy.
#[test]
fn real_runs_have_the_numbers_of_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/two_runs.json");
    let expected: Vec<Expected> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for pair in expected {
        let [a, b] = pair.runs.each_ref().map(|name| real(name));
        let found = json(program().arg(a).arg(b));
        assert_eq!(found["metrics"].as_array().unwrap().len(), pair.rows.len());
        for wanted in pair.rows {
            let row = row(&found, &wanted.name);
            let what = format!("{:?} {}", pair.runs, wanted.name);
            close(&row["baseline"], wanted.values[0], &what);
            close(&row["other"], wanted.values[1], &what);
            let ends = ["ci_low", "ci_high"].map(|end| row[end].as_f64().unwrap());
            close(&((ends[1] - ends[0]) / 2.0).into(), wanted.half, &what);
            close(&row["freedom"], wanted.freedom, &what);
            close(&row["margin"], wanted.margin, &what);
            assert_eq!(row["verdict"], wanted.verdict.as_str(), "{what}");
        }
    }
}

#[test]
fn a_difference_is_said_with_its_interval_and_its_limits() {
    let found = json(program().arg(real("healthy")).arg(real("dropout_1")));
    let lines = said(&found, "runs");
    assert!(
        lines[0].starts_with("healthy and dropout_1 differ: reward 0.68 against 0.07 over "),
        "{lines:?}"
    );
    assert!(lines[0].ends_with("(0.61 ± 0.04), 0.88 against 0.05 at the end."), "{lines:?}");
    assert!(lines[1].starts_with("One run each: this describes these two runs"), "{lines:?}");
    assert_eq!(
        (found["runs_differ"].as_bool(), found["methods_differ"].as_bool()),
        (Some(true), Some(false))
    );
    assert!(lines.iter().all(|line| line.split_whitespace().count() <= 25), "{lines:?}");
    assert!(found.get("methods").is_none());
}

#[test]
fn a_log_and_itself_do_not_differ() {
    let grpo = sample("grpo.parquet");
    let found = json(program().arg(&grpo).arg(&grpo));
    for row in found["metrics"].as_array().unwrap() {
        assert_eq!((row["difference"].as_f64(), row["differs"].as_bool()), (Some(0.0), Some(false)), "{row}");
        assert_eq!(row["run"], "grpo-2");
    }
    assert_eq!(found["runs_differ"], false);
    assert!(codes(&found).contains(&"renamed_run") && codes(&found)[0] == "same_log");
    assert!(found["movers"][0]["tokens"].as_array().unwrap().is_empty());
}

/// The values are those of the runs' own analyses, where nothing is put to another mix of tasks.
#[test]
fn values_are_those_of_the_runs() {
    let own = analysis(&sample("stapo.parquet"));
    let found = json(program().arg(sample("grpo.parquet")).arg(sample("stapo.parquet")));
    let near = |name: &str, wanted: f64| {
        let value = row(&found, name)["other"].as_f64().unwrap();
        // There steps count by their tokens, here alike.
        assert!((value / wanted - 1.0).abs() < 0.01, "{name}: {value} {wanted}");
    };
    near("entropy", own.totals.mean_entropy.unwrap());
    near("reward", own.totals.mean_reward.unwrap());
    near("length", own.totals.mean_length.unwrap());
    let groups = &own.clusters.groups;
    let responses: u64 = groups.groups().map(|(_, totals)| totals.responses).sum();
    let tokens: u64 = groups.groups().map(|(_, totals)| totals.length).sum();
    assert_eq!((responses, tokens), (own.totals.responses, own.totals.tokens));
    assert!(groups.groups().all(|(_, totals)| totals.prompt.is_some()));
    let counted = [
        own.clusters.ids.iter().flat_map(|(_, counts)| counts).sum::<u64>(),
        own.clusters.plane.iter().flat_map(|(_, counts)| counts).sum::<u64>(),
    ];
    assert_eq!(counted, [own.totals.tokens; 2]);
}

fn pairs(usual: u64) -> u64 {
    std::env::var("NULL_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// 1 in 20, and what chance adds to it in 1 of 1,000 tries.
fn assert_rare(name: &str, different: u64, count: u64) {
    let (n, p) = (count as f64, 0.05);
    let most = n * p + 3.1 * (n * p * (1.0 - p)).sqrt();
    assert!((different as f64) <= most, "{name}: {different} of {count} pairs without a difference");
}

/// Whether any interval leaves out 0: at δ = 0, since beyond it even a broken error would pass.
fn is_apart(found: &Comparison) -> bool {
    found
        .metrics
        .iter()
        .any(|row| row.ci_low.zip(row.ci_high).is_some_and(|(low, high)| low > 0.0 || high < 0.0))
}

/// Runs of one process: the same prompts at the same steps, others, and none that are logged.
#[test]
fn runs_of_one_process_are_seldom_apart() {
    let folder = tempfile::tempdir().unwrap();
    type Kind = (&'static str, fn(u64) -> Made);
    let kinds: [Kind; 2] = [
        ("plain", |seed| Made { seed, steps: (0..8).collect(), ..Made::default() }),
        ("no prompts", |seed| Made { seed, steps: (0..8).collect(), prompts: false, ..Made::default() }),
    ];
    for (name, made) in kinds {
        let count = pairs(60);
        let apart = (0..count).filter(|trial| {
            let side = |side: u64| analysis(&made(2 * trial + side).write(folder.path(), &format!("{side}")));
            is_apart(&compared([("a", &side(0)), ("b", &side(1))]))
        });
        assert_rare(name, apart.count() as u64, count);
    }
}

#[test]
fn a_difference_of_entropy_is_found_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made { seed: 1, ..Made::default() }.write(folder.path(), "a");
    let b = Made { seed: 2, entropy: 0.7, ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(format!("base={}", a.display())).arg(format!("new={}", b.display())));
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["differs"].as_bool(), entropy["run"].as_str()), (Some(true), Some("new")));
    assert!((entropy["difference"].as_f64().unwrap() - 0.2).abs() < 0.05, "{entropy}");
    assert_eq!(row(&found, "reward")["differs"], false);
    assert!(
        said(&found, "runs")[0].starts_with("base and new differ: entropy 0.5"),
        "{:?}",
        said(&found, "runs")
    );
}

#[test]
fn steps_are_aligned_by_their_numbers_and_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, steps: Vec<i64>| Made { steps, ..Made::default() }.write(folder.path(), name);
    let base = made("base", (0..10).map(|i| i * 10).collect());
    let longer = made("longer", (0..14).map(|i| i * 10).collect());
    let near = made("near", (0..10).map(|i| i * 10 + 2).collect());
    let found = json(program().arg(base).arg(longer).arg(near));
    let of = |i: usize| {
        let pair = &found["pairs"][i];
        (pair["steps"].as_u64().unwrap(), [0, 1].map(|side| pair["steps_of_one"][side].as_u64().unwrap()))
    };
    assert_eq!([of(0), of(1)], [(10, [0, 4]), (0, [10, 10])]);
    assert_eq!(codes(&found).iter().filter(|code| **code == "unaligned_steps").count(), 2);
    let lines = said(&found, "runs");
    assert!(
        lines.contains(&"base and near are not compared: not at the same steps of both runs."),
        "{lines:?}"
    );
}

#[test]
fn a_metric_that_one_run_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made::default().write(folder.path(), "a");
    let b = Made { seed: 3, rewards: false, ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(a).arg(b));
    assert_eq!(row(&found, "reward")["verdict"], "not_tested");
    let lines = said(&found, "runs");
    assert!(lines.iter().any(|line| line.starts_with("Not tested: reward")), "{lines:?}");
}

/// A grader that gives wrong answers no reward at all: the mean of the others is 1.
#[test]
fn rewards_that_one_run_lacks_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made::default().write(folder.path(), "a");
    let b = Made { seed: 2, paid: [f32::NAN, 1.0], ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(a).arg(b));
    let lacking = &row(&found, "reward")["lacking"];
    assert!(lacking[0] == 0 && lacking[1].as_u64().unwrap() > 20, "{lacking}");
    let lines = said(&found, "runs");
    assert!(
        lines.iter().any(|line| line.starts_with("Without a value of reward, and left out: 0 ")),
        "{lines:?}"
    );
}

/// Without groups and prompts a response is all that can count.
#[test]
fn responses_that_stand_alone_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let bare = |seed: u64, name: &str| {
        let path = Made { seed, prompts: false, ..Made::default() }.write(folder.path(), name);
        format!("{name}={}", path.display())
    };
    let found = json(program().arg(bare(1, "a")).arg(bare(2, "b")).args(["--map", "group_id="]));
    assert_eq!(row(&found, "entropy")["clusters"], "responses");
    let lines = said(&found, "runs");
    assert!(lines.iter().any(|line| line.contains("the intervals are too narrow")), "{lines:?}");
}

/// Two runs that answer alike; the second pays −1 for a wrong answer.
#[test]
fn rewards_on_scales_of_their_own_are_not_called_better_or_worse() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, paid: [f32; 2], own: f64| {
        let made = Made { steps: (0..20).collect(), paid, own: (0.0, own), ..Made::default() };
        analysis(&made.write(folder.path(), name))
    };
    let of = |found: &Comparison, name: &str| {
        found.metrics.iter().find(|row| row.name == name).map(|row| (row.differs, row.difference))
    };
    let is_told = |found: &Comparison| found.warnings.iter().any(|w| w.code == CompareCode::RewardScales);
    let plain = run("plain", [0.0, 1.0], 0.0);
    let same = compared([("plain", &plain), ("better", &run("better", [0.0, 1.0], 0.3))]);
    assert!(!is_told(&same) && of(&same, "reward").unwrap().0);
    let scaled = compared([("plain", &plain), ("signed", &run("signed", [-1.0, 1.0], 0.0))]);
    assert!(is_told(&scaled), "{:?}", scaled.warnings);
    assert_eq!((of(&scaled, "reward"), of(&scaled, "right_answers")), (None, Some((false, Some(0.0)))));
    let better = compared([("plain", &plain), ("signed", &run("signed", [-1.0, 1.0], 0.3))]);
    assert!(better.said[0].lines[0].contains("differ: right answers"), "{:?}", better.said);
}

/// A run that its own diagnosis calls collapsed.
#[test]
fn a_run_that_collapsed_is_said() {
    let found = json(program().arg(sample("ward/healthy.parquet")).arg(sample("ward/hacked.parquet")));
    let warnings = found["warnings"].as_array().unwrap().iter();
    let troubles: Vec<&Value> = warnings.filter(|w| w["code"] == "run_in_trouble").collect();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    let said = troubles[0]["message"].as_str().unwrap();
    assert!(said.starts_with("hacked: The reward rises while what you wanted falls. "), "{said}");
}

/// Held-out responses have a metric of their own, and are not trained on.
#[test]
fn held_out_responses_are_compared_apart() {
    let folder = tempfile::tempdir().unwrap();
    let made = |seed: u64, name: &str| {
        let path =
            Made { seed, steps: (0..12).collect(), groups: 12, ..Made::default() }.write(folder.path(), name);
        with_evaluation(&path)
    };
    let found = compared([("a", &analysis(&made(1, "a"))), ("b", &analysis(&made(2, "b")))]);
    let row = |name: &str| found.metrics.iter().find(|row| row.name == name).unwrap();
    assert!(row("held_out").ci_low.is_some() && row("reward").ci_low.is_some(), "{:?}", found.metrics);
    assert_eq!((row("held_out").steps, row("reward").steps), (12, 12));
}

/// Every third group of each step is one of evaluation.
fn with_evaluation(path: &Path) -> PathBuf {
    use arrow_array::{Int64Array, RecordBatch, StringArray, cast::AsArray};
    let file = std::fs::File::open(path).unwrap();
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build();
    let batch = reader.unwrap().next().unwrap().unwrap();
    let groups: &Int64Array = batch.column_by_name("group_id").unwrap().as_primitive();
    let split: StringArray =
        groups.values().iter().map(|group| Some(if group % 3 == 0 { "eval" } else { "train" })).collect();
    let schema = batch.schema();
    let columns =
        schema.fields().iter().map(|field| field.name().clone()).zip(batch.columns().iter().cloned());
    let all = columns.chain([("split".to_owned(), std::sync::Arc::new(split) as _)]);
    let out = path.with_extension("split.parquet");
    write_batch(&out, &RecordBatch::try_from_iter(all).unwrap(), 1 << 20);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]
    /// Which run comes first changes the signs, and nothing else.
    #[test]
    fn swapping_the_runs_mirrors_every_row(
        seed in 0..1_000_u64,
        (steps, others) in (3..14_i64, 3..14_i64),
        (groups, prompts) in (1..6_u64, any::<bool>()),
        right in -0.55..0.39_f64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let made = |side: u64, steps: i64, right: f64| Made {
            seed: 2 * seed + side, steps: (0..steps).collect(), groups, prompts, own: (0.0, right), ..Made::default()
        };
        let left = analysis(&made(0, steps, right).write(folder.path(), "left"));
        let right = analysis(&made(1, others, right + 0.02).write(folder.path(), "right"));
        let (ahead, back) = (compared([("a", &left), ("b", &right)]), compared([("b", &right), ("a", &left)]));
        prop_assert_eq!(ahead.metrics.len(), back.metrics.len());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3);
        for (a, b) in ahead.metrics.iter().zip(&back.metrics) {
            prop_assert_eq!((&a.name, a.reason, a.steps), (&b.name, b.reason, b.steps));
            let mirrored = |x: Option<f64>, y: Option<f64>| x.zip(y).is_none_or(|(x, y)| near(x, -y));
            prop_assert!(mirrored(a.difference, b.difference), "{a:?} {b:?}");
            prop_assert!(a.baseline.zip(b.other).is_none_or(|(x, y)| near(x, y)), "{a:?} {b:?}");
        }
    }
}
