//! The commands as a user runs them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;
use crate::support::{COMMANDS, float_lists, floats, int_lists, ints, sample, write_parquet};
use assert_cmd::Command;
use serde_json::Value;

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
    assert_eq!(verdict("feasible"), "fail");
}

/// `check` says of a run what its analysis does.
#[test]
fn check_and_analysis_say_the_same_of_a_run() {
    for (log, state, cause) in [
        ("real/dropout_1.parquet", "not_learning", Some("trainer_disagrees_with_itself")),
        ("real/weights_never_sent.parquet", "not_learning", Some("sampler_frozen")),
        ("real/healthy.parquet", "healthy", None),
    ] {
        let log = sample(log);
        let checked = json(program().args(["check", "--format", "json"]).arg(&log));
        let summary = json(program().args(["--format", "json", "--full"]).arg(&log));
        assert_eq!(checked["run"]["state"], state);
        assert_eq!(checked["run"]["sentence"], summary["diagnosis"]["sentence"]);
        assert_eq!(checked["run"]["causes"][0]["code"].as_str(), cause);
        let strict = program().args(["check", "--strict"]).arg(&log).output().unwrap();
        assert_eq!(strict.status.code(), Some(i32::from(cause.is_some())), "{}", log.display());
    }
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
    assert!(text.contains("Usage"), "{text}");
    let (_, commands) = text.split_once("\nCommands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // Names are set in by two; what is told of a command goes on further in.
    let named = commands.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let named: Vec<&str> = named.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(named, [&COMMANDS[..], &["help"]].concat(), "{text}");
}

#[test]
fn the_main_job_writes_a_summary_and_tables() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = program().arg(sample("grpo.parquet")).arg("--report").arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["s2t"]["silenced"], 168);
    for table in ["steps", "flagged", "taxonomy", "vocabulary", "sweep", "rules", "plane"] {
        assert!(out.join(format!("tables/{table}.parquet")).is_file(), "{table}");
    }
    let printed =
        program().arg(sample("grpo.parquet")).args(["--format", "json", "--full"]).output().unwrap();
    assert_eq!(printed.stdout, std::fs::read(out.join("summary.json")).unwrap());
}

#[test]
fn thresholds_can_be_set() {
    let silenced = |arguments: &[&str]| {
        json(program().arg(sample("grpo.parquet")).args(["--format", "json", "--full"]).args(arguments))["s2t"].clone()
    };
    let early = silenced(&["--preset", "v1"]);
    assert_eq!((early["silenced"].as_u64(), early["preset"].as_str()), (Some(169), Some("v1")));
    let none = silenced(&["--tau-p", "1e-30"]);
    assert_eq!((none["candidates"].as_u64(), none["silenced"].as_u64()), (Some(0), Some(0)));
    let all = silenced(&["--entropy-threshold", "100"]);
    assert_eq!(all["silenced"], all["candidates"]);
    let wide = silenced(&["--tau-p", "0.05"]);
    assert!(wide["candidates"].as_u64() > all["candidates"].as_u64());
}

#[test]
fn some_steps_of_a_run_are_analysed_as_if_they_were_all() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part.parquet");
    let steps = ["--steps", "12..36"];
    program().arg("convert").arg(sample("grpo.parquet")).args(steps).arg("-o").arg(&part).assert().success();
    let cut = json(program().arg(sample("grpo.parquet")).args(steps).args(["--format", "json", "--full"]));
    let alone = json(program().arg(&part).args(["--format", "json", "--full"]));
    let numbers = |summary: &Value| -> Vec<i64> {
        summary["steps"].as_array().unwrap().iter().map(|row| row["step"].as_i64().unwrap()).collect()
    };
    assert_eq!(numbers(&cut), [12, 24, 36]);
    for section in ["totals", "s2t", "steps", "taxonomy"] {
        assert_eq!(cut[section], alone[section], "{section}");
    }
    let hint = |warning: &Value| warning["message"].as_str().unwrap().contains("(--steps)");
    let note = cut["warnings"].as_array().unwrap().iter().find(|warning| hint(warning)).unwrap();
    assert_eq!(note["hint"], "leave --steps out to have the whole run");
    // One step has no last third.
    let one =
        json(program().arg(sample("grpo.parquet")).args(["--steps", "12", "--format", "json", "--full"]));
    let health = one["verdict"]["health"].as_str().unwrap();
    assert!(health.starts_with("Too short or too noisy to say "), "{health}");
    let refused = program().arg(sample("grpo.parquet")).args(["--steps", "900.."]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("no response belongs to steps from 900 on"), "{said}");
    assert!(said.contains("the log has steps 0 to 119"), "{said}");
}

#[test]
fn a_gate_turns_the_summary_into_an_exit_code() {
    let gate = |condition: &str| {
        program().arg(sample("grpo.parquet")).args(["-q", "--fail-on", condition]).output().unwrap()
    };
    assert_eq!(gate("s2t.fraction>3e-4").status.code(), Some(0));
    let failed = gate("s2t.fraction>1e-4");
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("s2t.fraction"));
    // What has no value, or none that is finite, is not passed.
    let undefined = gate("totals.clipped>0");
    assert_eq!(undefined.status.code(), Some(1));
    let said = String::from_utf8_lossy(&undefined.stderr).into_owned();
    assert!(said.contains("totals.clipped has no value here") && said.contains("cannot be judged"), "{said}");
    assert_eq!(gate("verdict.health>1").status.code(), Some(2));
    // The state of the run, which is healthy; who asks for a state that there is not is told which there are.
    assert_eq!(gate("suspicious").status.code(), Some(0));
    let failed = gate("healthy");
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("healthy: diagnosis.state is healthy"));
    let misspelt = gate("damged");
    assert_eq!(misspelt.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&misspelt.stderr).contains("collapsed, damaged"));
    // A place that this run does not have, of a field that summaries have.
    let beyond = gate("steps.4000.mean_reward<0.1");
    let said = String::from_utf8_lossy(&beyond.stderr).into_owned();
    assert_eq!(beyond.status.code(), Some(2));
    assert!(said.contains("`steps` in summary.json of this run has no row 4000 ("), "{said}");
    let wrong = gate("s2t.nonsense>1");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("hint: "));
}

#[test]
fn errors_of_newcomers_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no_logprob.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[3, 4]])),
        ("advantage", float_lists(&[&[1.0, 1.0]])),
        ("entropy", float_lists(&[&[1.0, 2.0]])),
    ];
    write_parquet(&path, columns, 8);
    let output = program().arg(&path).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(talk.contains("`logprob`") && talk.contains("--map logprob="), "{talk}");
    let told = |arguments: &[&str]| {
        let output = program().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = told(&["analyze", "run.parquet"]);
    assert!(said.contains("hint: the analysis is no command of its own: stapo-analyze RUN"), "{said}");
    let said = told(&["replay", "run.parquet", "--report", "out", "--steps", "10..40"]);
    assert!(said.contains("convert RUN --steps 10..40 -o part.parquet"), "{said}");
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.parquet");
    std::fs::copy(sample("ward/easy.parquet"), &log).unwrap();
    let before = std::fs::read(&log).unwrap();
    let roundabout = folder.path().join("deep/../log.parquet");
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let refused = |command: &mut Command, word: &str| {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(word), "{said}");
        assert!(said.contains("hint: "), "{said}");
        assert!(std::fs::read(&log).unwrap() == before);
    };
    refused(program().args(["convert"]).arg(&log).arg("-o").arg(&log), "one of the inputs");
    refused(program().args(["convert"]).arg(folder.path()).arg("-o").arg(&roundabout), "one of the inputs");
    refused(program().args(["plan"]).arg(&log).arg("-o").arg(&log), "one of the inputs");
    refused(program().arg(&log).arg("--report").arg(&log), "not a folder");
    refused(
        program().args(["convert"]).arg(&log).arg("-o").arg(folder.path()),
        "a folder, not a regular file",
    );
    // What is read-only is left alone, whoever asks.
    let kept = folder.path().join("kept.parquet");
    std::fs::write(&kept, "kept").unwrap();
    let mut permissions = std::fs::metadata(&kept).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&kept, permissions).unwrap();
    refused(program().args(["convert"]).arg(&log).arg("-o").arg(&kept), "read-only");
    assert_eq!(std::fs::read(&kept).unwrap(), b"kept");
    // A part that is merged into itself, and the plan.
    let (plan, parts) = (folder.path().join("plan.json"), folder.path().join("parts"));
    program().arg("plan").arg(&log).arg("-o").arg(&plan).assert().success();
    program().args(["collect", "--shard", "0", "--plan"]).arg(&plan).arg("-o").arg(&parts).assert().success();
    for target in [&parts.join("part-00000.part"), &plan] {
        let before = std::fs::read(target).unwrap();
        refused(
            program().args(["merge", "--plan"]).arg(&plan).arg(&parts).arg("-o").arg(target),
            "one of the inputs",
        );
        assert!(std::fs::read(target).unwrap() == before);
    }
}

#[test]
fn check_leaves_rounding_out_and_lists_the_parts_of_the_reward() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trl.parquet");
    // Equal rewards minus their float mean, over a small ε: the same residue for all of a group.
    let groups: Vec<i64> = (0..40).map(|i| i / 2).collect();
    let even = |i: usize| (i / 2).is_multiple_of(2);
    let rewards: Vec<f32> = (0..40).map(|i| if even(i) || i % 2 == 0 { 1.2 } else { 0.2 }).collect();
    let advantages: Vec<f32> = (0..40)
        .map(|i| match (even(i), i % 2) {
            (true, _) => 1.19e-3,
            (_, 0) => 0.7,
            _ => -0.7,
        })
        .collect();
    let columns = vec![
        ("step", ints(&[1; 40])),
        ("group_id", ints(&groups)),
        ("token_ids", int_lists(&[&[1, 2][..]; 40])),
        ("logprob", float_lists(&[&[-1.0, -2.0][..]; 40])),
        ("entropy", float_lists(&[&[1.0, 2.0][..]; 40])),
        ("advantage", floats(&advantages)),
        ("reward", floats(&rewards)),
        ("reward/answer", floats(&rewards)),
        ("rewards/format", floats(&[0.2; 40])),
    ];
    write_parquet(&path, columns, 8);
    let report = json(program().args(["check", "--format", "json"]).arg(&path));
    let columns = report["columns"].as_array().unwrap();
    for (name, raw) in [("reward/answer", "reward/answer"), ("reward/format", "rewards/format")] {
        let column = columns.iter().find(|c| c["canonical"] == name).unwrap();
        assert_eq!(
            (column["sources"][0]["name"].as_str(), column["missing_share"].as_f64()),
            (Some(raw), Some(0.0))
        );
    }
}
