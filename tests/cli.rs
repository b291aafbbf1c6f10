//! The commands as a user runs them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use assert_cmd::Command;
use serde_json::Value;
use support::{float_lists, floats, int_lists, ints, sample, write_parquet};

fn program() -> Command {
    Command::cargo_bin("stapo-analyze").unwrap()
}

fn json(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn check_passes_on_the_sample_runs() {
    for (name, tokens) in [("grpo.parquet", 612_395), ("stapo.parquet", 611_512)] {
        let report = json(program().args(["check", "--format", "json", "--strict"]).arg(sample(name)));
        assert_eq!(report["tokens"], tokens);
        assert_eq!(report["responses"], 5632);
        assert_eq!(report["steps"]["count"], 11);
        assert_eq!(report["groups"], 704);
        assert_eq!(report["layouts"][0], "nested");
        for check in report["checks"].as_array().unwrap() {
            assert!(matches!(check["verdict"].as_str().unwrap(), "pass" | "skip"), "{check}");
        }
    }
}

#[test]
fn check_prints_a_table() {
    let output = program().arg("check").arg(sample("grpo.parquet")).output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "no progress bar when piped");
    let text = String::from_utf8(output.stdout).unwrap();
    insta::assert_snapshot!(text.replace(&sample("").display().to_string(), ""));
}

#[test]
fn strict_turns_a_failed_check_into_exit_code_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("off.parquet");
    // Entropies of other tokens: certain where the token was a surprise.
    let logprobs: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { -6.0 } else { -0.01 }).collect();
    let entropies: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { 0.01 } else { 2.0 }).collect();
    let columns = vec![
        ("step", ints(&[1])),
        ("token_ids", int_lists(&[&[3; 64]])),
        ("logprob", float_lists(&[&logprobs])),
        ("entropy", float_lists(&[&entropies])),
        ("advantage", floats(&[1.0])),
    ];
    write_parquet(&path, columns, 8);
    program().arg("check").arg(&path).assert().success();
    program().args(["check", "--strict"]).arg(&path).assert().code(1);
    let report = json(program().args(["check", "--format", "json"]).arg(&path));
    let verdict = |code: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|c| c["code"] == code).unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("entropy_correlation"), "fail");
    assert_eq!(verdict("entropy_alignment"), "fail");
    assert_eq!(verdict("feasible"), "fail");
}

#[test]
fn check_finds_an_off_by_one_between_two_logprobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shift.parquet");
    let logprobs: Vec<f32> =
        (0..200u32).map(|i| -((i.wrapping_mul(2_654_435_761) >> 8) as f32) / 1.7e7).collect();
    let mut rollout = logprobs[1..].to_vec();
    rollout.push(-0.5);
    let columns = vec![
        ("token_ids", int_lists(&[&[3; 200]])),
        ("old_log_probs", float_lists(&[&logprobs])),
        ("rollout_log_probs", float_lists(&[&rollout])),
    ];
    write_parquet(&path, columns, 8);
    let report = json(program().args(["check", "--format", "json"]).arg(&path));
    let checks = report["checks"].as_array().unwrap();
    let shift = checks.iter().find(|c| c["code"] == "logprob_alignment").unwrap();
    assert_eq!(shift["verdict"], "fail");
    assert!(shift["message"].as_str().unwrap().contains("shift -1"), "{shift}");
}

#[test]
fn check_sees_repeated_responses_and_unequal_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repeat.parquet");
    let columns = vec![
        ("step", ints(&[1, 1, 2, 2])),
        ("group_id", ints(&[0, 0, 0, 1])),
        ("token_ids", int_lists(&[&[1, 2], &[3, 4], &[1, 2], &[5, 6]])),
        ("logprob", float_lists(&[&[-1.0, -2.0], &[-1.5, -2.0], &[-1.0, -2.0], &[-1.0, -3.0]])),
    ];
    write_parquet(&path, columns, 8);
    let report = json(program().args(["check", "--format", "json"]).arg(&path));
    let checks = report["checks"].as_array().unwrap();
    let of = |code: &str| checks.iter().find(|c| c["code"] == code).unwrap();
    assert_eq!(of("duplicates")["verdict"], "warn");
    assert_eq!(of("groups")["verdict"], "warn");
    assert_eq!(of("columns")["verdict"], "fail");
}

#[test]
fn files_in_any_order_give_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..5)
        .map(|step| {
            let path = folder.path().join(format!("completions_{step:05}.parquet"));
            let x = step as f32;
            let columns = vec![
                ("completion_ids", int_lists(&[&[1, 2, 3]])),
                ("old_per_token_logps", float_lists(&[&[-0.1 - x, -0.2, -0.3]])),
                ("entropy", float_lists(&[&[0.7, 0.1 + x, 0.3]])),
                ("advantage", floats(&[x - 2.0])),
            ];
            write_parquet(&path, columns, 8);
            path
        })
        .collect();
    let report = |files: Vec<&std::path::PathBuf>| {
        program().args(["check", "--format", "json"]).args(files).output().unwrap().stdout
    };
    let forward = report(files.iter().collect());
    assert_eq!(forward, report(files.iter().rev().collect()));
    let parsed: Value = serde_json::from_slice(&forward).unwrap();
    assert_eq!(parsed["steps"]["count"], 5);
    assert_eq!(parsed["steps"]["last"], 4);
}

#[test]
fn convert_both_ways_and_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.parquet");
    let output =
        program().args(["convert", "--long", "-o"]).arg(&long).arg(sample("grpo.parquet")).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("5,632 responses, 612,395 tokens"));
    let back = folder.path().join("back.parquet");
    let output = program().args(["convert", "-q", "-o"]).arg(&back).arg(&long).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let left = support::describe_all(&support::read(&sample("grpo.parquet")));
    let right = support::describe_all(&support::read(&back));
    assert!(left == right);
}

#[test]
fn help_names_every_command() {
    let output = program().arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["check", "convert", "Usage"] {
        assert!(text.contains(word), "{text}");
    }
}
