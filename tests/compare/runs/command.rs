//! The command: scalars to join, arms, steps, arguments, gates, pages, causes.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use stapo_analyze::report::html::PAGE_LIMIT;

use super::compare_support::Made;
use super::folders::{assert_same_files, tree};
use super::support::sample;
use super::{codes, json, program, row, rows};

/// Fails as a wrong use does, with these words.
fn fails(command: &mut Command, words: &[&str]) {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    words.iter().for_each(|word| assert!(said.contains(word), "{word}: {said}"));
}

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
fn a_chart_of_one_run_is_of_the_run_that_the_user_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    for (seed, name) in [(1, "base"), (2, "new")] {
        let log = Made { seed, steps: (0..10).collect(), ..Made::default() }.write(folder.path(), name);
        command.arg(log);
        // Weights & Biases has names of its own for runs, with its own mark in them.
        let chart = folder.path().join(format!("{name}.csv"));
        let mut text = String::from("Step,fancy - sun - kl,fancy - sun - kl__MIN,fancy - sun - kl__MAX\n");
        (0..10).for_each(|step| text.push_str(&format!("{step},{0},{0},{0}\n", step + seed)));
        std::fs::write(&chart, text).unwrap();
        command.arg("--metrics").arg(format!("{name}={}", chart.display()));
    }
    assert_eq!(row(&json(&mut command), "trainer.kl")["difference"].as_f64(), Some(1.0));

    let (a, b) = (folder.path().join("base.parquet"), folder.path().join("new.parquet"));
    let given = |given: &str, text: &str| {
        let file = folder.path().join("metrics.csv");
        std::fs::write(&file, text).unwrap();
        let mut command = program();
        command.arg(&a).arg(&b).arg("--metrics").arg(format!("{given}={}", file.display()));
        command
    };
    fails(&mut given("nix", "step,kl\n1,2\n"), &["no run here is called nix", "base, new"]);
    fails(&mut given("new", "run,step,kl\nx,1,2\ny,1,3\n"), &["several runs (x, y)", "none is called new"]);
    // Of several runs, only the rows of the one that is named.
    let both: Vec<String> = (0..10).flat_map(|s| [format!("base,{s},1"), format!("new,{s},2")]).collect();
    let found = json(&mut given("new", &format!("run,step,kl\n{}\n", both.join("\n"))));
    let rows = found["metrics"].as_array().unwrap();
    assert!(!rows.iter().any(|row| row["metric"] == "trainer.kl" && row["baseline"].is_number()), "{rows:?}");
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
    let one = Made { seed: 4, steps: vec![3], ..Made::default() }.write(folder.path(), "one");
    let found = json(program().arg(&one).arg(&b));
    let said: Vec<&str> =
        found["warnings"].as_array().unwrap().iter().filter_map(|w| w["message"].as_str()).collect();
    assert!(said.iter().any(|m| m.starts_with("only 1 step of one and b is aligned")), "{said:?}");
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

/// A grader that gives wrong answers no reward at all: the mean of the others is 1.
#[test]
fn rewards_that_one_run_lacks_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made::default().write(folder.path(), "a");
    let b = Made { seed: 2, paid: [f32::NAN, 1.0], ..Made::default() }.write(folder.path(), "b");
    let found = json(program().arg(a).arg(b));
    let said: Vec<&str> =
        found["warnings"].as_array().unwrap().iter().filter_map(|w| w["message"].as_str()).collect();
    let of = |run: &str| said.iter().any(|m| m.starts_with(run) && m.contains("rewards are missing"));
    assert!(of("b: ") && !of("a: "), "{said:?}");
}

#[test]
fn bad_arguments_and_scalars_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.csv");
    let grpo = sample("grpo.parquet");
    fails(program().arg(&grpo), &["nothing to compare", "hint: "]);
    fails(program().arg(&grpo).arg(&grpo).args(["--confidence", "1.5"]), &["confidence is 1.5"]);
    fails(program().arg(&grpo).arg(&grpo).args(["--draws", "3"]), &["3 draws"]);
    fails(
        program().arg(&grpo).arg(&grpo).args(["--fail-on", "metrics.nothing.p>1"]),
        &["no field `metrics.nothing.p`"],
    );
    fails(
        program().arg(&grpo).arg(&grpo).args(["--fail-on", "damaged"]),
        &["each run has its own", "warnings.run_in_trouble>0"],
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
    let files = tree(&first);
    assert_same_files(&files, &tree(&second));
    let charts: Vec<_> =
        files.iter().filter(|(name, _)| name.extension().is_some_and(|e| e == "svg")).collect();
    assert!(charts.len() > 3, "{} charts", charts.len());
    for (name, bytes) in charts {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("<img") && !text.contains('\u{202e}'), "{}", name.display());
    }
}

#[test]
fn causes_and_answers_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg(sample("ward/healthy.parquet")).arg(sample("ward/hot.parquet"));
    command.arg("--report").arg(folder.path());
    let found = json(&mut command);
    // What each run says of itself.
    let runs = ["ward/healthy.parquet", "ward/hot.parquet"].map(|name| {
        let output = Command::cargo_bin("stapo-analyze")
            .unwrap()
            .arg(sample(name))
            .args(["--format", "json"])
            .output();
        serde_json::from_slice::<Value>(&output.unwrap().stdout).unwrap()
    });
    let causes = found["causes"].as_array().unwrap();
    for shown in causes {
        let likely = [0, 1].map(|arm| shown["arms"][arm]["likely"].as_u64().unwrap());
        let own = [0, 1].map(|run: usize| {
            let causes = runs[run]["diagnosis"]["causes"].as_array().unwrap();
            let likely = |cause: &&Value| cause["code"] == shown["code"] && cause["confidence"] == "likely";
            causes.iter().filter(likely).count() as u64
        });
        assert_eq!(likely, own, "{shown}");
    }
    let updates = causes.iter().find(|row| row["code"] == "large_updates").unwrap();
    assert!(updates["sentence"].as_str().unwrap().contains("likely: hot"), "{updates}");
    let answers = found["answers"].as_array().unwrap();
    for (name, pointer) in [
        ("unbounded_tokens", "/drivers/unbounded/tokens"),
        ("unbounded_energy_share", "/drivers/unbounded/energy_share"),
        ("effective_number", "/drivers/concentration/effective_number"),
    ] {
        let shown = answers.iter().find(|row| row["name"] == name).unwrap();
        let values = [0, 1].map(|arm| shown["values"][arm].as_f64().unwrap());
        let own = [0, 1].map(|run: usize| runs[run].pointer(pointer).and_then(Value::as_f64).unwrap());
        assert_eq!(values, own, "{shown}");
    }
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
    let answers = found["answers"].as_array().unwrap();
    assert!(answers.iter().any(|row| row["name"] == "effective_number"));
    assert!(answers.iter().all(|row| row["name"] != "unbounded_tokens"));
}

#[test]
fn all_paths_are_looked_for_first_and_the_same_log_twice_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made { seed: 1, ..Made::default() }.write(folder.path(), "a");
    let b = Made { seed: 2, ..Made::default() }.write(folder.path(), "b");
    // Broken, but found: the missing one is told of before anything is read.
    let broken = folder.path().join("broken.parquet");
    std::fs::write(&broken, "x").unwrap();
    for gone in ["gone.parquet", "gone.part"] {
        let output = program().arg(&broken).arg(folder.path().join(gone)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(gone) && said.contains("no such file"), "{said}");
    }
    assert!(!codes(&json(program().arg(&a).arg(&b))).contains(&"same_log"));
    let roundabout = folder.path().join(".").join("a.parquet");
    let twice = json(program().arg(&a).arg(&roundabout));
    assert_eq!(codes(&twice)[0], "same_log");
    let message = twice["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("a and a-2 are the same log"), "{message}");
    let arm = format!("seeds={},{}", b.display(), b.display());
    let seeds = json(program().arg(&a).arg("--arm").arg(arm));
    assert_eq!(codes(&seeds)[0], "same_log");
    let said = |of: &Value| of["warnings"][0]["message"].as_str().unwrap().to_owned();
    // A part of the files is shared: the rest may differ.
    let nested = folder.path().join("nested/part");
    std::fs::create_dir_all(&nested).unwrap();
    std::fs::copy(&a, folder.path().join("nested/own.parquet")).unwrap();
    Made { seed: 3, steps: (20..30).collect(), ..Made::default() }.write(&nested, "shared");
    let part = json(program().arg(folder.path().join("nested")).arg(&nested));
    let message = said(&part);
    assert!(message.contains("have 1 file in common: what is in there counts on both sides"), "{message}");
    assert!(!message.contains("itself"), "{message}");
    let copy = folder.path().join("copy.parquet");
    std::fs::copy(&a, &copy).unwrap();
    let copied = json(program().arg(&a).arg(&copy));
    assert_eq!(codes(&copied)[0], "same_log");
    assert!(said(&copied).starts_with("a and copy have the same rows: "), "{}", said(&copied));
}
