//! A run that is stopped, at whatever point, leaves nothing half-done and nothing temporary.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::small_log;

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn stop(child: &Child, signal: &str) {
    let _ = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

fn temporary(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "tmp")).collect()
}

/// A page is there only with all that it shows.
fn check(folder: &Path, status: ExitStatus, whole: usize, what: &str) {
    assert_eq!(temporary(folder), Vec::<PathBuf>::new(), "{what}");
    if folder.join("report.html").exists() {
        assert!(files(folder).len() + 1 >= whole, "{what}: {status:?}");
        let summary = std::fs::read(folder.join("summary.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&summary).unwrap();
    } else {
        assert!(!status.success(), "{what}");
    }
}

#[test]
fn a_report_is_whole_or_not_there_wherever_it_is_stopped() {
    let root = tempfile::tempdir().unwrap();
    let log = small_log(root.path(), 2, 64, |batch| batch);
    let report = |name: &str| root.path().join(name);
    let arguments = |folder: &Path| -> Vec<String> {
        vec![log.display().to_string(), "--report".into(), folder.display().to_string(), "-q".into()]
    };
    let run = |folder: &Path| start(&arguments(folder).iter().map(String::as_str).collect::<Vec<_>>());
    let whole = report("whole");
    let started = Instant::now();
    assert!(run(&whole).wait().unwrap().success());
    let (takes, count) = (started.elapsed(), files(&whole).len());
    for (point, signal) in (1..=9).zip(["TERM", "INT", "HUP"].iter().cycle()) {
        let folder = report(&format!("stopped-{point}"));
        let mut child = run(&folder);
        std::thread::sleep(takes * point / 9);
        stop(&child, signal);
        let status = child.wait().unwrap();
        check(&folder, status, count, &format!("{signal} at {point}/9"));
        // The next run into the same folder is whole.
        if point == 5 {
            assert!(run(&folder).wait().unwrap().success());
            check(&folder, ExitStatus::default(), count, "again");
        }
    }
    // Nothing can be done about this one, but the next run clears up after it.
    let folder = report("killed");
    let mut child = run(&folder);
    std::thread::sleep(takes / 2);
    stop(&child, "KILL");
    child.wait().unwrap();
    std::fs::create_dir_all(folder.join("charts")).unwrap();
    std::fs::write(folder.join("charts/.stapo-left.tmp"), "half").unwrap();
    assert!(run(&folder).wait().unwrap().success());
    check(&folder, ExitStatus::default(), count, "after a kill");
}

#[test]
fn a_converted_file_is_whole_or_not_there() {
    let root = tempfile::tempdir().unwrap();
    let log = support::sample("grpo.parquet");
    let target = root.path().join("out/long.parquet");
    let convert =
        || start(&["convert", log.to_str().unwrap(), "-o", target.to_str().unwrap(), "--long", "-q"]);
    for wait in [60, 150, 400] {
        let mut child = convert();
        std::thread::sleep(Duration::from_millis(wait));
        stop(&child, "TERM");
        let status = child.wait().unwrap();
        assert_eq!(temporary(root.path()), Vec::<PathBuf>::new());
        assert_eq!(target.exists(), status.success());
        let _ = std::fs::remove_file(&target);
    }
}

#[test]
fn two_writers_do_not_mix() {
    let root = tempfile::tempdir().unwrap();
    let log = small_log(root.path(), 2, 64, |batch| batch);
    let folder = root.path().join("report");
    let both: Vec<Child> =
        (0..2).map(|_| start(&[log.to_str().unwrap(), "--report", folder.to_str().unwrap(), "-q"])).collect();
    let ends: Vec<_> = both.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    assert!(ends.iter().any(|end| end.status.success()));
    for end in ends.iter().filter(|end| !end.status.success()) {
        let said = String::from_utf8_lossy(&end.stderr);
        assert!(said.contains("another stapo-analyze is writing"), "{said}");
    }
    assert!(folder.join("report.html").exists() && temporary(&folder).is_empty());
}
