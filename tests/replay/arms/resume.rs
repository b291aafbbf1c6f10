//! A replay that is killed goes on to the same bits.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::Float32Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;

use super::changed_logs::replaced;
use super::support::{sample, small_log};
use super::{command, done, refused, result, with_model};

const OPTIONS: &str = "--objective random,dgg --seeds 2 --minibatch 4 --lr 1e-4 --tau-p 0.05 --holdout 0.25 --checkpoint-seconds 0 --explain -q";

/// Everything that has to be the same.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        // Speeds differ from start to start, and the page shows them.
        .filter(|(name, _)| name != "timing.json" && name != "replay.html")
        .collect();
    files.sort();
    files
}

#[test]
fn killed_at_any_moment_it_continues_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 3, 10, |batch| batch);
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let begun = std::time::Instant::now();
    done(with_model(&log, &whole, OPTIONS));
    let length = begun.elapsed();
    // Kills fall into every phase: reading, the first arm, checkpoints, later arms, the report. The
    // first ones come early, since a machine with less other work by now is done sooner.
    let mut kills = 0;
    for part in [0.02, 0.08, 0.05, 0.20, 0.25, 0.20, 0.25, 0.30] {
        let mut child = with_model(&log, &killed, OPTIONS).arg("--resume").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40) + length.mul_f64(part));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        kills += 1;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 2, "only {kills} kills");
    done({
        let mut last = with_model(&log, &killed, OPTIONS);
        last.arg("--resume");
        last
    });
    let (whole, killed) = (contents(&whole), contents(&killed));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&killed));
    for (a, b) in whole.iter().zip(&killed) {
        assert!(a.1 == b.1, "{} differs", a.0);
    }
    assert!(names(&whole).contains(&"random.seed2.parquet".into()));
}

#[test]
fn another_replay_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 3, 16, |batch| batch);
    let out = folder.path().join("out");
    let mut child = with_model(&log, &out, OPTIONS).spawn().unwrap();
    while !out.join(".replay-state/replay.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = with_model(&log, &out, OPTIONS).args(["--resume", "--kl-beta", "0.1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("another replay") && message.contains("kl_beta"), "{message}");
}

#[test]
fn threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 24, |batch| batch);
    let run = |threads: &str| {
        let out = folder.path().join(threads);
        let options = "--objective stapo --minibatch 8 --lr 1e-4 --tau-p 0.05 --holdout 0.25 -q --threads";
        done(with_model(&log, &out, &format!("{options} {threads}")));
        contents(&out)
    };
    assert!(run("1") == run("3"));
}

/// A replay that is stopped before it can end, so that its checkpoints stay.
fn stopped(log: &Path, out: &Path) {
    let mut child = with_model(log, out, OPTIONS).spawn().unwrap();
    while !out.join(".replay-state/replay.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_is_read_decides_whether_a_replay_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 3, 16, |batch| batch);
    let out = folder.path().join("out");
    stopped(&log, &out);
    let said = |extra: &[&str]| {
        let output = with_model(&log, &out, OPTIONS).arg("--resume").args(extra).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The reference in place of the old policy: another column behind the same name.
    let (code, message) = said(&["--map", "logprob=entropy"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("another replay"), "{message}");

    // The same file name and size, one advantage turned.
    let original = std::fs::read(&log).unwrap();
    small_log(folder.path(), 3, 16, |batch| {
        let advantages = batch.column_by_name("advantage").unwrap().as_primitive::<Float32Type>();
        let turned = advantages.values().iter().enumerate().map(|(i, a)| if i == 5 { 0.5 - a } else { *a });
        replaced(&batch, "advantage", Arc::new(Float32Array::from(turned.collect::<Vec<_>>())))
    });
    let (code, message) = said(&[]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("another replay") && message.contains("content"), "{message}");

    // Another place, the same log: it goes on.
    std::fs::write(&log, original).unwrap();
    let (code, message) = said(&[]);
    assert_eq!(code, Some(0), "{message}");
}

#[test]
fn another_model_is_not_continued_with() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 3, 16, |batch| batch);
    let model = folder.path().join("model");
    std::fs::create_dir(&model).unwrap();
    for entry in std::fs::read_dir(sample("model")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), model.join(entry.file_name())).unwrap();
    }
    let out = folder.path().join("out");
    let with = |extra: &[&str]| {
        let mut command = command(&log, &out, OPTIONS);
        command.arg("--model").arg(&model).args(extra);
        command
    };
    let mut child = with(&[]).spawn().unwrap();
    while !out.join(".replay-state/replay.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // One bit of one weight.
    let weights = model.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let output = with(&["--resume"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("model.safetensors"), "{message}");
}

#[test]
fn a_time_limit_leaves_what_is_done_and_can_be_gone_on_from() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 3, 10, |batch| batch);
    let (whole, limited) = (folder.path().join("whole"), folder.path().join("limited"));
    done(with_model(&log, &whole, OPTIONS));
    let output = done({
        let mut command = with_model(&log, &limited, OPTIONS);
        command.args(["--max-minutes", "0.00001"]);
        command
    });
    let found = result(&limited);
    let unfinished = found["unfinished"].as_array().unwrap();
    assert_eq!(unfinished.len() + found["arms"].as_array().unwrap().len(), 4);
    assert!(!unfinished.is_empty());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("--resume") && text.contains("The time was up"), "{text}");
    assert!(limited.join("replay.html").exists() && limited.join(".replay-state").exists());
    // The same command goes on, to the same bits as without a limit.
    done({
        let mut command = with_model(&log, &limited, OPTIONS);
        command.arg("--resume");
        command
    });
    assert!(contents(&whole) == contents(&limited));
    assert!(!limited.join(".replay-state").exists());
}

#[test]
fn a_fit_that_the_time_was_too_short_for_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 2, 10, |batch| batch);
    let (whole, limited) = (folder.path().join("whole"), folder.path().join("limited"));
    let options = "--objective dapo --surrogate-updates 6 --minibatch 8 --lr 1e-4 -q";
    let with = |out: &Path, more: &[&str]| {
        let mut command = command(&log, out, options);
        command.args(more);
        command
    };
    done(with(&whole, &[]));
    let message = refused(with(&limited, &["--max-minutes", "0.00001"]));
    assert!(message.contains("surrogate") && message.contains("--resume"), "{message}");
    // Somewhere in the middle, on a machine of any speed.
    let _ = with(&limited, &["--resume", "--max-minutes", "0.01"]).output().unwrap();
    done(with(&limited, &["--resume"]));
    assert!(contents(&whole) == contents(&limited));
}
