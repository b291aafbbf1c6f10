//! `show`, and `--open`.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_analyze::show::{Selection, Shown, show};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data").join(name)
}

fn program() -> Command {
    Command::cargo_bin("stapo-analyze").unwrap()
}

fn find(selection: &Selection, threads: usize) -> Shown {
    let settings = IngestSettings { threads, ..IngestSettings::default() };
    let run = Run::open(&[data("grpo.parquet")], &settings).unwrap();
    show(&run, selection, Some(&data("model/tokenizer.json")), &Silent).unwrap()
}

#[test]
fn a_group_is_found_whole_with_its_prompt() {
    let first = find(&Selection { limit: 1, ..Selection::default() }, 1);
    assert!(first.matched > 1_000);
    let one = &first.responses[0];
    let group = find(
        &Selection { step: Some(one.step), group: one.group_id.clone(), limit: 100, ..Selection::default() },
        2,
    );
    assert_eq!((group.matched, group.responses.len()), (8, 8));
    assert!(group.responses.iter().all(|r| r.prompt == one.prompt && r.prompt.is_some()));
    assert!(group.responses.is_sorted_by_key(|r| r.row));
    assert_eq!(group.responses[0].tokens, one.tokens);
    assert!(one.tokens.iter().all(|t| t.logprob.is_some() && t.entropy.is_some() && t.advantage.is_some()));
    let single = find(
        &Selection { sample: one.sample_id.clone(), step: Some(one.step), limit: 9, ..Selection::default() },
        1,
    );
    assert!(single.responses.iter().any(|r| r == one));
}

#[test]
fn the_first_responses_do_not_depend_on_threads() {
    let selection = Selection { limit: 20, ..Selection::default() };
    let (one, many) = (find(&selection, 1), find(&selection, 4));
    assert_eq!(one.responses, many.responses);
    assert_eq!(one.responses.iter().map(|r| r.row).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
}

#[test]
fn the_command_prints_text_and_json_and_says_how_many_more() {
    let out = program().arg("show").arg(data("grpo.parquet")).args(["--limit", "2"]).output().unwrap();
    let (text, talk) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(out.status.success(), "{talk}");
    assert_eq!(text.matches("── step").count(), 2, "{text}");
    assert!(text.contains("−ln p − H") && text.starts_with("prompt\n"), "{text}");
    assert!(talk.contains("2 of "), "{talk}");
    let out = program()
        .arg("show")
        .arg(data("grpo.parquet"))
        .args(["--limit", "2", "--format", "json"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["responses"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_found_is_said_with_a_hint() {
    let out = program().arg("show").arg(data("grpo.parquet")).args(["--group", "no such"]).output().unwrap();
    let talk = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(talk.contains("error: none of the ") && talk.contains("hint: "), "{talk}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_and_failing_to_is_a_note() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let run = |path: &Path| {
        program()
            .args(["demo", "--quiet", "--open", "--report"])
            .arg(&report)
            .env("PATH", path)
            .output()
            .unwrap()
    };
    let out = run(Path::new("/nowhere"));
    assert!(out.status.success());
    assert!(String::from_utf8(out.stderr).unwrap().contains("note: no browser was opened (xdg-open: "));
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" > \"${0%/*}/opened\"\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = run(folder.path());
    assert!(out.status.success());
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
    let opened = std::fs::read_to_string(folder.path().join("opened")).unwrap();
    assert_eq!(Path::new(opened.trim()), report.join("report.html"));
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let settings = IngestSettings::default();
    let run = Run::open(&[data("grpo.parquet")], &settings).unwrap();
    let wanted = Selection { group: Some("nosuch".into()), limit: 1, ..Selection::default() };
    let hint = show(&run, &wanted, None, &Silent).unwrap_err().hint().unwrap();
    assert!(hint.contains("the log has groups ") && hint.contains(" … "), "{hint}");
    let wanted = Selection { step: Some(9_999), limit: 1, ..Selection::default() };
    let hint = show(&run, &wanted, None, &Silent).unwrap_err().hint().unwrap();
    assert!(hint.contains("the log has steps 0 … 119"), "{hint}");
}

#[test]
fn texts_are_shown_as_they_are_and_checked_with_the_hook_of_their_framework() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("3.jsonl");
    let line = |answer: &str| format!(r#"{{"input":"why","output":"{answer}","score":1.0,"step":3}}"#);
    std::fs::write(&log, [line("so it is €"), line("\\u001b[31mred")].join("\n")).unwrap();
    let text = |command: &str| {
        let out = program().arg(command).arg(&log).output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stdout).unwrap()
    };
    let shown = text("show");
    assert!(shown.contains("so it is €") && shown.contains("10 characters"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let checked = text("check");
    assert!(checked.contains("stapo_analyze.verl") && checked.contains("`logprob`"), "{checked}");
    let analysed = program().arg(&log).output().unwrap();
    let analysed = String::from_utf8(analysed.stdout).unwrap();
    assert!(analysed.contains("stapo_analyze.verl") && analysed.contains("logprob"), "{analysed}");
    let compared = program().args(["compare"]).args([&log, &log]).arg("--verbose").output().unwrap();
    let compared = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.contains("stapo_analyze.verl") && compared.contains("`logprob`"), "{compared}");
    let failed = program().arg(&log).args(["--fail-on", "totals.mean_reward>0.5"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
}
