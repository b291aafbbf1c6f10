//! Where steps are asked for, only their values are counted: what is missing elsewhere does not warn, and what is
//! missing in them is not thinned out by the rest of the log.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rows::{Row, rows, write_long, write_nested};
use super::support::Numbers;
use super::{Command, program};

type Write = fn(&Path, &[Row]);
const LAYOUTS: [(&str, Write); 2] = [("nested", write_nested), ("long", write_long)];

fn summary(arguments: &[&str]) -> Value {
    let output = Command::cargo_bin("stapo-analyze").unwrap().args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a summary says of missing values.
fn missing(summary: &Value) -> String {
    let warnings = summary["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "missing_values");
    let warnings: Vec<&Value> = warnings.map(|w| &w["message"]).collect();
    format!("{:#} {:#} {warnings:?}", summary["quality"], summary["totals"])
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The steps of a log that are asked for, read in one process, with a cache and in shards, and a log
/// that has only these steps.
fn ways(folder: &Path, logs: &[PathBuf], steps: &str, alone: &Path) -> Vec<(String, String)> {
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let logs: Vec<&str> = logs.iter().map(|log| text(log)).collect();
    let with = |more: &[&str]| missing(&summary(&[&logs[..], &["--steps", steps, "-q"], more].concat()));
    let json = ["--format", "json", "--full"];
    let mut ways = vec![("one process".to_owned(), with(&json))];
    let cache = at("cache");
    // The cache knows the whole log first.
    assert_eq!(program(&[&logs[..], &["--cache", &cache, "-q"]].concat()).0, 0);
    for way in ["cache", "cache again"] {
        ways.push((way.into(), with(&[&json[..], &["--cache", &cache]].concat())));
    }
    let (plan, work) = (at("work/plan.json"), at("work"));
    let planned = [&["plan"], &logs[..], &["--steps", steps, "--shard-tokens", "2000", "-o", &plan]].concat();
    assert_eq!(program(&planned).0, 0);
    let document: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    for shard in 0..document["shards"].as_array().unwrap().len() {
        let shard = shard.to_string();
        assert_eq!(program(&["collect", "--plan", &plan, "--shard", &shard, "-o", &work, "-q"]).0, 0);
    }
    let merged = summary(&["merge", "--plan", &plan, &work, "--format", "json", "--full", "-q"]);
    ways.push(("shards".into(), missing(&merged)));
    ways.push(("alone".into(), missing(&summary(&[text(alone), "-q", "--format", "json", "--full"]))));
    ways
}

fn assert_all_equal(ways: &[(String, String)]) {
    for (way, said) in ways {
        assert_eq!(said, &ways.last().unwrap().1, "{way}");
    }
}

/// Entropy was logged from step 6 on; one reward of the steps asked for is missing.
#[test]
fn what_is_missing_in_other_steps_does_not_count() {
    for (layout, write) in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = rows(12);
        for row in rows.iter_mut().filter(|r| r.step < 6) {
            row.entropy.fill(None);
            row.reward = None;
        }
        rows[6 * 16].reward = None;
        let split = rows.iter().position(|r| r.step == 6).unwrap();
        let at = |name: &str| folder.path().join(format!("{layout}-{name}.parquet"));
        let (all, before, after) = (at("all"), at("before"), at("after"));
        write(&all, &rows);
        write(&before, &rows[..split]);
        write(&after, &rows[split..]);
        let whole = missing(&summary(&[text(&all), "-q", "--format", "json", "--full"]));
        assert!(whole.contains("column `entropy`: 50."), "{whole}");
        for logs in [vec![all], vec![before, after.clone()]] {
            let folder = tempfile::tempdir_in(folder.path()).unwrap();
            assert_all_equal(&ways(folder.path(), &logs, "6..", &after));
        }
    }
}

/// A step in which one in ten entropies is missing, and one in which nine in ten are.
#[test]
fn what_is_missing_in_the_steps_asked_for_is_not_thinned_out_by_others() {
    for (layout, write) in LAYOUTS {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = rows(20);
        let mut numbers = Numbers(3);
        for row in rows.iter_mut().filter(|r| r.step == 10 || r.step == 19) {
            let share = if row.step == 10 { 0.1 } else { 0.9 };
            row.entropy.iter_mut().filter(|_| numbers.next() < share).for_each(|v| *v = None);
        }
        let at = |name: &str| folder.path().join(format!("{layout}-{name}.parquet"));
        let (all, ten, last) = (at("all"), at("ten"), at("last"));
        write(&all, &rows);
        for (path, step) in [(&ten, 10), (&last, 19)] {
            write(path, &rows.iter().filter(|r| r.step == step).cloned().collect::<Vec<_>>());
        }
        let ways = ways(folder.path(), std::slice::from_ref(&all), "10", &ten);
        assert!(ways[0].1.contains("values are missing"), "{}", ways[0].1);
        assert_all_equal(&ways);
        let json = ["-q", "--format", "json", "--full"];
        let alone = missing(&summary(&[&[text(&last)][..], &json].concat()));
        let said = missing(&summary(&[&[text(&all), "--steps", "19"][..], &json].concat()));
        assert!(alone.contains("column `entropy`: 9") || alone.contains("column `entropy`: 8"), "{alone}");
        assert_eq!(said, alone);
    }
}
