//! Files, page and terminal.

use assert_cmd::Command;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use stapo_page::html::PAGE_LIMIT;

use crate::compare_support::Made;
use crate::folders::{assert_same_files, tree};
use crate::support::sample;
use crate::{json, program, real, said};

#[test]
fn page_terminal_and_files_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let both = || {
        let mut command = program();
        command.arg(real("healthy")).arg(real("dropout_1"));
        command
    };
    let found = json(both().arg("--report").arg(folder.path()));
    let headline = said(&found, "runs")[0];
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("compare.html").contains(headline) && read("compare.md").contains("differ: reward 0.68"));
    let written: Value = serde_json::from_str(&read("compare.json")).unwrap();
    assert_eq!(written, found);
    for (table, least) in
        [("metrics", 8), ("runs", 2), ("steps", 60), ("regions", 40), ("tokens", 60), ("causes", 2)]
    {
        let path = folder.path().join(format!("tables/compare_{table}.parquet"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
        let rows = reader.metadata().file_metadata().num_rows();
        assert!(rows >= least, "{table}: {rows}");
    }
    let text = String::from_utf8(both().output().unwrap().stdout).unwrap();
    assert!(
        text.starts_with("≠ Different  healthy and dropout_1 differ: reward 0.68 against 0.07"),
        "{text}"
    );
    let brief = both().args(["--format", "json"]).output().unwrap().stdout;
    let short: Value = serde_json::from_slice(&brief).unwrap();
    assert!(brief.len() < 8_000 && short["said"] == found["said"], "{short}");
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn results_do_not_depend_on_threads_or_splits() {
    let run = |threads: &str| {
        let mut command = program();
        command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
        json(command.args(["--threads", threads]))
    };
    assert!(run("1") == run("3"));
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
        let output = program().args(&runs).arg("--report").arg(out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!String::from_utf8(output.stdout).unwrap().contains('\u{202e}'), "the terminal is safe");
    }
    let page = std::fs::read_to_string(first.join("compare.html")).unwrap();
    assert!(page.len() < PAGE_LIMIT / 2, "{} bytes", page.len());
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("http://") && !page.contains("https://"));
    let markdown = std::fs::read_to_string(first.join("compare.md")).unwrap();
    assert!(!markdown.contains("<img") && !markdown.contains("[x](y)") && !markdown.contains('\u{202e}'));
    assert_same_files(&tree(&first), &tree(&second));
}

/// What each run says of itself, side by side.
#[test]
fn causes_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg(sample("ward/healthy.parquet")).arg(sample("ward/hot.parquet"));
    let found = json(command.arg("--report").arg(folder.path()));
    let runs = ["ward/healthy.parquet", "ward/hot.parquet"].map(|name| {
        let mut command = Command::cargo_bin("stapo-analyze").unwrap();
        let output = command.arg(sample(name)).args(["--format", "json", "--full"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
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
    let page = std::fs::read_to_string(folder.path().join("compare.html")).unwrap();
    assert!(page.contains("Causes side by side") && page.contains("Large updates"));
    for (run, summary) in runs.iter().zip(found["runs"].as_array().unwrap()) {
        assert_eq!(run["diagnosis"]["state"], summary["state"]);
    }
}
