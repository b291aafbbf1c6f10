//! Every command in a real terminal: progress appears, ends, and the answer follows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::{sample, small_log};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Far beyond what any of these commands takes: whoever reaches it hangs.
const LIMIT: Duration = Duration::from_secs(120);

struct Seen {
    text: String,
    code: Option<i32>,
}

impl Seen {
    /// What stays on the screen: bars are drawn over and cleared.
    fn lasting(&self) -> String {
        let mut lines = Vec::new();
        for line in self.text.replace("\r\n", "\n").split('\n') {
            let last = line.rsplit("\x1b[2K").next().unwrap_or_default();
            lines.push(last.rsplit('\r').next().unwrap_or_default().to_owned());
        }
        lines.join("\n")
    }
}

fn on_a_terminal(arguments: &[&str], columns: u16, environment: &[(&str, &str)]) -> Seen {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = || File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    command.args(arguments).stdin(slave()).stdout(slave()).stderr(slave());
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
    command.envs(environment.iter().copied());
    let child = command.spawn().unwrap();
    // The parent's copies of the terminal go with the command: reading ends when the child does.
    drop(command);
    let (text, code) = (read_all(master), wait(child, arguments));
    Seen { text: text.recv_timeout(LIMIT).unwrap(), code }
}

fn read_all(master: OwnedFd) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut file, mut bytes, mut chunk) = (File::from(master), Vec::new(), [0; 4096]);
        // Linux ends the stream of a closed terminal with EIO.
        while let Ok(n @ 1..) = file.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..n]);
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned()).unwrap();
    });
    receiver
}

fn wait(mut child: Child, arguments: &[&str]) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("hangs in a terminal: {arguments:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Commands that read a log, each with words of its answer.
fn commands(folder: &Path) -> Vec<(Vec<String>, &'static str)> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (grpo, stapo) =
        (sample("grpo.parquet").display().to_string(), sample("stapo.parquet").display().to_string());
    let small = small_log(folder, 2, 16, |batch| batch).display().to_string();
    let model = sample("model").display().to_string();
    let command = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    vec![
        (command(&[&grpo]), "Healthy"),
        (command(&[&grpo, "--report", &path("report")]), "report: "),
        (command(&["demo"]), "Suspicious"),
        (command(&["demo", "--report", &path("demo")]), "log: "),
        (command(&["check", &grpo]), "Checks"),
        (command(&["compare", &grpo, &stapo]), "difference"),
        (command(&["compare", &grpo, &stapo, "--report", &path("compare")]), "report: "),
        (command(&["convert", &grpo, "-o", &path("out.parquet")]), "5,632 responses"),
        (
            command(&[
                "replay",
                &small,
                "--model",
                &model,
                "--objective",
                "dapo,stapo",
                "--report",
                &path("replay"),
            ]),
            "report: ",
        ),
        (command(&["completions", "bash"]), "complete"),
        (command(&["man"]), ".TH"),
    ]
}

#[test]
fn every_command_ends_in_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    for (command, words) in commands(folder.path()) {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let seen = on_a_terminal(&arguments, 80, &[]);
        assert_eq!(seen.code, Some(0), "{arguments:?}\n{}", seen.text);
        let lasting = seen.lasting();
        assert!(lasting.contains(words), "{arguments:?}\n{lasting}");
        assert!(!lasting.contains('━'), "the bar is gone at the end: {arguments:?}\n{lasting}");
    }
}

#[test]
fn progress_appears_and_goes_at_any_width() {
    let grpo = sample("grpo.parquet").display().to_string();
    for columns in [40, 80, 200] {
        let seen = on_a_terminal(&[&grpo], columns, &[]);
        assert_eq!(seen.code, Some(0), "{}", seen.text);
        assert!(seen.text.contains(" %"), "no bar at {columns} columns:\n{}", seen.text);
        assert!(seen.lasting().contains("Healthy"), "{columns} columns:\n{}", seen.lasting());
    }
}

/// A text without its colours.
fn uncoloured(text: &str) -> String {
    let mut shown = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => _ = letters.by_ref().find(|c| *c == 'm'),
            letter => shown.push(letter),
        }
    }
    shown
}

#[test]
fn forty_columns_are_enough() {
    let [grpo, stapo] = ["grpo.parquet", "stapo.parquet"].map(|name| sample(name).display().to_string());
    let commands: [&[&str]; 6] = [
        &[&grpo],
        &["compare", &grpo, &stapo],
        &["check", &grpo],
        &["show", &grpo, "--group", "3", "--sample", "2"],
        &["show", &grpo, "--group", "no such group"],
        &["demo"],
    ];
    for command in commands {
        let seen = on_a_terminal(command, 40, &[]);
        let lasting = uncoloured(&seen.lasting());
        let wide: Vec<&str> = lasting.lines().filter(|line| line.chars().count() > 40).collect();
        assert!(wide.is_empty(), "{command:?} is wider than the terminal:\n{}\n{lasting}", wide.join("\n"));
        assert!(!seen.text.contains("\x1b[1A"), "progress takes more than a line: {command:?}");
    }
}

#[test]
fn no_escapes_where_the_terminal_takes_none() {
    let grpo = sample("grpo.parquet").display().to_string();
    let dumb = on_a_terminal(&["check", &grpo], 80, &[("TERM", "dumb")]);
    assert_eq!(dumb.code, Some(0), "{}", dumb.text);
    assert!(!dumb.text.contains('\x1b'), "{:?}", dumb.text);

    let coloured = on_a_terminal(&["check", &grpo], 80, &[]);
    assert!(coloured.lasting().contains("\x1b[32m"), "{:?}", coloured.lasting());
    let plain = on_a_terminal(&["check", &grpo], 80, &[("NO_COLOR", "1")]);
    assert!(!plain.lasting().contains('\x1b'), "{:?}", plain.lasting());
    assert!(plain.lasting().contains("Checks"), "{:?}", plain.lasting());
}

#[test]
fn errors_follow_the_bar() {
    let seen = on_a_terminal(&["nowhere.parquet"], 80, &[]);
    assert_eq!(seen.code, Some(2), "{}", seen.text);
    assert!(seen.lasting().starts_with("error: "), "{}", seen.text);
}
