//! `stapo-analyze compare` end to end: on the sample runs, on runs made up for one purpose, and on
//! bad input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod compare_support;
mod schema_support;
mod support;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use compare_support::Made;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, ComparedRun, analyze_for_comparison};
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_analyze::report::html::PAGE_LIMIT;
use support::sample;

fn program() -> Command {
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    command.arg("compare");
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    schema_support::validate(&value, "compare");
    value
}

fn rows<'a>(comparison: &'a Value, name: &str) -> Vec<&'a Value> {
    comparison["metrics"].as_array().unwrap().iter().filter(|row| row["name"] == name).collect()
}

fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    rows(comparison, name).first().unwrap_or_else(|| panic!("no {name}"))
}

fn codes(comparison: &Value) -> Vec<&str> {
    comparison["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect()
}

fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} {expected}");
}

#[test]
fn the_sample_runs_differ_in_entropy_and_in_little_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
    command.arg("--metrics").arg(sample("steps.csv")).arg("--report").arg(folder.path());
    let found = json(&mut command);
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["run"].as_str(), entropy["significant"].as_bool()), (Some("stapo"), Some(true)));
    assert_eq!((entropy["test"].as_str(), entropy["n"].as_u64()), (Some("wilcoxon_signed_rank"), Some(11)));
    assert!(entropy["ci_high"].as_f64().unwrap() < 0.0);
    // Ten of eleven steps lower, only the smallest difference of another sign: 2·2/2¹¹.
    close(&entropy["p_value"], 4.0 / 2048.0);
    close(&entropy["effect"], -10.0 / 11.0);
    for name in
        ["reward", "length", "silenced_ratio", "spurious_energy_share", "zero_advantage_share", "risk"]
    {
        let row = row(&found, name);
        assert_eq!(row["significant"], false, "{name}");
        let (low, high) = (row["ci_low"].as_f64().unwrap(), row["ci_high"].as_f64().unwrap());
        assert!(
            low < 0.0 && high > 0.0 && (low..=high).contains(&row["difference"].as_f64().unwrap()),
            "{row}"
        );
    }
    let silenced = row(&found, "silenced_ratio");
    close(&silenced["baseline"], 168.0 / 612_395.0);
    close(&silenced["other"], 150.0 / 611_512.0);
    assert_eq!(found["alignment"][0]["prompts"], 704);
    assert_eq!(found["alignment"][0]["steps"], 11);
    assert_eq!(row(&found, "trainer.reward")["family"], "trainer");
    assert!(codes(&found).contains(&"one_seed") && codes(&found).contains(&"trainer_rows"));
    let scope = found["verdict"]["scope"].as_str().unwrap();
    assert!(scope.contains("not of the methods"), "{scope}");
    let distance = &found["distributions"][0]["vocabulary"];
    assert!(distance["distance"].as_f64().unwrap() > distance["noise_high"].as_f64().unwrap());

    // The values are those of the runs' own analyses.
    let own = analysis(&sample("stapo.parquet"));
    close(&entropy["other"], own.totals.mean_entropy.unwrap());
    close(&row(&found, "reward")["other"], own.totals.mean_reward.unwrap());
    close(&row(&found, "length")["other"], own.totals.mean_length.unwrap());
    close(&row(&found, "spurious_energy_share")["other"], own.s2t.energy_share.unwrap());

    // The first lines say it everywhere.
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(
        headline.starts_with("stapo has a lower mean entropy than grpo: 0.284 nats against 0.309"),
        "{headline}"
    );
    let markdown = std::fs::read_to_string(folder.path().join("compare.md")).unwrap();
    assert!(markdown.starts_with(&format!("# Differs beyond noise: {headline}")), "{markdown}");
    let page = std::fs::read_to_string(folder.path().join("compare.html")).unwrap();
    assert!(page.contains(&format!("<h1>{headline}</h1>")));
    let text = program().arg(sample("grpo.parquet")).arg(sample("stapo.parquet")).output().unwrap();
    assert!(String::from_utf8(text.stdout).unwrap().starts_with(headline));
    let written: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("compare.json")).unwrap()).unwrap();
    assert_eq!(written, found);
    for (table, least) in [
        ("metrics", 29),
        ("runs", 2),
        ("steps", 220),
        ("trainer", 1_440),
        ("regions", 40),
        ("tokens", 60),
        ("spurious", 40),
    ] {
        let path = folder.path().join(format!("tables/compare_{table}.parquet"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
        let rows = reader.metadata().file_metadata().num_rows();
        assert!(rows >= least, "{table}: {rows}");
    }
}

fn analysis(path: &Path) -> ComparedRun {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    analyze_for_comparison(&run, &AnalyzeSettings::default(), &Silent).unwrap()
}

#[test]
fn sums_by_group_add_up_to_the_run() {
    use stapo_analyze::analyze::result::ClusterSum as S;
    let found = analysis(&sample("grpo.parquet"));
    let clusters = &found.clusters;
    assert_eq!(clusters.steps.iter().map(|s| s.clusters.len()).sum::<usize>(), 704);
    assert!(clusters.steps.iter().flat_map(|s| &s.clusters).all(|c| c.prompt.is_some()));
    let total =
        |sum: S| clusters.steps.iter().flat_map(|s| &s.clusters).map(|c| c.sums[sum as usize]).sum::<f64>();
    let totals = &found.totals;
    assert_eq!(total(S::Tokens), totals.tokens as f64);
    assert_eq!(total(S::Responses), totals.responses as f64);
    assert_eq!(total(S::Zero), totals.zero_advantage as f64);
    assert_eq!(total(S::Silenced), found.s2t.silenced as f64);
    assert_eq!(total(S::Candidates), found.s2t.candidates as f64);
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    near(total(S::Entropy) / total(S::Complete), totals.mean_entropy.unwrap());
    near(total(S::PositiveEnergy) + total(S::NegativeEnergy), totals.gradient_energy);
    near(total(S::SilencedEnergy) / totals.gradient_energy, found.s2t.energy_share.unwrap());
    let counted: u64 = clusters.ids.iter().flat_map(|(_, counts)| counts).sum();
    assert_eq!(counted, totals.tokens);
    let counted: u64 = clusters.plane.iter().flat_map(|(_, counts)| counts).sum();
    assert_eq!(counted, totals.tokens);
}

#[test]
fn identical_runs_do_not_differ_and_are_told_apart() {
    let found = json(program().arg(sample("grpo.parquet")).arg(sample("grpo.parquet")));
    for row in found["metrics"].as_array().unwrap() {
        let name = &row["name"];
        assert_eq!((row["difference"].as_f64(), row["p_value"].as_f64()), (Some(0.0), Some(1.0)), "{name}");
        assert_eq!(
            (row["p_adjusted"].as_f64(), row["significant"].as_bool()),
            (Some(1.0), Some(false)),
            "{name}"
        );
        assert_eq!((row["ci_low"].as_f64(), row["ci_high"].as_f64()), (Some(0.0), Some(0.0)), "{name}");
        assert_eq!(row["run"], "grpo-2");
    }
    assert_eq!(found["verdict"]["differs"], false);
    assert!(codes(&found).contains(&"renamed_run"));
    let change = &found["distributions"][0];
    assert_eq!(
        (change["plane"]["distance"].as_f64(), change["plane"]["p_value"].as_f64()),
        (Some(0.0), Some(1.0))
    );
    assert!(
        change["tokens"].as_array().unwrap().is_empty() && change["regions"].as_array().unwrap().is_empty()
    );
}

#[test]
fn results_do_not_depend_on_threads_and_follow_the_seed() {
    let run = |threads: &str, seed: &str| {
        let mut command = program();
        command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
        json(command.args(["--threads", threads, "--seed", seed, "--draws", "300"]))
    };
    let first = run("1", "5");
    assert!(first == run("3", "5"));
    let other = run("2", "6");
    assert_eq!(row(&first, "entropy")["p_value"], row(&other, "entropy")["p_value"]);
    assert_ne!(row(&first, "entropy")["ci_low"], row(&other, "entropy")["ci_low"]);
}

/// Both runs are drawn from the same process: labels mean nothing.
#[test]
fn labels_that_mean_nothing_give_uniform_p_values() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompareSettings { draws: 100, ..CompareSettings::default() };
    let mut p = Vec::new();
    let mut called = 0;
    for trial in 0..120_u64 {
        let runs: Vec<NamedRun> = ["a", "b"]
            .iter()
            .zip(0..)
            .map(|(name, side)| {
                let made = Made { seed: trial * 2 + side, steps: (0..12).collect(), ..Made::default() };
                let path = made.write(folder.path(), name);
                NamedRun { name: (*name).into(), arm: (*name).into(), analysis: analysis(&path) }
            })
            .collect();
        let found = compare_runs(&runs, None, &settings);
        called += u32::from(found.verdict.differs);
        for name in ["entropy", "reward", "length"] {
            p.push(found.metrics.iter().find(|m| m.name == name).unwrap().p_value.unwrap());
        }
    }
    for level in [0.1, 0.25, 0.5, 0.75] {
        let share = p.iter().filter(|p| **p <= level).count() as f64 / p.len() as f64;
        assert!((share - level).abs() < 0.08, "{share} of p-values are at most {level}");
    }
    assert!(called <= 12, "{called} of 120 pairs without a difference are called different");
}

fn repro(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/repro").join(name)
}

/// Two runs of one process whose τ_h hangs on few candidates: classes are cut alike.
#[test]
fn classes_are_cut_at_one_entropy() {
    let found = json(program().arg(repro("null_a.parquet")).arg(repro("null_b.parquet")));
    assert_eq!(found["verdict"]["differs"], false, "{}", found["verdict"]["headline"]);
    let cut = found["settings"]["class_entropy_cut"].as_f64().unwrap();
    assert!(cut > 0.0);
    let said =
        found["statements"].as_array().unwrap().iter().any(|s| s.as_str().unwrap().contains("same entropy"));
    assert!(said);
    // All classes and the two that are metrics of their own make up the whole.
    let shares = |side: &str| {
        let rows = found["metrics"].as_array().unwrap().iter();
        let classes = rows.filter(|r| r["name"].as_str().unwrap().starts_with("class_share."));
        let own =
            ["candidate_ratio", "zero_advantage_share"].map(|name| row(&found, name)[side].as_f64().unwrap());
        classes.map(|r| r[side].as_f64().unwrap()).sum::<f64>() + own.iter().sum::<f64>()
    };
    assert!((shares("baseline") - 1.0).abs() < 1e-9 && (shares("other") - 1.0).abs() < 1e-9);
}

/// Three seeds a side whose entropies are half a nat apart.
#[test]
fn few_seeds_can_find_a_difference() {
    let arm = |name: &str, letter: &str| {
        let paths: Vec<String> =
            (0..3).map(|i| repro(&format!("seed_{letter}{i}.parquet")).display().to_string()).collect();
        format!("{name}={}", paths.join(","))
    };
    let found = json(program().arg("--arm").arg(arm("x", "x")).arg("--arm").arg(arm("y", "y")));
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["test"].as_str(), entropy["significant"].as_bool()), (Some("welch_t"), Some(true)));
    assert_eq!((entropy["primary"].as_bool(), entropy["finding"].as_str()), (Some(true), Some("differs")));
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(headline.starts_with("y has a lower mean entropy than x"), "{headline}");
    assert!(found["verdict"]["scope"].as_str().unwrap().contains("about normal"));
}

/// A sentence never says that nothing differs where nothing could have been found, or beside an
/// interval that excludes 0.
#[test]
fn what_could_not_be_found_is_not_called_alike() {
    let folder = tempfile::tempdir().unwrap();
    // The same run three times has no scatter, so ranks are all there is.
    let same = |seed: u64, name: &str| {
        let path = Made { seed, steps: (0..8).collect(), ..Made::default() }.write(folder.path(), name);
        format!("{name}={0},{0},{0}", path.display())
    };
    let found = json(program().arg("--arm").arg(same(1, "a")).arg("--arm").arg(same(2, "b")));
    let entropy = row(&found, "entropy");
    assert_eq!(
        (entropy["test"].as_str(), entropy["finding"].as_str()),
        (Some("mann_whitney"), Some("too_few"))
    );
    close(&entropy["smallest_p"], 0.1);
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(
        headline.contains("too few seeds (3 a side): the smallest p that these could give is 0.10"),
        "{headline}"
    );
    for comparison in [&found, &json(program().arg(sample("grpo.parquet")).arg(sample("stapo.parquet")))] {
        for row in comparison["metrics"].as_array().unwrap() {
            let bounds = row["ci_low"].as_f64().zip(row["ci_high"].as_f64());
            let excludes = bounds.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            assert!(!(excludes && row["finding"] == "no_difference"), "{row}");
        }
        for sentence in comparison["verdict"]["alike"].as_array().unwrap() {
            let sentence = sentence.as_str().unwrap();
            assert!(!sentence.contains('_'), "code names in prose: {sentence}");
        }
    }
}

/// Nothing seen is not the same as equal.
#[test]
fn none_seen_has_an_upper_limit() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [1, 2].map(|seed| {
        let made = Made { seed, rare: 0.0, ..Made::default() };
        made.write(folder.path(), &format!("r{seed}"))
    });
    let found = json(program().args(&paths));
    let silenced = row(&found, "silenced_ratio");
    assert_eq!((silenced["baseline"].as_f64(), silenced["finding"].as_str()), (Some(0.0), Some("none_seen")));
    let most = silenced["at_most"].as_f64().unwrap();
    let tokens = found["runs"].as_array().unwrap().iter().map(|r| r["tokens"].as_f64().unwrap());
    close(&serde_json::json!(most), 3.0 / tokens.fold(f64::INFINITY, f64::min));
    let said = found["verdict"]["alike"].as_array().unwrap().iter().any(|s| {
        let sentence = s.as_str().unwrap();
        sentence.starts_with("None seen on either side") && sentence.contains("silenced tokens (at most ")
    });
    assert!(said, "{}", found["verdict"]["alike"]);
}

/// Scalars as other tools write them.
#[test]
fn trainer_scalars_of_one_run_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    for (seed, name) in [(1, "a"), (2, "b")] {
        let path = Made { seed, ..Made::default() }.write(folder.path(), name);
        command.arg(path);
        let state = folder.path().join(format!("{name}-state.json"));
        let entry =
            |step: u64| format!("{{\"step\": {step}, \"epoch\": 1, \"kl\": {}, \"loss\": NaN}}", step + seed);
        let entries: Vec<String> = (0..10).map(entry).collect();
        std::fs::write(&state, format!("{{\"log_history\": [{}]}}", entries.join(","))).unwrap();
        command.arg("--metrics").arg(format!("{name}={}", state.display()));
    }
    let found = json(&mut command);
    let kl = row(&found, "trainer.kl");
    assert_eq!((kl["difference"].as_f64(), kl["primary"].as_bool()), (Some(1.0), Some(true)));
}

#[test]
fn a_real_difference_is_found_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    // Enough steps to tell a difference from what wanders (docs/statistics.md).
    let steps: Vec<i64> = (0..40).collect();
    let a = Made { seed: 1, steps: steps.clone(), ..Made::default() }.write(folder.path(), "a");
    let b = Made { seed: 2, steps, entropy: 0.6, ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(format!("base={}", a.display())).arg(format!("new={}", b.display())));
    let entropy = row(&found, "entropy");
    assert_eq!(entropy["significant"], true, "{entropy}");
    assert!((entropy["difference"].as_f64().unwrap() - 0.1).abs() < 0.03, "{entropy}");
    assert_eq!(row(&found, "reward")["significant"], false);
    assert_eq!(found["arms"][1]["name"], "new");
    assert!(
        found["verdict"]["headline"].as_str().unwrap().starts_with("new has a higher mean entropy than base")
    );
}

#[test]
fn seeds_count_as_one_arm_only_by_saying_so() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..6_u64)
        .map(|seed| {
            let entropy = if seed < 3 { 0.5 } else { 0.6 };
            Made { seed, steps: (0..8).collect(), entropy, ..Made::default() }
                .write(folder.path(), &format!("s{seed}"))
        })
        .collect();
    let list = |from: usize| {
        paths[from..from + 3].iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(",")
    };
    let mut command = program();
    let found = json(
        command.arg("--arm").arg(format!("grpo={}", list(0))).arg("--arm").arg(format!("stapo={}", list(3))),
    );
    assert_eq!(found["arms"][1]["runs"], serde_json::json!(["s3", "s4", "s5"]));
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["test"].as_str(), entropy["test_unit"].as_str()), (Some("welch_t"), Some("seeds")));
    assert_eq!((entropy["n"].as_u64(), entropy["interval"].as_str()), (Some(3), Some("seeds")));
    assert_eq!((entropy["effect"].as_f64(), entropy["significant"].as_bool()), (Some(1.0), Some(true)));
    assert!(entropy["ci_low"].as_f64().unwrap() > 0.0);
    assert!(found["verdict"]["scope"].as_str().unwrap().contains("methods"));
    assert!(!codes(&found).contains(&"one_seed"));
    // The same files as single runs are six runs.
    let found = json(program().args(&paths));
    assert_eq!((found["arms"].as_array().unwrap().len(), rows(&found, "entropy").len()), (6, 5));
    // One seed against three is still one run on a side.
    let mut command = program();
    let found = json(command.arg(&paths[0]).arg("--arm").arg(format!("stapo={}", list(3))));
    assert_eq!(row(&found, "entropy")["test"], "wilcoxon_signed_rank");
    assert!(codes(&found).contains(&"one_seed"));
}

#[test]
fn other_grids_of_steps_are_aligned_and_what_is_not_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, steps: Vec<i64>| Made { steps, ..Made::default() }.write(folder.path(), name);
    let base = made("base", (0..10).map(|i| i * 10).collect());
    let longer = made("longer", (0..14).map(|i| i * 10).collect());
    let near = made("near", (0..10).map(|i| i * 10 + 2).collect());
    let scaled = made("scaled", (0..10).map(|i| 5_000 + i * 300).collect());
    let found = json(program().arg(base).arg(longer).arg(near).arg(scaled));
    let of = |i: usize| {
        let a = &found["alignment"][i];
        (a["method"].as_str().unwrap(), a["steps"].as_u64().unwrap(), a["other_unaligned"].as_u64().unwrap())
    };
    assert_eq!([of(0), of(1), of(2)], [("exact", 10, 4), ("nearest", 10, 0), ("progress", 10, 0)]);
    let tests: Vec<&str> = rows(&found, "entropy").iter().map(|r| r["test"].as_str().unwrap()).collect();
    assert_eq!(tests, ["wilcoxon_signed_rank", "wilcoxon_signed_rank", "mann_whitney"]);
    let unaligned = found["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "unaligned_steps");
    assert_eq!(unaligned.count(), 3);
    // Holm's correction is over all runs: three rows a metric.
    for row in found["metrics"].as_array().unwrap() {
        let (p, adjusted) = (row["p_value"].as_f64(), row["p_adjusted"].as_f64());
        assert!(p.zip(adjusted).is_none_or(|(p, adjusted)| adjusted >= p), "{row}");
    }
}

#[test]
fn few_steps_are_compared_by_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let steps = vec![3, 4];
    let a = Made { seed: 1, steps: steps.clone(), ..Made::default() }.write(folder.path(), "a");
    let b = Made { seed: 2, steps: steps.clone(), ..Made::default() }.write(folder.path(), "b");
    let c = Made { seed: 3, steps, prompts: false, ..Made::default() }.write(folder.path(), "c");
    let found = json(program().arg(&a).arg(&b));
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["test_unit"].as_str(), entropy["n"].as_u64()), (Some("prompts"), Some(16)));
    assert_eq!(entropy["interval"], "groups");
    assert!(codes(&found).contains(&"few_steps"));
    let found = json(program().arg(&a).arg(&c));
    assert_eq!(row(&found, "entropy")["test_unit"], "groups");
    assert!(codes(&found).contains(&"unpaired_prompts"));
}

#[test]
fn a_metric_that_one_run_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made::default().write(folder.path(), "a");
    let b = Made { rewards: false, ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(a).arg(b));
    assert!(rows(&found, "reward").is_empty());
    assert!(codes(&found).contains(&"missing_metric"));
    let needs_reward = found["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .any(|w| w["code"] == "missing_metric" && w["hint"].as_str().unwrap().contains("`reward`"));
    assert!(needs_reward);
    assert!(rows(&found, "clipped_share").is_empty(), "neither log can tell: nothing to say");
}

#[test]
fn bad_arguments_and_scalars_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.csv");
    let grpo = sample("grpo.parquet");
    let fails = |command: &mut Command, words: &[&str]| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        words.iter().for_each(|word| assert!(said.contains(word), "{word}: {said}"));
    };
    fails(program().arg(&grpo), &["nothing to compare", "hint: "]);
    fails(program().arg(&grpo).arg(&grpo).args(["--confidence", "1.5"]), &["confidence is 1.5"]);
    fails(program().arg(&grpo).arg(&grpo).args(["--draws", "3"]), &["3 draws"]);
    fails(
        program().arg(&grpo).arg(&grpo).args(["--fail-on", "metrics.nothing.p>1"]),
        &["no field `metrics.nothing.p`"],
    );
    fails(program().args(["--arm", "x"]), &["--arm x: no name"]);
    fails(program().args(["--arm", "x=a.parquet,"]), &["is empty"]);
    let report = folder.path().join("out");
    for (text, words) in [
        ("run,step,x\ngrpo,one,1\n", ["row 0: column `step`", "`one` is no step"]),
        ("x,y\n1,2\n", ["no column `step`", "columns found: x, y"]),
        ("step,x\n1,2\n", ["does not say which run", "--metrics RUN=FILE"]),
        ("", ["steps.csv", "empty"]),
    ] {
        std::fs::write(&path, text).unwrap();
        let mut command = program();
        command.arg(&grpo).arg(&grpo).arg("--metrics").arg(&path).arg("--report").arg(&report);
        fails(&mut command, &words);
        assert_eq!(std::fs::read_dir(&report).unwrap().count(), 0, "nothing half-written is left");
    }
}

#[test]
fn a_gate_fails_the_run() {
    let both = || {
        let mut command = program();
        command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet")).arg("--quiet");
        command
    };
    both().args(["--fail-on", "metrics.reward.ci_high<0"]).assert().code(0);
    both().args(["--fail-on", "metrics.entropy.difference<-0.01"]).assert().code(1);
    both().args(["--fail-on", "warnings.one_seed>0"]).assert().code(1);
}

#[test]
fn pages_are_inert_small_and_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<img onerror>|`[x](y)\u{202e}";
    let runs: Vec<String> = (0..24_u64)
        .map(|seed| {
            let made = Made { seed, steps: (0..150).collect(), groups: 2, ..Made::default() };
            format!("{hostile}{seed}={}", made.write(folder.path(), &format!("r{seed}")).display())
        })
        .collect();
    let (first, second) = (folder.path().join("1"), folder.path().join("2"));
    for out in [&first, &second] {
        let output = program().args(&runs).args(["--draws", "100", "--report"]).arg(out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!String::from_utf8(output.stdout).unwrap().contains('\u{202e}'), "the terminal is safe");
    }
    let page = std::fs::read_to_string(first.join("compare.html")).unwrap();
    assert!(page.len() < PAGE_LIMIT / 2, "{} bytes", page.len());
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<script").count(), 1, "the page's own, which the policy names by its hash");
    assert!(page.contains("script-src 'sha256-") && page.contains("default-src 'none'"));
    assert!(!page.contains("http://") && !page.contains("https://"));
    let markdown = std::fs::read_to_string(first.join("compare.md")).unwrap();
    assert!(!markdown.contains("<img") && !markdown.contains("[x](y)") && !markdown.contains('\u{202e}'));
    let files = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        let mut all = Vec::new();
        for part in ["", "charts", "tables"] {
            for entry in std::fs::read_dir(folder.join(part)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    all.push((name, std::fs::read(&path).unwrap()));
                }
            }
        }
        all.sort();
        all
    };
    assert!(files(&first) == files(&second));
    assert!(files(&first).iter().filter(|(name, _)| name.ends_with(".svg")).all(|(_, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        !text.contains("<img") && !text.contains('\u{202e}')
    }));
}

#[test]
fn causes_and_answers_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg(sample("ward/healthy.parquet")).arg(sample("ward/hot.parquet"));
    command.arg("--report").arg(folder.path());
    let found = json(&mut command);
    let causes = found["causes"].as_array().unwrap();
    let updates = causes.iter().find(|row| row["code"] == "large_updates").unwrap();
    let likely: Vec<u64> =
        updates["arms"].as_array().unwrap().iter().map(|arm| arm["likely"].as_u64().unwrap()).collect();
    assert_eq!(likely, [0, 1]);
    assert!(updates["sentence"].as_str().unwrap().ends_with("hot: likely"), "{updates}");
    let answers = found["answers"].as_array().unwrap();
    let unbounded = answers.iter().find(|row| row["name"] == "unbounded_tokens").unwrap();
    let counts = [0, 1].map(|arm| unbounded["values"][arm].as_f64().unwrap());
    assert_eq!(counts, [5.0, 5.0], "{unbounded}");
    assert!(answers.iter().any(|row| row["name"] == "cancelled_share"));
    // Quantities that are known by step are tested as the others are, on the same level.
    let cut = row(&found, "truncated_share");
    assert_eq!(cut["family"], "questions");
    assert!(cut["p_value"].as_f64().is_some(), "{cut}");
    assert!(cut["other"].as_f64() > cut["baseline"].as_f64(), "{cut}");
    for name in
        ["engine_k3", "engine_ess", "update_k3", "kl_reference_k3", "effective_number", "reward/answer"]
    {
        assert_eq!(row(&found, name)["family"], "questions");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("compare.md").contains("## Causes, arm by arm"));
    assert!(read("compare.md").contains("No test stands behind a difference here"));
    assert!(read("compare.html").contains("Causes, arm by arm"));
    assert!(folder.path().join("tables/compare_causes.parquet").exists());
}

#[test]
fn logs_without_the_columns_have_no_such_rows() {
    let mut command = program();
    command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
    let found = json(&mut command);
    for name in ["engine_k3", "update_k3", "kl_reference_k3", "truncated_share"] {
        assert_eq!(rows(&found, name), Vec::<&Value>::new(), "{name}");
    }
    assert!(found["answers"].as_array().unwrap().iter().all(|row| row["name"] != "unbounded_tokens"));
}
