//! Every `stapo-analyze` command of the README and the pages of `docs/`, run as it stands there, and
//! what is shown of its output.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of the README, the exit code it announces, and what is shown of its output.
#[derive(Debug)]
struct Shown {
    command: String,
    code: i32,
    said: Vec<String>,
}

/// The commands in the code blocks: lines of `sh` blocks, and lines after a `$` in `text` blocks, with the
/// lines that follow them. Blocks of another kind (`console`, `bash`, `text` with a word behind it) have
/// places in them that are not here.
fn commands(page: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut block: Option<&str> = None;
    let mut transcript = false;
    let page = page.replace("\\\n", " ");
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(kind) };
            transcript = false;
            continue;
        }
        let typed = match (block, line.trim().strip_prefix("$ ")) {
            (Some("sh"), _) => line.trim(),
            (Some("text"), Some(typed)) => typed,
            (Some("text"), None) => {
                if let Some(shown) = shown.last_mut().filter(|_| transcript) {
                    shown.said.push(line.to_owned());
                }
                continue;
            }
            _ => continue,
        };
        transcript = false;
        let (command, comment) = typed.split_once(" #").unwrap_or((typed, ""));
        let command = command.trim().replace("cargo run --release -- ", "stapo-analyze ");
        if ["stapo-analyze ", "source <(stapo-analyze "].iter().any(|start| command.starts_with(start)) {
            let code = i32::from(comment.contains("exit code 1"));
            transcript = block == Some("text");
            shown.push(Shown { command, code, said: Vec::new() });
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

/// The README, what agents are told, then the pages of `docs/`.
fn pages() -> Vec<String> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut docs: Vec<PathBuf> = docs.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    docs.sort();
    [root().join("README.md"), root().join("SKILL.md")]
        .iter()
        .chain(&docs)
        .map(|p| std::fs::read_to_string(p).unwrap())
        .collect()
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
    let mut compared = 0;
    for Shown { command, code, said } in shown {
        let both = format!("exec 2>&1; {command}");
        let output = Command::new("bash")
            .args(["-c", &both])
            .current_dir(&folder)
            .env("PATH", &path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{command}\n{text}");
        if let Some((shown, instead)) = difference(&said, &text) {
            panic!("{command}\nshown: {shown}\nsaid:  {instead}\n\nall of it:\n{text}");
        }
        compared += usize::from(!said.is_empty());
    }
    assert!(compared >= 6, "{compared} transcripts");
}

/// Where a transcript and the output part: the line that is shown, and what is said there instead. Widths
/// of columns are not compared. A line `…` stands for any lines, `…` in a line for any words.
fn difference(shown: &[String], output: &str) -> Option<(String, String)> {
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = |text: &mut dyn Iterator<Item = &str>| {
        text.map(plain).filter(|line| !line.is_empty()).collect::<Vec<String>>()
    };
    let said = lines(&mut output.lines());
    let shown = lines(&mut shown.iter().map(String::as_str));
    let (mut at, mut skips) = (0, false);
    for line in &shown {
        if line == "…" {
            skips = true;
            continue;
        }
        let ahead = said[at..].iter().take(if skips { usize::MAX } else { 1 });
        let Some(found) = ahead.into_iter().position(|said| fits(line, said)) else {
            return Some((line.clone(), said.get(at).cloned().unwrap_or_default()));
        };
        (at, skips) = (at + found + 1, false);
    }
    let rest = said.get(at).filter(|_| !skips && !shown.is_empty());
    rest.map(|said| (String::new(), said.clone()))
}

/// Whether a line says what is shown of it.
fn fits(shown: &str, said: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|start| said.strip_prefix(start)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(end) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

#[test]
fn commands_are_found_in_blocks_only() {
    let page = "stapo-analyze a\n```sh\nstapo-analyze b  # exit code 1 when c\ncargo build\n```\n\
                ```text\n$ stapo-analyze d \\\n  --quiet\nstapo-analyze e\n```\n";
    let found: Vec<Shown> = commands(page);
    let typed: Vec<(&str, i32)> = found.iter().map(|s| (s.command.as_str(), s.code)).collect();
    assert_eq!(typed, [("stapo-analyze b", 1), ("stapo-analyze d    --quiet", 0)]);
    assert_eq!((found[0].said.len(), found[1].said.as_slice()), (0, &["stapo-analyze e".to_owned()][..]));
}

#[test]
fn transcripts_are_compared_line_by_line() {
    let output = "steps    11 (0 to 119)\n\nnote\ntokens   612,395 trained\n";
    let differs = |shown: &[&str]| {
        let shown: Vec<String> = shown.iter().map(|line| (*line).to_owned()).collect();
        difference(&shown, output).map(|(shown, _)| shown)
    };
    assert_eq!(differs(&[]), None, "nothing is shown");
    assert_eq!(differs(&["steps  11 (0 to 119)", "…", "tokens 612,395 trained", ""]), None);
    assert_eq!(differs(&["steps … (0 to …", "note", "tokens 612,395…"]), None);
    assert_eq!(differs(&["…", "tokens … trained"]), None);
    assert_eq!(differs(&["steps 11 (0 to 119)", "…"]), None);
    for (shown, wrong) in [
        (&["steps 11 (0 to 119)", "tokens 612,395 trained"][..], "tokens 612,395 trained"),
        (&["…", "tokens 612,395"], "tokens 612,395"),
        (&["…", "tokens 612,396 trained"], "tokens 612,396 trained"),
        (&["…", "note", "steps 11 (0 to 119)"], "steps 11 (0 to 119)"),
        (&["steps … (1 to …", "…"], "steps … (1 to …"),
        (&["steps 11 (0 to 119)"], ""),
    ] {
        assert_eq!(differs(shown).as_deref(), Some(wrong));
    }
}
