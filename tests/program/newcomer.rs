//! The first minutes with the program, and what goes wrong in them: each mistake leads to one
//! message that says what to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::schema_support;
use std::path::Path;

use crate::support::{COMMANDS, float_lists, floats, int_lists, ints, sample, write_parquet};
use assert_cmd::Command;

fn program() -> Command {
    Command::cargo_bin("stapo-analyze").unwrap()
}

/// The error and the hint of a command that fails.
fn failure(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let talk = String::from_utf8(output.stderr).unwrap();
    let line = |start: &str| {
        let found: Vec<&str> = talk.lines().filter_map(|line| line.strip_prefix(start)).collect();
        assert_eq!(found.len(), 1, "one `{start}` line:\n{talk}");
        found[0].to_owned()
    };
    (line("error: "), line("hint: "))
}

#[test]
fn the_demo_needs_nothing_but_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("out");
    let output = program().args(["demo", "--report"]).arg(&report).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("see different prompts"), "{text}");
    for name in ["report.html", "report.md", "summary.json", "demo.parquet", "tables/flagged.parquet"] {
        assert!(report.join(name).is_file(), "{name}");
    }
    // The log is there to go on with, and its tokens have texts.
    program().arg("check").arg(report.join("demo.parquet")).assert().success();
    let page = std::fs::read_to_string(report.join("report.md")).unwrap();
    assert!(!page.contains("token texts are not known"));
    let shown =
        program().arg("show").arg(report.join("demo.parquet")).args(["--step", "0"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("prompt"), "the demo's prompts are there to read and to replay: {shown}");
}

#[test]
fn the_demo_replaces_nobodys_tokenizer() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    std::fs::write(&tokenizer, "of a model").unwrap();
    let output = program().args(["demo", "--report"]).arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no demo wrote it"));
    assert_eq!(std::fs::read_to_string(&tokenizer).unwrap(), "of a model");
}

#[test]
fn the_demo_without_a_report_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    program().args(["demo", "--quiet"]).current_dir(&folder).assert().success();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn the_demo_is_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let size = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
    assert!(size("run.parquet") + size("tokenizer.json") < 500_000);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = program().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        for command in COMMANDS {
            // As a word: `man` is a part of `command`.
            let mut words = script.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
            assert!(words.any(|word| word == command), "{shell}: {command}");
        }
    }
    let page = String::from_utf8(program().arg("man").output().unwrap().stdout).unwrap();
    assert!(page.contains(".TH stapo-analyze 1"));
    let folder = tempfile::tempdir().unwrap();
    program().args(["man", "--output"]).arg(folder.path()).assert().success();
    for command in COMMANDS {
        assert!(folder.path().join(format!("stapo-analyze-{command}.1")).is_file(), "{command}");
    }
}

#[test]
fn a_wrong_path() {
    let (error, hint) = failure(program().arg("no/such/run.parquet"));
    assert!(error.contains("no/such/run.parquet") && error.contains("no such file"), "{error}");
    assert!(hint.contains("check the path"), "{hint}");
}

#[test]
fn a_log_of_texts_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("completions_00001.parquet");
    let texts = |values: &[&str]| -> arrow_array::ArrayRef {
        std::sync::Arc::new(arrow_array::StringArray::from(values.to_vec()))
    };
    let columns = vec![
        ("step", ints(&[1, 1])),
        ("prompt", texts(&["1+1=", "1+2="])),
        ("completion", texts(&["2", "4"])),
        ("reward", floats(&[1.0, 0.0])),
    ];
    write_parquet(&path, columns, 8);
    // What texts and rewards show is told; what they do not is one line that says how to log it.
    let output = program().arg(&path).args(["--format", "json", "--full"]).output().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("`logprob`") && told.contains("stapo_analyze.TokenLog"), "{told}");
}

#[test]
fn a_column_without_a_single_value_is_no_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    let columns = vec![
        ("step", ints(&[1])),
        ("token_ids", int_lists(&[&[3, 4, 5]])),
        ("logprob", float_lists(&[&[-0.1, -0.2, -0.3]])),
        ("entropy", float_lists(&[&[f32::NAN, f32::NAN, f32::NAN]])),
        ("advantage", floats(&[1.0])),
    ];
    write_parquet(&path, columns, 8);
    let (error, hint) = failure(program().arg(&path));
    assert!(error.contains("entropy") && error.contains("all of its 3 values"), "{error}");
    assert!(hint.contains("log it"), "{hint}");
}

#[test]
fn a_log_without_entropy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    let columns = vec![
        ("step", ints(&[1])),
        ("token_ids", int_lists(&[&[3, 4, 5]])),
        ("logprob", float_lists(&[&[-0.1, -0.2, -0.3]])),
        ("advantage", floats(&[1.0])),
    ];
    write_parquet(&path, columns, 8);
    let said = program().arg(&path).assert().success();
    let said = String::from_utf8(said.get_output().stdout.clone()).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("? ") && words.contains("Log `entropy`"), "{said}");
    assert!(words.contains("--map entropy=COLUMN"), "{said}");
    for gone in ["S2T", "silence", "Healthy"] {
        assert!(!said.contains(gone), "{gone}: {said}");
    }
    // A comparison says what it lacks, too.
    let compared = program().arg("compare").args([&path, &path]).arg("--verbose").assert().success();
    let said = String::from_utf8(compared.get_output().stdout.clone()).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("run has no `entropy`") && words.contains("--map entropy=COLUMN"), "{said}");
    // A gate on what is not there is not passed in silence.
    let gated = program().arg(&path).args(["--fail-on", "s2t.fraction>0"]).assert().code(2);
    let error = String::from_utf8(gated.get_output().stderr.clone()).unwrap();
    assert!(error.contains("this run has no `s2t.fraction`"), "{error}");
}

#[test]
fn a_report_without_entropy() {
    let folder = tempfile::tempdir().unwrap();
    let (log, report) = (folder.path().join("part.parquet"), folder.path().join("report"));
    let whole = sample("async.parquet");
    program().arg("convert").arg(&whole).arg("-o").arg(&log).args(["--map", "entropy="]).assert().success();
    // A folder that held the report of the whole log, and a table of somebody else.
    program().arg(&whole).arg("--report").arg(&report).assert().success();
    std::fs::write(report.join("tables/mine.parquet"), "mine").unwrap();
    let printed = program()
        .arg(&log)
        .arg("--report")
        .arg(&report)
        .args(["--format", "json", "--full"])
        .assert()
        .success();
    let read = |name: &str| std::fs::read_to_string(report.join(name)).unwrap();
    let (summary, page, text) = (read("summary.json"), read("report.html"), read("report.md"));
    assert_eq!(String::from_utf8(printed.get_output().stdout.clone()).unwrap(), summary);
    let value: serde_json::Value = serde_json::from_str(&summary).unwrap();
    schema_support::validate(&value, "summary_partial");
    assert!(
        text.contains("**✓ Healthy.**") && text.contains("entropy of the policy at each token"),
        "{text}"
    );
    for gone in ["Would silence", "id=\"tau-p\"", "claims"] {
        assert!(!page.contains(gone), "{gone}");
    }
    let mut tables: Vec<String> = std::fs::read_dir(report.join("tables"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    tables.sort();
    let expected = ["corrections", "groups", "mine", "offpolicy", "slices", "steps"];
    assert_eq!(tables, expected.map(|name| format!("{name}.parquet")));
    assert!(report.join("charts/reward.svg").exists());
}

#[test]
fn a_vocabulary_that_is_too_small() {
    let output =
        program().arg(sample("grpo.parquet")).args(["--vocab-size", "50", "--verbose"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("he vocabulary is said to have 50 tokens"), "{text}");
    assert!(text.contains("ive the model's vocabulary size with --vocab-size"), "{text}");
}

#[test]
#[cfg(not(feature = "cuda"))]
fn a_device_that_is_not_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg("replay").arg(sample("grpo.parquet")).arg("--model").arg(sample("model"));
    command.args(["--device", "cuda:0", "--report"]).arg(folder.path().join("out"));
    let (error, hint) = failure(&mut command);
    assert!(error.contains("cuda:0"), "{error}");
    assert!(hint.contains("--features cuda"), "{hint}");
}

/// A folder keeps nothing of another run's report that the new one does not have, and all that is not ours.
#[test]
fn a_folder_that_held_another_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| program().arg(sample(name)).arg("--report").arg(folder.path()).assert().success();
    run("async.parquet");
    let own = folder.path().join("charts/mine.svg");
    std::fs::write(&own, "mine").unwrap();
    let charts = || -> std::collections::BTreeSet<_> {
        std::fs::read_dir(folder.path().join("charts"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    };
    let (of_sampler, before) = (folder.path().join("tables/offpolicy.parquet"), charts());
    assert!(of_sampler.exists());
    // This log has no log-probabilities of the sampler's.
    run("grpo.parquet");
    assert!(!of_sampler.exists() && charts() != before, "{:?}", charts());
    let alone = tempfile::tempdir().unwrap();
    program().arg(sample("grpo.parquet")).arg("--report").arg(alone.path()).assert().success();
    assert_eq!(charts().len(), std::fs::read_dir(alone.path().join("charts")).unwrap().count() + 1);
    assert!(own.exists() && folder.path().join("tables/flagged.parquet").exists());
}

#[test]
fn a_misspelt_gate_is_refused_before_anything_is_read() {
    let nothing = Path::new("/nowhere/run.parquet");
    let refused = |command: &[&str], condition: &str| {
        failure(program().args(command).arg(nothing).arg(nothing).args(["--fail-on", condition]))
    };
    let (error, hint) = refused(&["compare"], "warnings.infeasable>0");
    assert!(error.contains("there is no warning `infeasable`"), "{error}");
    assert!(hint.contains("its code is one of"), "{hint}");
    let merge = &["merge", "--plan", "/nowhere/plan.json"][..];
    for command in [&[], merge] {
        let (_, hint) = refused(command, "warnings.infeasable>0");
        assert_eq!(hint, "is `warnings.infeasible` meant?");
        let (error, hint) = refused(command, "s2t.fracton>1e-4");
        assert!(error.contains("summary.json has no field `s2t.fracton`"), "{error}");
        assert_eq!(hint, "is `s2t.fraction` meant?");
    }
}

#[test]
fn a_log_is_not_replaced_by_what_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.parquet");
    std::fs::copy(sample("grpo.parquet"), &log).unwrap();
    let before = std::fs::metadata(&log).unwrap().len();
    // The same file by another name.
    let same = folder.path().join("./log.parquet");
    let (error, hint) = failure(program().arg("convert").arg(&log).arg("-o").arg(&same));
    assert!(error.contains("log.parquet") && error.contains("would replace one of the inputs"), "{error}");
    assert!(hint.contains("another name"), "{hint}");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), before);
}

#[test]
fn an_option_that_is_none_has_one_tip() {
    let output = program().args(["run.parquet", "--out", "x"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--report DIR") && !said.contains("--population"), "{said}");
}
