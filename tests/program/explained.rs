//! Pages of causes are tests: a command on a page is run, and what it says stands under it. `UPDATE_PAGES=1 cargo test
//! --release --test program explained` writes it anew. The first run of a page has its cause, the last one has not.

use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;

/// Columns of a page.
const WIDTH: usize = 80;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn program(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    let output = command.current_dir(root()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Its first paragraph, the verdict, as a terminal of so many columns shows it.
fn verdict(arguments: &[&str]) -> String {
    let said = program(&[arguments, &["--quiet"]].concat());
    let first = said.lines().next().unwrap_or_default();
    let mut lines = vec![String::new()];
    for word in first.split_whitespace() {
        let line = lines.last_mut().unwrap();
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{space}{word}"));
        }
    }
    lines.join("\n")
}

fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("docs/causes")).unwrap();
    let mut pages: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The commands of a page.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let calls = page.lines().filter_map(|line| line.strip_prefix("$ stapo-analyze "));
    calls.map(|arguments| arguments.split_whitespace().collect()).collect()
}

#[test]
fn pages_show_what_the_program_says() {
    let mut stale = Vec::new();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let mut written = String::new();
        let mut blocks = page.split("```console\n");
        written.push_str(blocks.next().unwrap());
        for block in blocks {
            let (call, after) = block.split_once("```").unwrap();
            let line = call.lines().next().unwrap();
            let arguments: Vec<&str> =
                line.strip_prefix("$ stapo-analyze ").unwrap().split_whitespace().collect();
            written.push_str(&format!("```console\n{line}\n{}\n```{after}", verdict(&arguments)));
        }
        if written != page {
            stale.push(path.file_name().unwrap().to_owned());
            if std::env::var_os("UPDATE_PAGES").is_some() {
                std::fs::write(&path, written).unwrap();
            }
        }
    }
    assert!(stale.is_empty() || std::env::var_os("UPDATE_PAGES").is_some(), "stale: {stale:?}");
}

/// Whether the run of a command has a cause of one of these confidences.
fn has(arguments: &[&str], code: &str, confidence: &[&str]) -> bool {
    let summary: Value =
        serde_json::from_str(&program(&[arguments, &["--quiet", "--format", "json", "--full"]].concat()))
            .unwrap();
    let causes = summary["diagnosis"]["causes"].as_array().unwrap();
    causes
        .iter()
        .any(|cause| cause["code"] == code && confidence.iter().any(|sure| cause["confidence"] == *sure))
}

#[test]
fn the_first_run_of_a_page_has_its_cause_and_the_last_has_not() {
    let mut wrong = Vec::new();
    for path in pages() {
        let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        let commands = commands(&page);
        // Causes that both runs of a page have, to some degree, or that change nothing.
        if ["dead_groups", "spurious_tokens"].contains(&code.as_str()) {
            continue;
        }
        if commands.len() > 1 && !has(&commands[0], &code, &["likely", "possible"]) {
            wrong.push(format!("{code} is not found in {}", commands[0].join(" ")));
        }
        if let Some(healthy) = commands.last().filter(|healthy| has(healthy, &code, &["likely"])) {
            wrong.push(format!("{code} is found in {}", healthy.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_cause_is_explained_by_its_page() {
    let page = program(&["explain", "kl_outweighs"]);
    assert!(page.starts_with("# The KL term holds the policy at its reference\n"));
    assert_eq!(program(&["explain", "KL outweighs"]), page);
    let names = program(&["explain"]);
    assert_eq!(names.lines().count(), pages().len());
    let mut misspelt = Command::cargo_bin("stapo-analyze").unwrap();
    let output = misspelt.args(["explain", "kl_outweigh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is `kl_outweighs` meant?"));
}
