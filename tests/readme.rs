//! Every `stapo-analyze` command of the README and the pages of `docs/`, run as it stands there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of the README, the exit code it announces, and the lines shown below it.
#[derive(Debug)]
struct Shown {
    command: String,
    code: i32,
    transcript: Vec<String>,
}

/// The commands in the code blocks: lines of `sh` blocks, and lines after a `$` in `text` blocks with
/// what follows them.
fn commands(page: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut block: Option<&str> = None;
    let mut answered = false;
    let page = page.replace("\\\n", " ");
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(kind) };
            answered = false;
            continue;
        }
        let typed = match block {
            Some("sh") => line.trim(),
            Some("text") => match line.trim().strip_prefix("$ ") {
                Some(typed) => typed,
                None if answered => {
                    let last = shown.last_mut().unwrap();
                    last.transcript.push(line.trim_end().to_owned());
                    continue;
                }
                None => continue,
            },
            _ => continue,
        };
        answered = false;
        let (command, comment) = typed.split_once(" #").unwrap_or((typed, ""));
        let command = command.trim().replace("cargo run --release -- ", "stapo-analyze ");
        if ["stapo-analyze ", "source <(stapo-analyze "].iter().any(|start| command.starts_with(start)) {
            let code = i32::from(comment.contains("exit code 1"));
            shown.push(Shown { command, code, transcript: Vec::new() });
            answered = block == Some("text");
        }
    }
    shown
}

/// Whether the lines shown are those that were printed: `…` alone stands for any lines, at the end
/// of a line for its rest.
fn matches(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]));
    }
    let Some((line, others)) = printed.split_first() else { return false };
    let same = match first.strip_suffix('…') {
        Some(start) => line.starts_with(start.trim_end()),
        None => line == first,
    };
    same && matches(rest, others)
}

/// The lines of an output or of a transcript. Of a replay only the words: its numbers depend on the
/// processor's vector units.
fn lines(text: &str, is_replay: bool) -> Vec<String> {
    let words = |line: &str| {
        let number = |c: char| c.is_ascii_digit() || ".,−+·⁻⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
        let words = line.split_whitespace().filter(|word| !word.chars().all(number));
        words.collect::<Vec<_>>().join(" ")
    };
    let shown = |line: &str| if is_replay { words(line) } else { line.trim_end().to_owned() };
    text.trim_end().lines().map(shown).collect()
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
    for Shown { command, code, transcript } in shown {
        let typed = format!("{command} 2>&1");
        let output =
            Command::new("bash").args(["-c", &typed]).current_dir(&folder).env("PATH", &path).output();
        let output = output.unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}\n{printed}");
        if !transcript.is_empty() {
            let is_replay = command.contains(" replay ");
            let (shown, printed) = (lines(&transcript.join("\n"), is_replay), lines(&printed, is_replay));
            assert!(
                matches(&shown, &printed),
                "{command} is shown with\n{shown:#?}\nbut prints\n{printed:#?}"
            );
        }
    }
}

#[test]
fn commands_are_found_in_blocks_only() {
    let page = "stapo-analyze a\n```sh\nstapo-analyze b  # exit code 1 when c\ncargo build\n```\n\
                ```text\n$ stapo-analyze d \\\n  --quiet\nstapo-analyze e\n```\n";
    let found: Vec<(String, i32)> = commands(page).into_iter().map(|s| (s.command, s.code)).collect();
    assert_eq!(found, [("stapo-analyze b".to_owned(), 1), ("stapo-analyze d    --quiet".to_owned(), 0)]);
    assert_eq!(commands(page)[1].transcript, ["stapo-analyze e"]);
}

#[test]
fn transcripts_are_compared_line_by_line() {
    let printed = lines("one\ntwo 2\n\nthree three\n", false);
    let matches = |shown: &str| matches(&lines(shown, false), &printed);
    assert!(matches("one\ntwo 2\n\nthree three") && matches("one\n…\nthree…") && matches("…"));
    assert!(!matches("one\ntwo 3\n\nthree three") && !matches("one") && !matches("…\nfour"));
    assert_eq!(lines("a  1.5 ± 0.2 b", true), ["a ± b"]);
}
