//! Every `stapo-analyze` command of the README and the pages of `docs/`, run as it stands there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of the README and the exit code it announces.
#[derive(Debug)]
struct Shown {
    command: String,
    code: i32,
}

/// The commands in the code blocks: lines of `sh` blocks, and lines after a `$` in `text` blocks.
fn commands(page: &str) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut block: Option<&str> = None;
    let page = page.replace("\\\n", " ");
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(kind) };
            continue;
        }
        let typed = match block {
            Some("sh") => line.trim(),
            Some("text") => line.trim().strip_prefix("$ ").unwrap_or_default(),
            _ => continue,
        };
        let (command, comment) = typed.split_once(" #").unwrap_or((typed, ""));
        let command = command.trim().replace("cargo run --release -- ", "stapo-analyze ");
        if ["stapo-analyze ", "source <(stapo-analyze "].iter().any(|start| command.starts_with(start)) {
            let code = i32::from(comment.contains("exit code 1"));
            shown.push(Shown { command, code });
        }
    }
    shown
}

/// A folder as the README assumes it: the sample data, and logs under the names used there.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = root().join("notebooks-data");
    std::os::unix::fs::symlink(&data, folder.path().join("notebooks-data")).unwrap();
    for (name, sample) in [
        ("run.parquet", "grpo.parquet"),
        ("grpo.parquet", "grpo.parquet"),
        ("stapo.parquet", "stapo.parquet"),
    ] {
        std::os::unix::fs::symlink(data.join(sample), folder.path().join(name)).unwrap();
    }
    folder
}

/// The README, then the pages of `docs/`.
fn pages() -> Vec<String> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut docs: Vec<PathBuf> = docs.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    docs.sort();
    [root().join("README.md")].iter().chain(&docs).map(|p| std::fs::read_to_string(p).unwrap()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_runs() {
    let shown: Vec<Shown> = pages().iter().flat_map(|page| commands(page)).collect();
    for job in ["--report", "check", "convert", "compare", "replay", "demo", "completions"] {
        assert!(shown.iter().any(|s| s.command.contains(job)), "the pages show {job}");
    }
    let folder = workplace();
    let programs = assert_cmd::cargo::cargo_bin("stapo-analyze").parent().unwrap().to_owned();
    let path = std::env::join_paths(
        [programs].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    for Shown { command, code } in shown {
        let output =
            Command::new("bash").args(["-c", &command]).current_dir(&folder).env("PATH", &path).output();
        let output = output.unwrap();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{command}\n{talk}");
    }
}

#[test]
fn commands_are_found_in_blocks_only() {
    let page = "stapo-analyze a\n```sh\nstapo-analyze b  # exit code 1 when c\ncargo build\n```\n\
                ```text\n$ stapo-analyze d \\\n  --quiet\nstapo-analyze e\n```\n";
    let found: Vec<(String, i32)> = commands(page).into_iter().map(|s| (s.command, s.code)).collect();
    assert_eq!(found, [("stapo-analyze b".to_owned(), 1), ("stapo-analyze d    --quiet".to_owned(), 0)]);
}
