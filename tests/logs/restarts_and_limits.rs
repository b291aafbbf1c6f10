//! A logger that starts again into the same folder, matches that cannot be looked at, and large
//! responses that several workers meet at once.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::{float_lists, floats, int_lists, ints, lengths};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{IngestSettings, Limits, Run, read_all};

/// The log of one step, as our loggers name it.
fn step_file(folder: &Path, step: i64, run_id: Option<&str>) -> PathBuf {
    let columns = [
        ("step", ints(&[step; 2])),
        ("sample_id", ints(&[2 * step, 2 * step + 1])),
        ("advantage", floats(&[1.0, -1.0])),
        ("token_ids", int_lists(&[&[1, 2][..]; 2])),
        ("logprob", float_lists(&[&[-1.0, -2.0][..]; 2])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = folder.join(format!("step_{step}.parquet"));
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
    if let Some(run_id) = run_id {
        writer.append_key_value_metadata(KeyValue::new("run_id".into(), run_id.to_owned()));
    }
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

/// Six steps of a run, then four of one that starts again.
fn restarted(folder: &Path, run_ids: [Option<&str>; 2]) {
    (0..6).for_each(|step| drop(step_file(folder, step, run_ids[0])));
    (0..4).for_each(|step| drop(step_file(folder, step, run_ids[1])));
}

fn open(folder: &Path, pool: bool) -> Result<Run, Error> {
    Run::open(&[folder.to_owned()], &IngestSettings { pool, ..IngestSettings::default() })
}

#[test]
fn a_stale_tail_of_another_run_is_named_and_not_pooled() {
    let folder = tempfile::tempdir().unwrap();
    restarted(folder.path(), [Some("first"), Some("second")]);
    let error = open(folder.path(), false).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::SeveralRuns { .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("2 files from step 4 on are of another run") && said.contains("started again"),
        "{said}"
    );
    assert!(error.hint().unwrap().contains("--pool"));
    assert!(open(folder.path(), true).is_ok());
    // The same run that went on is one run.
    restarted(folder.path(), [Some("first"), Some("first")]);
    assert!(open(folder.path(), false).unwrap().notes.iter().all(|note| !note.contains("older")));
    // What some files leave out the others say; what they do not agree on nobody says.
    restarted(folder.path(), [Some("first"), None]);
    assert_eq!(open(folder.path(), false).unwrap().metadata["run_id"], "first");
    restarted(folder.path(), [Some("first"), Some("second")]);
    assert!(!open(folder.path(), true).unwrap().metadata.contains_key("run_id"));
}

#[test]
fn a_stale_tail_without_a_name_of_its_run_is_told_by_its_age() {
    let folder = tempfile::tempdir().unwrap();
    restarted(folder.path(), [None, None]);
    let now = SystemTime::now();
    let written = |step: i64, seconds: u64| {
        let file = fs::File::options().write(true).open(folder.path().join(format!("step_{step}.parquet")));
        file.unwrap().set_modified(now - Duration::from_secs(seconds)).unwrap();
    };
    (0..6_i64).for_each(|step| written(step, 1_000 - 10 * step.unsigned_abs()));
    assert!(open(folder.path(), false).unwrap().notes.iter().all(|note| !note.contains("older")));
    (0..4_i64).for_each(|step| written(step, 500 - 10 * step.unsigned_abs()));
    let notes = open(folder.path(), false).unwrap().notes;
    let note = notes.iter().find(|note| note.contains("older than all files before them"));
    assert!(
        note.is_some_and(|n| n.contains("2 files from step 4 on") && n.contains("step_4.parquet")),
        "{notes:?}"
    );
}

/// Also where the tests run as the superuser, who may look into any folder: then as nobody.
#[cfg(unix)]
#[test]
fn a_match_that_cannot_be_looked_at_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let open_to_all = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    open_to_all(folder.path());
    let program = folder.path().join("stapo-analyze");
    fs::copy(assert_cmd::cargo::cargo_bin("stapo-analyze"), &program).unwrap();
    open_to_all(&program);
    for name in ["a", "b"] {
        let inner = folder.path().join(name);
        fs::create_dir(&inner).unwrap();
        open_to_all(&inner);
        step_file(&inner, if name == "a" { 1 } else { 2 }, None);
    }
    let check = || {
        let mut command = std::process::Command::new(&program);
        command.args(["check", "-q"]).arg(folder.path().join("*/*.parquet")).current_dir(folder.path());
        let user = std::process::Command::new("id").arg("-u").output().unwrap().stdout;
        if user.trim_ascii() == b"0" {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = check();
    assert_eq!(code, Some(0), "{said}");
    let locked = folder.path().join("b");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let (code, said) = check();
    open_to_all(&locked);
    assert!(code == Some(2) && said.contains("denied") && said.contains("/b"), "{code:?} {said}");
}

/// Lines that take far more than a worker's share, one a file.
fn large_lines(folder: &Path, files: usize, tokens: usize) -> Vec<PathBuf> {
    let list = |value: &str| vec![value; tokens].join(",");
    let (ids, logprobs) = (list("11"), list("-1.25"));
    (0..files)
        .map(|file| {
            let path = folder.join(format!("rank_{file}.jsonl"));
            let row = format!(
                r#"{{"step":0,"sample_id":{file},"advantage":1.0,"token_ids":[{ids}],"logprob":[{logprobs}]}}"#
            );
            fs::write(&path, row + "\n").unwrap();
            path
        })
        .collect()
}

#[test]
fn large_responses_of_many_files_are_read_whatever_the_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let paths = large_lines(folder.path(), 4, 500_000);
    for threads in [1, 4] {
        let settings = IngestSettings { threads, ..IngestSettings::default() };
        assert_eq!(lengths(&read_all(&paths, &settings).unwrap()), [500_000; 4], "{threads} threads");
    }
    let little = IngestSettings { threads: 4, limits: Limits::new(50_000_000), ..IngestSettings::default() };
    assert!(matches!(read_all(&paths, &little).map(|_| ()), Err(Error::TooLarge { .. })));
}
