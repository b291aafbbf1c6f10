//! The command: what trainers logged, arguments, gates, the same log twice.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::compare_support::Made;
use crate::support::sample;
use crate::{codes, json, program};

/// Fails as a wrong use does, with these words.
fn fails(command: &mut Command, words: &[&str]) {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    words.iter().for_each(|word| assert!(said.contains(word), "{word}: {said}"));
}

#[test]
fn what_trainers_logged_stands_beside_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    for (seed, name) in [(1, "a"), (2, "b")] {
        command.arg(Made { seed, ..Made::default() }.write(folder.path(), name));
        let state = folder.path().join(format!("{name}-state.json"));
        let entry =
            |step: u64| format!("{{\"step\": {step}, \"epoch\": 1, \"kl\": {}, \"loss\": NaN}}", step + seed);
        let entries: Vec<String> = (0..10).map(entry).collect();
        std::fs::write(&state, format!("{{\"log_history\": [{}]}}", entries.join(","))).unwrap();
        command.arg("--metrics").arg(format!("{name}={}", state.display()));
    }
    let out = folder.path().join("out");
    let found = json(command.arg("--report").arg(&out));
    assert!(!codes(&found).contains(&"trainer_rows"));
    assert!(out.join("tables/compare_trainer.parquet").exists());
    let page = std::fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("What the trainers logged") && page.contains("a kl"));
}

#[test]
fn bad_arguments_and_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let grpo = sample("grpo.parquet");
    let both = || {
        let mut command = program();
        command.arg(&grpo).arg(&grpo);
        command
    };
    fails(program().arg(&grpo), &["nothing to compare", "hint: "]);
    fails(both().args(["--metric", "kl"]), &["reward, right_answers, length, entropy, held_out"]);
    fails(both().args(["--seeds-like", "a.parquet,"]), &["--seeds-like a.parquet,: a run is empty"]);
    fails(both().args(["--fail-on", "metrics.nothing.p>1"]), &["no field `metrics.nothing.p`"]);
    fails(both().args(["--fail-on", "damaged"]), &["each run has its own", "warnings.run_in_trouble>0"]);
    fails(program().args(["--arm", "x"]), &["--arm x: no name"]);
    fails(program().args(["--arm", "x=a.parquet,"]), &["is empty"]);
    let (path, report) = (folder.path().join("steps.csv"), folder.path().join("out"));
    for (given, text, words) in [
        ("", "step,reward\n1,2\n2,3\n", ["does not say which run", "--metrics RUN=FILE"]),
        ("nix=", "step,reward\n1,2\n2,3\n", ["no run here is called nix", "grpo, grpo-2"]),
        (
            "grpo=",
            "run,step,reward\nx,1,2\nx,2,2\ny,1,3\ny,2,3\n",
            ["several runs (x, y)", "none is called grpo"],
        ),
        ("", "", ["steps.csv", "empty"]),
    ] {
        std::fs::write(&path, text).unwrap();
        let mut command = both();
        command.arg("--metrics").arg(format!("{given}{}", path.display())).arg("--report").arg(&report);
        fails(&mut command, &words);
        assert_eq!(std::fs::read_dir(&report).unwrap().count(), 0, "nothing half-written is left");
    }
}

#[test]
fn a_gate_fails_the_run() {
    let both = || {
        let mut command = program();
        command.arg(sample("ward/healthy.parquet")).arg(sample("ward/hacked.parquet")).arg("--quiet");
        command
    };
    both().args(["--fail-on", "metrics.length.difference>1e6"]).assert().code(0);
    both().args(["--fail-on", "metrics.entropy.differs>0"]).assert().code(1);
    both().args(["--fail-on", "warnings.run_in_trouble>0"]).assert().code(1);
    both().args(["--fail-on", "methods_differ>0"]).assert().code(0);
}

fn message(found: &Value) -> String {
    found["warnings"][0]["message"].as_str().unwrap().to_owned()
}

#[test]
fn all_paths_are_looked_for_first() {
    let folder = tempfile::tempdir().unwrap();
    // Broken, but found: the missing one is told of before anything is read.
    let broken = folder.path().join("broken.parquet");
    std::fs::write(&broken, "x").unwrap();
    let refused = |arguments: &[&Path]| {
        let output = program().args(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for gone in ["gone.parquet", "gone.part"] {
        let said = refused(&[&broken, &folder.path().join(gone)]);
        assert!(said.contains(gone) && said.contains("no such file"), "{said}");
    }
    let said = refused(&[&broken, &broken, Path::new("--seeds-like"), Path::new("gone.parquet")]);
    assert!(said.contains("gone.parquet"), "{said}");
}

#[test]
fn the_same_log_twice_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let a = Made { seed: 1, ..Made::default() }.write(folder.path(), "a");
    let b = Made { seed: 2, ..Made::default() }.write(folder.path(), "b");
    assert!(!codes(&json(program().arg(&a).arg(&b))).contains(&"same_log"));
    let twice = json(program().arg(&a).arg(folder.path().join(".").join("a.parquet")));
    assert_eq!(codes(&twice)[0], "same_log");
    assert!(message(&twice).starts_with("a and a-2 are the same log"), "{}", message(&twice));
    let arm = format!("seeds={},{}", b.display(), b.display());
    assert_eq!(codes(&json(program().arg(&a).arg("--arm").arg(arm)))[0], "same_log");
    // A part of the files is shared: the rest may differ.
    let nested = folder.path().join("nested/part");
    std::fs::create_dir_all(&nested).unwrap();
    std::fs::copy(&a, folder.path().join("nested/own.parquet")).unwrap();
    Made { seed: 3, steps: (20..30).collect(), ..Made::default() }.write(&nested, "shared");
    let part = message(&json(program().arg(folder.path().join("nested")).arg(&nested)));
    assert!(part.contains("have 1 file in common: what is in there counts on both sides"), "{part}");
    let copy = folder.path().join("copy.parquet");
    std::fs::copy(&a, &copy).unwrap();
    let copied = json(program().arg(&a).arg(&copy));
    assert!(message(&copied).starts_with("a and copy have the same rows: "), "{}", message(&copied));
}

/// Two files without `compare`: taken as one run, and how to hold them against each other.
#[test]
fn files_that_are_taken_as_one_run_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let made = |seed: u64, steps: std::ops::Range<i64>, name: &str| {
        Made { seed, steps: steps.collect(), ..Made::default() }.write(folder.path(), name)
    };
    let notes = |paths: &[&Path]| {
        let mut command = Command::cargo_bin("stapo-analyze").unwrap();
        let output = command.args(paths).args(["--format", "json", "--full"]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["warnings"].to_string()
    };
    let (a, b) = (made(1, 0..5, "a"), made(2, 5..10, "b"));
    let command = format!("stapo-analyze compare {} {}", a.display(), b.display());
    assert!(notes(&[&a, &b]).contains(&command), "{}", notes(&[&a, &b]));
    let ranks = [made(1, 0..5, "rank0"), made(2, 5..10, "rank1")];
    assert!(!notes(&[&ranks[0], &ranks[1]]).contains("taken as one run"));
    assert!(!notes(&[folder.path().join("rank*").as_path()]).contains("taken as one run"));
}
