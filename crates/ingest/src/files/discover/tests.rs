#![allow(clippy::unwrap_used)]

use super::*;
use std::fs;

fn touch(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }
}

fn names(found: &Discovered, root: &Path) -> Vec<String> {
    let relative = |f: &LogFile| f.path().strip_prefix(root).unwrap().display().to_string();
    found.files.iter().map(relative).collect()
}

#[test]
fn folders_are_read_in_natural_order_and_without_eval() {
    let root = tempfile::tempdir().unwrap();
    touch(root.path(), &["step_10/rank_0.jsonl", "step_2/rank_0.jsonl", "eval_rollout_1.parquet", "a.txt"]);
    let found = discover(&[root.path().to_owned()]).unwrap();
    assert_eq!(names(&found, root.path()), ["step_2/rank_0.jsonl", "step_10/rank_0.jsonl"]);
    assert_eq!(found.files[1].step, Some(10));
    assert_eq!(found.skipped.len(), 1);
}

#[test]
fn incomplete_steps_are_skipped_and_said() {
    let root = tempfile::tempdir().unwrap();
    touch(root.path(), &["step_1/rank_0.jsonl", "step_1/STABLE", "step_2/rank_0.jsonl"]);
    let found = discover(&[root.path().to_owned()]).unwrap();
    assert_eq!(names(&found, root.path()), ["step_1/rank_0.jsonl"]);
    assert!(found.skipped[0].reason.contains("STABLE"));
}

#[test]
fn reports_and_replays_inside_of_a_run_are_no_logs() {
    let root = tempfile::tempdir().unwrap();
    let inside = ["a.parquet", "report/summary.json", "report/tables/flagged.parquet"];
    touch(root.path(), &inside);
    touch(
        root.path(),
        &["live/live.html", "live/tables/x.parquet", "again/replay.json", "again/grpo.parquet"],
    );
    touch(root.path(), &["again/tables/replay_steps.parquet"]);
    let found = discover(&[root.path().to_owned()]).unwrap();
    assert_eq!(names(&found, root.path()), ["a.parquet"]);
    assert_eq!(found.skipped.len(), 3, "{:?}", found.skipped);
    // The run's own folder may hold the report itself, and a replay is read where it is asked for.
    touch(root.path(), &["summary.json", "tables/steps.parquet"]);
    assert_eq!(names(&discover(&[root.path().to_owned()]).unwrap(), root.path()), ["a.parquet"]);
    let replayed = discover(&[root.path().join("again")]).unwrap();
    assert_eq!(names(&replayed, root.path()), ["again/grpo.parquet"]);
    // Tables of someone else are logs as any.
    let other = tempfile::tempdir().unwrap();
    touch(other.path(), &["tables/a.parquet"]);
    assert_eq!(discover(&[other.path().to_owned()]).unwrap().files.len(), 1);
}

#[test]
fn globs_pass_over_reports_and_replays_too() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let report = ["summary.json", "tables/steps.parquet", "deep/report/live.html"];
    touch(root.path(), &report);
    touch(root.path(), &["a.parquet", "deep/b.parquet", "deep/report/tables/flagged.parquet"]);
    touch(root.path(), &["again/replay.json", "again/arm/grpo.parquet"]);
    let found = discover(&[at("**/*.parquet")]).unwrap();
    assert_eq!(names(&found, root.path()), ["a.parquet", "deep/b.parquet"]);
    assert_eq!(found.skipped.len(), 3, "{:?}", found.skipped);
    assert!(found.skipped.iter().any(|s| s.reason == OF_REPLAY), "{:?}", found.skipped);
    assert_eq!(names(&discover(&[at("*/*.parquet")]).unwrap(), root.path()), ["deep/b.parquet"]);
    // What is named is read.
    assert_eq!(
        names(&discover(&[at("again/*/*.parquet")]).unwrap(), root.path()),
        ["again/arm/grpo.parquet"]
    );
    assert_eq!(discover(&[at("tables/*.parquet")]).unwrap().files.len(), 1);
}

#[test]
fn globs_and_repeats() {
    let root = tempfile::tempdir().unwrap();
    touch(root.path(), &["a/1.jsonl", "b/2.jsonl"]);
    let glob = root.path().join("*/*.jsonl");
    let found = discover(&[glob, root.path().join("a/1.jsonl")]).unwrap();
    assert_eq!(found.files.len(), 2);
    assert_eq!(found.skipped[0].reason, "given twice");
}

#[test]
fn pickles_name_their_converter() {
    let root = tempfile::tempdir().unwrap();
    touch(root.path(), &["12/gen_batch.dp"]);
    let direct = discover(&[root.path().join("12/gen_batch.dp")]).unwrap_err();
    let folder = discover(&[root.path().to_owned()]).unwrap_err();
    for error in [direct, folder] {
        assert!(error.hint().unwrap().contains("verl_dataproto_to_parquet.py"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_end_and_pipes_are_not_opened() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    touch(root.path(), &["step_1/a.jsonl"]);
    symlink(root.path(), root.path().join("step_1/back")).unwrap();
    symlink(root.path(), root.path().join("step_1/again")).unwrap();
    let pipe = root.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let found = discover(&[root.path().to_owned()]).unwrap();
    assert_eq!(names(&found, root.path()), ["step_1/a.jsonl"]);
    assert_eq!(found.skipped.len(), 3, "{:?}", found.skipped);
    assert!(matches!(discover(&[pipe]), Err(Error::NotRegular { .. })));
}

#[test]
fn missing_paths_and_empty_folders_are_errors() {
    let root = tempfile::tempdir().unwrap();
    let gone = discover(&[root.path().join("gone.parquet")]).unwrap_err();
    assert!(matches!(gone, Error::NotFound { .. }));
    let empty = discover(&[root.path().to_owned()]).unwrap_err();
    assert!(matches!(empty, Error::NoLogs { .. }));
}
