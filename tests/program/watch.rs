//! A watch of a run that is being written: whatever it sees on the way, and however often it is killed,
//! its last report is that of the finished run, byte for byte.
#![cfg(all(feature = "cli", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::step_logs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::folders::{assert_same_files, tree};

fn program(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    command.current_dir(root);
    command
}

/// The same files with the same bytes, but for what shows the report as it comes.
#[track_caller]
fn assert_same(watched: &Path, offline: &Path) {
    let mut report = tree(watched);
    report.retain(|file, _| !file.starts_with("live.html") && !file.starts_with("live.js"));
    assert_same_files(&report, &tree(offline));
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    let _ = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
}

/// Copies a file as a trainer writes it: in parts, with pauses.
fn write_slowly(from: &Path, to: &Path, parts: usize) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let bytes = std::fs::read(from).unwrap();
    let mut file = std::fs::File::create(to).unwrap();
    for part in bytes.chunks(bytes.len().div_ceil(parts)) {
        file.write_all(part).unwrap();
        file.flush().unwrap();
        std::thread::sleep(Duration::from_millis(60));
    }
}

/// A writer that adds steps in four ways: whole Parquet files, half-written ones, steps with markers, and
/// one file of lines that only grows.
fn write_run(source: &Path, run: &Path) {
    let step = |n: usize| source.join(format!("step_{n}/tokens.parquet"));
    write_slowly(&step(0), &run.join("parquet/step_0.parquet"), 1);
    write_slowly(&step(1), &run.join("parquet/step_1.parquet"), 4);
    let lines = source.join("lines.jsonl");
    std::fs::write(&lines, step_logs::json_lines(&step(2)) + step_logs::json_lines(&step(3)).trim_end())
        .unwrap();
    write_slowly(&lines, &run.join("lines/grown.jsonl"), 7);
    for n in [4, 5] {
        write_slowly(&step(n), &run.join(format!("marked/step_{n}/tokens.parquet")), 2);
        std::fs::write(run.join(format!("marked/step_{n}/STABLE")), "").unwrap();
    }
}

#[test]
fn the_last_report_is_that_of_the_finished_run_however_often_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    step_logs::parquet_steps(&root.join("source"), 6, 24);
    std::fs::create_dir_all(root.join("run/marked/step_4")).unwrap();
    let (source, run) = (root.join("source"), root.join("run"));
    let writer = std::thread::spawn(move || write_run(&source, &run));
    // Killed at whatever point, by whatever signal, and started again.
    let mut pause = 50;
    while !writer.is_finished() {
        let mut watch = program(root)
            .args(["watch", "run", "--report", "watched", "--every", "50ms", "-q", "--cache", "cache"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        pause = 50 + (pause * 7 + 131) % 900;
        // Not INT: where tests run in the background, it is ignored until the program asks for it.
        let name = if pause % 2 == 0 { "TERM" } else { "KILL" };
        signal(&watch, name);
        watch.wait().unwrap();
        let temporary = |f: &&PathBuf| f.extension().is_some_and(|e| e == "tmp");
        if root.join("watched").exists() && name == "TERM" {
            assert_eq!(tree(&root.join("watched")).keys().filter(temporary).count(), 0);
        }
    }
    writer.join().unwrap();
    let last = program(root)
        .args(["watch", "run", "--report", "watched", "--every", "100ms", "--until-idle", "300ms"])
        .args(["--cache", "cache"])
        .output()
        .unwrap();
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    let offline = program(root).args(["run", "--report", "offline", "-q"]).output().unwrap();
    assert!(offline.status.success(), "{}", String::from_utf8_lossy(&offline.stderr));
    assert_same(&root.join("watched"), &root.join("offline"));
    let said = String::from_utf8(last.stdout).unwrap();
    assert_eq!(said.lines().filter(|line| line.starts_with("step ")).count(), 6, "{said}");
}

fn watch_until_idle(root: &Path, more: &[&str]) -> Output {
    let fixed = ["watch", "run", "--report", "out", "--every", "50ms", "--until-idle", "150ms"];
    program(root).args(fixed).args(more).output().unwrap()
}

#[test]
fn what_is_half_written_is_waited_for_and_what_is_wrong_ends_the_watch() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let nothing = watch_until_idle(root, &[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("waiting: run: no such"), "{nothing:?}");
    let steps = step_logs::parquet_steps(&root.join("source"), 2, 24);
    std::fs::create_dir_all(root.join("run")).unwrap();
    let whole = std::fs::read(&steps[0]).unwrap();
    std::fs::write(root.join("run/step_0.parquet"), &whole[..whole.len() - 9]).unwrap();
    let half = watch_until_idle(root, &[]);
    assert_eq!(half.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&half.stderr).contains("not complete yet (no footer)"), "{half:?}");
    std::fs::write(root.join("run/step_0.parquet"), &whole).unwrap();
    std::fs::write(root.join("run/step_1.parquet"), &whole[..100]).unwrap();
    let one = watch_until_idle(root, &["--format-is-none"]);
    assert_eq!(one.status.code(), Some(2));
    let one = watch_until_idle(root, &["--fail-on", "totals.tokens>0"]);
    assert_eq!(one.status.code(), Some(1), "{}", String::from_utf8_lossy(&one.stderr));
    let summary = std::fs::read_to_string(root.join("out/summary.json")).unwrap();
    assert!(summary.contains("step_1.parquet: not complete yet"), "what is left out is said");
    // A log that cannot be read however long one waits.
    std::fs::write(root.join("run/other.jsonl"), "{\"prompt\": \"a\", \"completion\": \"b\"}\n").unwrap();
    assert_eq!(watch_until_idle(root, &[]).status.code(), Some(2));
}

#[test]
fn alerts_are_told_once_and_reach_the_command_as_data() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let sick = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/ward/flipped.parquet");
    std::fs::create_dir_all(root.join("run")).unwrap();
    std::fs::copy(&sick, root.join("run/run.parquet")).unwrap();
    let bell = "cat >> alerts.jsonl; echo >> alerts.jsonl; printf '%s|%s\\n' \"$STAPO_ALERT_KIND\" \"$STAPO_ALERT_CODE\" >> alerts.txt";
    let first = watch_until_idle(root, &["--on-alert", bell]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let told = std::fs::read_to_string(root.join("alerts.txt")).unwrap();
    let json = std::fs::read_to_string(root.join("alerts.jsonl")).unwrap();
    let alerts: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!alerts.is_empty());
    let text = |alert: &serde_json::Value, key: &str| alert[key].as_str().unwrap().to_owned();
    let expected: Vec<String> =
        alerts.iter().map(|alert| format!("{}|{}", text(alert, "kind"), text(alert, "code"))).collect();
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);
    // Started again, it has nothing new to say; as a gate, an alert that holds ends it.
    let again = watch_until_idle(root, &["--on-alert", bell]);
    assert!(again.status.success());
    let gate = watch_until_idle(root, &["--on-alert", bell, "--fail-on-alert"]);
    assert_eq!(gate.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(root.join("alerts.txt")).unwrap(), told);
    // Of another run, nothing was told yet.
    std::fs::rename(root.join("run"), root.join("other")).unwrap();
    let other = ["watch", "other", "--report", "out", "--every", "50ms", "--until-idle", "150ms"];
    assert!(program(root).args(other).args(["--on-alert", bell]).output().unwrap().status.success());
    assert_eq!(std::fs::read_to_string(root.join("alerts.txt")).unwrap(), told.repeat(2));
    std::fs::rename(root.join("other"), root.join("run")).unwrap();
    // A command that fails is said, and the watch goes on.
    std::fs::remove_file(root.join("out/live.js")).unwrap();
    let broken = watch_until_idle(root, &["--on-alert", "exit 3"]);
    assert!(broken.status.success());
    assert!(String::from_utf8_lossy(&broken.stderr).contains("--on-alert: ended with"), "{broken:?}");
}

/// Dead groups cost samples and change no verdict: nobody is woken for them.
#[test]
fn a_healthy_run_has_no_alert() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let healthy = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/grpo.parquet");
    std::fs::create_dir_all(root.join("run")).unwrap();
    std::fs::copy(&healthy, root.join("run/run.parquet")).unwrap();
    let gate = watch_until_idle(root, &["--fail-on-alert"]);
    assert!(gate.status.success(), "{}", String::from_utf8_lossy(&gate.stdout));
    let summary = std::fs::read_to_string(root.join("out/summary.json")).unwrap();
    assert!(summary.contains("\"dead_groups\""), "it is still in the report");
}

#[test]
fn a_signal_ends_it_with_everything_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    step_logs::parquet_steps(&root.join("run"), 2, 24);
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        use std::os::unix::process::ExitStatusExt;
        let _ = std::fs::remove_dir_all(root.join("out"));
        let mut watch = program(root)
            .args(["watch", "run", "--report", "out", "--every", "10s"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("a report", || root.join("out/live.js").exists());
        // A second one is kept out of the folder.
        let second = program(root).args(["watch", "run", "--report", "out"]).output().unwrap();
        assert_eq!(second.status.code(), Some(2));
        signal(&watch, name);
        assert_eq!(watch.wait().unwrap().signal(), Some(number));
        assert!(root.join("out/report.html").exists() && root.join("out/live.html").exists());
    }
}

#[test]
fn a_healthy_run_rings_no_bell_and_its_report_may_lie_inside_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let healthy = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/ward/easy.parquet");
    std::fs::create_dir_all(root.join("run")).unwrap();
    std::fs::copy(&healthy, root.join("run/run.parquet")).unwrap();
    let inside = ["watch", "run", "--report", "run/report", "--every", "50ms", "--until-idle", "300ms"];
    let watched = program(root).args(inside).arg("--fail-on-alert").output().unwrap();
    let said = String::from_utf8_lossy(&watched.stdout).into_owned();
    assert!(watched.status.success(), "{said}{}", String::from_utf8_lossy(&watched.stderr));
    assert!(!said.contains("alert "), "{said}");
    // Its cost is in the report all the same.
    let summary = std::fs::read_to_string(root.join("run/report/summary.json")).unwrap();
    assert!(summary.contains("dead_groups"));
    // Looked at again, the tables of the report are no logs of the run.
    let again = program(root).args(inside).output().unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
}

/// A step of which a part is written when the watch looks: it is printed once, when it is whole, and no gate
/// judges the part.
#[test]
fn half_a_step_is_neither_printed_nor_judged() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let steps = step_logs::parquet_steps(&root.join("source"), 2, 24);
    let [first, second] = [0, 1].map(|step| step_logs::json_lines(&steps[step]));
    let lines: Vec<&str> = second.split_inclusive('\n').collect();
    std::fs::create_dir_all(root.join("run")).unwrap();
    let log = root.join("run/grown.jsonl");
    std::fs::write(&log, format!("{first}{}", lines[..8].concat())).unwrap();
    let watch = program(root)
        .args(["watch", "run", "--report", "out", "--every", "2s", "--until-idle", "3s"])
        .args(["--fail-on", "steps.-1.responses<20"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("a first look", || root.join("out/live.js").exists());
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(lines[8..].concat().as_bytes()).unwrap();
    let ended = watch.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    let printed: Vec<&str> = said.lines().filter(|line| line.starts_with("step ")).collect();
    assert_eq!(printed.len(), 2, "{said}");
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(root.join("out/summary.json")).unwrap()).unwrap();
    let tokens = summary["steps"][1]["tokens"].as_u64().unwrap();
    let shown: Vec<&str> = printed[1].split_whitespace().collect();
    assert_eq!(shown[3].replace(',', ""), tokens.to_string(), "{said}");
    // What comes after a step was printed is said, too; and what has no value until the end is not passed.
    std::fs::write(&log, format!("{first}{}", lines[..8].concat())).unwrap();
    let grow = std::thread::spawn({
        let (root, log, rest) = (root.to_owned(), log.clone(), lines[8..].concat());
        move || {
            wait_for("half of it", || {
                std::fs::read_to_string(root.join("said")).is_ok_and(|said| said.contains("step 12 "))
            });
            std::fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(rest.as_bytes()).unwrap();
        }
    });
    let ended = program(root)
        .args(["watch", "run", "--report", "again", "--every", "200ms", "--until-idle", "4s"])
        .args(["--fail-on", "totals.clipped>0"])
        .stdout(std::fs::File::create(root.join("said")).unwrap())
        .output()
        .unwrap();
    grow.join().unwrap();
    let said = std::fs::read_to_string(root.join("said")).unwrap();
    assert!(said.contains("(more of it)"), "{said}");
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot be judged"));
}

/// A gate on a row that comes later does not end the watch: it is judged when the row is there, and at the end.
#[test]
fn a_gate_waits_for_a_place_that_is_not_there_yet() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let steps = step_logs::parquet_steps(&root.join("source"), 2, 24);
    let [first, second] = [0, 1].map(|step| step_logs::json_lines(&steps[step]));
    std::fs::create_dir_all(root.join("run")).unwrap();
    let log = root.join("run/grown.jsonl");
    std::fs::write(&log, &first).unwrap();
    let watch = |report: &str, gate: &str| {
        program(root)
            .args(["watch", "run", "--report", report, "--every", "300ms", "--until-idle", "3s"])
            .args(["--fail-on", gate])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let watched = watch("out", "steps.1.responses>0");
    wait_for("a first look", || root.join("out/live.js").exists());
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(second.as_bytes()).unwrap();
    let ended = watched.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("waiting: steps.1.responses>0: `steps` in summary.json").count(), 1, "{said}");
    assert!(said.contains("failed: steps.1.responses>0: steps.1.responses is "), "{said}");
    let ended = watch("again", "steps.7.responses>0").wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains(
            "failed: steps.7.responses>0: `steps` in summary.json of this run has no row 7 (2 rows"
        )
    );
}
