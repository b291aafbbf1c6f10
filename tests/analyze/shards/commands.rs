//! The commands as a user, a job script or a driver runs them: the files that they leave.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

use crate::shards::folders::{assert_same_files, tree};
use crate::shards::logs::{Content, Shape, write};

fn program(arguments: &[&str]) -> Output {
    let mut all = arguments.to_vec();
    // As small units as the other tests have; only what reads a log takes it.
    if !matches!(arguments.first(), Some(&("collect" | "merge"))) {
        all.extend(["--unit-tokens", "300"]);
    }
    Command::cargo_bin("stapo-analyze").unwrap().args(all).output().unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) {
    let output = program(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn assert_same_reports(expected: &Path, found: &Path) {
    assert_same_files(&tree(expected), &tree(found));
}

#[test]
fn a_job_of_shards_leaves_the_files_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    write(&logs, Content { texts: true, ..Content::new(Shape::Long) }, 3);
    let (run, plan, work) = (at("logs"), at("work/plan.json"), at("work"));
    succeeds(&[&run, "--report", &at("one"), "-q"]);
    succeeds(&["plan", &run, "--shard-tokens", "3.5e3", "-o", &plan]);
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    let shards = document["shards"].as_array().unwrap().len();
    assert_eq!(shards, 3);
    for shard in (0..shards).rev() {
        succeeds(&["collect", "--plan", &plan, "--shard", &shard.to_string(), "-o", &work, "-q"]);
        assert!(folder.path().join(format!("work/part-{shard:05}.part")).exists());
    }
    let again = program(&["collect", "--plan", &plan, "--shard", "1", "-o", &work]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("was there"));
    succeeds(&["merge", "--plan", &plan, &work, "--report", &at("merged"), "-q"]);
    assert_same_reports(&folder.path().join("one"), &folder.path().join("merged"));
    // With a cache, twice.
    for report in ["first", "second"] {
        succeeds(&[&run, "--report", &at(report), "--cache", &at("cache"), "-q"]);
        assert_same_reports(&folder.path().join("one"), &folder.path().join(report));
    }
    let beyond = program(&["collect", "--plan", &plan, "--shard", &shards.to_string(), "-o", &work]);
    assert_eq!(beyond.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&beyond.stderr).contains("the last is 2"));
    let onto_a_file = program(&["collect", "--plan", &plan, "--shard", "0", "-o", &plan]);
    assert_eq!(onto_a_file.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&onto_a_file.stderr).contains("-o names the folder"));
    let as_a_log = program(&[&at("work/part-00000.part"), "-q"]);
    assert_eq!(as_a_log.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&as_a_log.stderr).contains("merge --plan"));
    std::fs::remove_file(folder.path().join("work/part-00001.part")).unwrap();
    let missing = program(&["merge", "--plan", &plan, &work, "--report", &at("partial"), "-q"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("shard 1"));
    assert!(tree(&folder.path().join("partial")).is_empty());
}

#[test]
fn comparisons_of_merged_parts_leave_the_files_of_comparisons_of_logs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut parts = Vec::new();
    for (name, steps) in [("a", 5), ("b", 4)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        write(&folder.path().join(name), Content { steps, ..Content::new(Shape::Nested) }, 2);
        let (work, plan) = (at(&format!("work-{name}")), at(&format!("work-{name}/plan.json")));
        succeeds(&["plan", &at(name), "--for-compare", "--shard-tokens", "5000", "-o", &plan]);
        for shard in ["0", "1"] {
            succeeds(&["collect", "--plan", &plan, "--shard", shard, "-o", &work, "-q"]);
        }
        let part = at(&format!("work-{name}/run.part"));
        succeeds(&["merge", "--plan", &plan, &work, "-o", &part, "-q"]);
        parts.push(format!("{name}={part}"));
    }
    let (a, b) = (format!("a={}", at("a")), format!("b={}", at("b")));
    succeeds(&["compare", &a, &b, "--report", &at("logs"), "-q"]);
    succeeds(&["compare", &parts[0], &parts[1], "--report", &at("parts"), "-q"]);
    assert_same_reports(&folder.path().join("logs"), &folder.path().join("parts"));
    succeeds(&["compare", &a, &parts[1], "--report", &at("mixed"), "--cache", &at("cache"), "-q"]);
    assert_same_reports(&folder.path().join("logs"), &folder.path().join("mixed"));
    let others =
        [["--preset", "v1"], ["--temperature", "0.5"], ["--pass", "reward>0.5"], ["--steps", "0..1"]];
    for other in others {
        let refused = program(&["compare", &parts[0], &parts[1], other[0], other[1], "-q"]);
        assert_eq!(refused.status.code(), Some(2), "{other:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("collected with another"), "{other:?}");
    }
    // A result is never written into a folder that is called `s3:`.
    let plan = at("work-a/plan.json");
    let remote = program(&["merge", "--plan", &plan, &at("work-a"), "--report", "s3://bucket/report"]);
    assert_eq!(remote.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&remote.stderr).contains("written to the disk only"));
}

#[test]
fn a_run_that_grew_leaves_the_files_of_a_run_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let files = write(&logs, Content { texts: true, ..Content::new(Shape::Long) }, 4);
    let aside = folder.path().join("aside");
    std::fs::create_dir(&aside).unwrap();
    let last = files.last().unwrap();
    std::fs::rename(last, aside.join("last")).unwrap();
    let cached = || succeeds(&[&at("logs"), "--report", &at("cached"), "--cache", &at("cache")]);
    cached();
    std::fs::rename(aside.join("last"), last).unwrap();
    succeeds(&[&at("logs"), "--report", &at("alone")]);
    // One file is new, then none.
    for _ in 0..2 {
        cached();
        assert_same_reports(&folder.path().join("alone"), &folder.path().join("cached"));
    }
}

/// A full disk, as a process meets it: no file of its own may be longer than this.
#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_said_even_where_quiet_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    write(&logs, Content::new(Shape::Long), 3);
    let cache = folder.path().join("cache");
    let program = assert_cmd::cargo::cargo_bin("stapo-analyze");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]).arg(program);
    let output = shell.arg(&logs).arg("--cache").arg(&cache).arg("-q").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("warning: the cache was not written"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Reward"), "the result is there");
    // The largest ids fit; nothing half-written is left.
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["token-ids.json"]);
}
