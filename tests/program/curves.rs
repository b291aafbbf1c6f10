//! Training curves as trainers and trackers write them, without a token.

use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::{Value, json};

use super::schema_support;
use super::support::Numbers;

fn program(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("stapo-analyze").unwrap().args(arguments).output().unwrap()
}

/// Rewards of a run that learns, or of one that loses what it had.
fn rewards(falls: bool) -> Vec<f64> {
    let mut noise = Numbers(7);
    let level = |step: i32| match step {
        step if falls && step >= 110 => 0.1,
        step => 0.15 + 0.7 * (1.0 - (-f64::from(step) / 40.0).exp()),
    };
    (0..160).map(|step| level(step) + 0.06 * (f64::from(noise.next()) - 0.5)).collect()
}

fn trainer_state(folder: &Path, falls: bool) -> PathBuf {
    let rows: Vec<Value> = rewards(falls)
        .iter()
        .enumerate()
        .map(|(step, reward)| json!({"step": step + 1, "reward": reward, "kl": 0.001, "completion_length": 80.0}))
        .collect();
    let path = folder.join("trainer_state.json");
    std::fs::write(&path, json!({"global_step": 160, "log_history": rows}).to_string()).unwrap();
    path
}

fn summary(path: &Path) -> Value {
    let output = program(&[path.to_str().unwrap(), "-q", "--format", "json", "--full"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    schema_support::validate(&value, "summary_curves");
    value
}

#[test]
fn a_trainers_state_is_judged_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = trainer_state(folder.path(), false);
    let learned = summary(&path);
    assert_eq!(learned["diagnosis"]["state"], "healthy", "{}", learned["diagnosis"]["sentence"]);
    assert_eq!(learned["steps"]["count"], 160);
    let report = folder.path().join("out");
    let output = program(&[path.to_str().unwrap(), "--report", report.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("✓ Healthy  ") && said.contains("\nto do     "), "{said}");
    let page = std::fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Content-Security-Policy"));
    assert!(report.join("report.md").exists() && report.join("summary.json").exists());
}

#[test]
fn a_fall_that_stays_is_damage_and_gates_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = trainer_state(folder.path(), true);
    let state = summary(&path)["diagnosis"]["state"].clone();
    assert!(state == "damaged" || state == "collapsed", "{state}");
    let gate = |asked: &str| program(&[path.to_str().unwrap(), "-q", "--fail-on", asked]).status.code();
    assert_eq!((gate("damaged"), gate("healthy")), (Some(1), Some(0)));
}

/// An export of several runs is no run: one is chosen by its name.
#[test]
fn one_of_several_runs_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.csv");
    let rows = rewards(false).into_iter().zip(rewards(true)).enumerate();
    let rows: Vec<String> = rows.map(|(step, (a, b))| format!("\"{step}\",\"{a}\",\"{b}\"")).collect();
    let head = "\"Step\",\"good - train/reward\",\"bad - train/reward\"";
    std::fs::write(&path, format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    let name = path.to_str().unwrap();
    let refused = program(&[name, "-q"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("good") && said.contains("bad") && said.contains("--run"), "{said}");
    let chosen = program(&[name, "-q", "--run", "good", "--format", "json", "--full"]);
    let value: Value = serde_json::from_slice(&chosen.stdout).unwrap();
    assert_eq!(
        (value["run"].as_str(), value["diagnosis"]["state"].as_str()),
        (Some("good"), Some("healthy"))
    );
}

/// A trainer's folder is its last checkpoint's curves, unless it holds a log of texts or tokens.
#[test]
fn folders_of_trainers_are_read_as_their_curves() {
    let folder = tempfile::tempdir().unwrap();
    for (checkpoint, falls) in [("checkpoint-80", true), ("checkpoint-160", false)] {
        let inside = folder.path().join(checkpoint);
        std::fs::create_dir(&inside).unwrap();
        trainer_state(&inside, falls);
    }
    let found = summary(folder.path());
    assert_eq!(found["diagnosis"]["state"], "healthy");
    assert!(found["files"][0].as_str().unwrap().ends_with("checkpoint-160/trainer_state.json"));
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("config.json"), "{\"lr\": 1e-5}").unwrap();
    let rows: Vec<String> =
        rewards(true).iter().enumerate().map(|(at, reward)| format!("{at},{reward}")).collect();
    std::fs::write(other.path().join("progress.csv"), format!("step,reward\n{}\n", rows.join("\n"))).unwrap();
    assert!(summary(other.path())["diagnosis"]["events"].as_array().is_some_and(|events| events.len() == 1));
    std::fs::write(
        folder.path().join("completions.jsonl"),
        "{\"completion\": \"42\", \"reward\": 1.0, \"step\": 1}\n",
    )
    .unwrap();
    let texts = program(&[folder.path().to_str().unwrap(), "-q", "--format", "json", "--full"]);
    let texts: Value = serde_json::from_slice(&texts.stdout).unwrap();
    assert_eq!(texts["totals"]["responses"], 1);
}

#[test]
fn a_check_says_which_numbers_were_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.csv");
    let rows: Vec<String> =
        rewards(false).iter().enumerate().map(|(at, reward)| format!("{at},{reward},7")).collect();
    std::fs::write(&path, format!("step,train/reward,novel_thing\n{}\n", rows.join("\n"))).unwrap();
    let checked = program(&["check", path.to_str().unwrap()]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success());
    for words in [
        "reward     train/reward",
        "160 (0 to 159)",
        "not known: novel_thing",
        "--map NAME=COLUMN",
        "Run: healthy.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
