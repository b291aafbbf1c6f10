//! What a log says of itself is checked: nothing wrong is read in silence, and a defect of ours is
//! never a result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;
mod asked_steps;
mod bounds;
mod rows;
mod twice;
mod untrained_ends;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{float_lists, floats, int_lists, ints, lengths, sample, write_parquet};
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use assert_cmd::Command;
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{
    Column, IngestSettings, Run, Silent, Sink, TokenBatch, read_all, scan, scan_in_order,
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trust").join(name)
}

fn read(path: &Path) -> Result<Vec<TokenBatch>, Error> {
    read_all(&[path.to_owned()], &IngestSettings::default())
}

fn refused(path: &Path) -> String {
    let error = read(path).map(|_| ()).unwrap_err();
    assert!(!matches!(error, Error::Internal { .. }), "{error}");
    assert!(error.hint().is_some(), "{error}");
    error.to_string()
}

fn program(arguments: &[&str]) -> (i32, String) {
    let output = Command::cargo_bin("stapo-analyze").unwrap().args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), said.into_owned())
}

/// Counts tokens, and panics on the batch that holds a step.
struct Fragile(Option<i64>);

impl Sink for Fragile {
    fn accept(&mut self, batch: &TokenBatch) -> Result<(), Error> {
        assert!(!batch.responses.step.iter().any(|s| Some(*s) == self.0), "a defect of ours");
        Ok(())
    }
}

#[test]
fn a_panic_of_ours_is_an_internal_error_and_never_a_result() {
    let run = Run::open(&[sample("grpo.parquet")], &IngestSettings::default()).unwrap();
    assert!(scan(&run, &[Column::Logprob], &Silent, || Fragile(None)).is_ok());
    for step in [0, 60] {
        let error = scan(&run, &[Column::Logprob], &Silent, || Fragile(Some(step))).map(|_| ()).unwrap_err();
        assert!(matches!(&error, Error::Internal { message } if message == "a defect of ours"), "{error}");
    }
    let making = scan(&run, &[Column::Logprob], &Silent, || -> Fragile { panic!("cannot be made") });
    assert!(matches!(making.map(|_| ()), Err(Error::Internal { .. })));
    let consumed = scan_in_order(&run, &[Column::Logprob], &Silent, &mut |_| panic!("a defect of ours"));
    assert!(matches!(consumed.map(|_| ()), Err(Error::Internal { .. })));
}

#[test]
fn one_entry_too_few_or_too_many_is_refused_with_its_row() {
    let short = refused(&data("short.jsonl"));
    assert!(short.contains("`entropy` has 7") && short.contains("row "), "{short}");
    let long = refused(&data("u_long.jsonl"));
    assert!(long.contains("row 3") && long.contains("`logprob` has 5"), "{long}");
}

#[test]
fn lists_of_unequal_length_are_refused_in_every_dialect() {
    let folder = tempfile::tempdir().unwrap();
    // Name, a row in the dialect, the list that is changed.
    let dialects = [
        ("canonical", r#"{"step":0,"token_id":[1,2,3,4],"logprob":L,"entropy":[1,1,1,1],"advantage":1.0}"#),
        (
            "unknown",
            r#"{"step":0,"input_ids":[1,2,3,4],"old_log_probs":L,"entropys":[1,1,1,1],"advantage":1.0}"#,
        ),
        (
            "verl",
            r#"{"input":"a","output":"b","gts":"c","score":1.0,"step":0,"responses":[1,2,3,4],"old_log_probs":L,"entropy":[1,1,1,1]}"#,
        ),
        (
            "trl",
            r#"{"step":0,"prompt":"a","completion":"b","advantage":1.0,"completion_ids":[1,2,3,4],"old_per_token_logps":L,"entropies":[1,1,1,1]}"#,
        ),
        (
            "open-instruct",
            r#"{"prompt_tokens":[9],"prompt_idx":0,"finish_reason":"stop","step":0,"response_tokens":[1,2,3,4],"logprobs":L,"entropy":[1,1,1,1]}"#,
        ),
        (
            "logging-board",
            r#"{"step":0,"response_tokens":["a","b","c","d"],"logprobs":L,"ref_logprobs":[-1,-1,-1,-1],"entropy":[1,1,1,1]}"#,
        ),
        (
            "tinker",
            r#"{"prompt_tokens":[9],"iteration":0,"sampled_tokens":[1,2,3,4],"logprobs":L,"entropy":[1,1,1,1]}"#,
        ),
        (
            "miles",
            r#"{"sample_index":0,"response_length":4,"total_length":5,"tokens":[9,1,2,3,4],"loss_mask":[1,1,1,1],"rollout_log_probs":L,"entropy":[1,1,1,1]}"#,
        ),
        (
            "prime-rl",
            r#"{"schema_version":1,"step":0,"token_ids":[1,2,3,4],"trainer_logprobs":L,"inference_logprobs":[-1,-1,-1,-1],"entropy":[1,1,1,1],"loss_mask":[false,true,true,true]}"#,
        ),
        (
            "nemo",
            r#"{"token_ids":[[1,2,3,4]],"token_loss_mask":[[0,1,1,1]],"prev_logprobs":[L],"generation_logprobs":[[-1,-1,-1,-1]],"rewards":[1.0]}"#,
        ),
    ];
    for (name, row) in dialects {
        let path = folder.path().join(format!("{name}.jsonl"));
        let with = |list: &str| {
            fs::write(&path, format!("{}\n{}\n", row.replace('L', "[-1,-2,-3,-4]"), row.replace('L', list)))
                .unwrap();
            read(&path)
        };
        with("[-1,-2,-3,-4]").unwrap_or_else(|e| panic!("{name}: {e}"));
        for wrong in ["[-1,-2,-3]", "[-9,-1,-2,-3,-4]"] {
            let error = with(wrong).map(|_| ()).expect_err(name);
            assert!(!matches!(error, Error::Internal { .. }), "{name}: {error}");
        }
    }
}

#[test]
fn a_row_that_lacks_one_entry_everywhere_is_not_taken_for_another_convention() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.parquet");
    let (full, less): (&[f32], &[f32]) = (&[-1.0; 4], &[-1.0; 3]);
    let columns = vec![
        ("token_ids", int_lists(&[&[1, 2, 3, 4], &[1, 2, 3, 4]])),
        ("logprob", float_lists(&[full, less])),
    ];
    write_parquet(&path, columns, 1);
    let message = refused(&path);
    assert!(message.contains("row 1") && message.contains("one value less"), "{message}");
}

#[test]
fn responses_cut_between_files_are_joined_whole_or_not_at_all() {
    for name in ["cut1", "cut2", "cut3", "cut4"] {
        let whole = read(&data(name)).unwrap();
        // The last three tokens of the second are not trained on there and repeat one id: padding.
        let second = if name == "cut4" { 3 } else { 6 };
        assert_eq!(lengths(&whole), [4, second, 4], "{name}");
        let run = Run::open(&[data(name)], &IngestSettings::default()).unwrap();
        let trained = scan(&run, Column::ALL, &Silent, || Trained(0)).unwrap();
        let trained: usize = trained.sinks.iter().map(|s| s.0).sum();
        assert_eq!(trained, if name == "cut4" { 10 } else { 14 }, "{name}");
    }
    // Two ranks number their samples each for itself.
    assert_eq!(lengths(&read(&data("cut5")).unwrap()), [4, 4]);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("ranks.parquet");
    let (code, said) = program(&["convert", data("cut5").to_str().unwrap(), "-o", target.to_str().unwrap()]);
    assert!(code == 0 && said.contains("2 responses, 8 tokens"), "{said}");
}

struct Trained(usize);

impl Sink for Trained {
    fn accept(&mut self, batch: &TokenBatch) -> Result<(), Error> {
        let all = batch.token_count();
        self.0 += batch.mask().map_or(all, |m| m.iter().filter(|f| **f == 1).count());
        Ok(())
    }
}

#[test]
fn a_step_that_is_none_is_never_taken_for_step_0() {
    let message = refused(&data("float_step.parquet"));
    assert!(message.contains("row 0") && message.contains("`step`") && message.contains("0.5"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.parquet");
    let columns: [(ArrayRef, &str); 4] = [
        (Arc::new(StringArray::from(vec!["3", "later"])), "`later`"),
        (Arc::new(UInt64Array::from(vec![3, u64::MAX])), "not a whole number"),
        (Arc::new(Float64Array::from(vec![3.0, f64::NAN])), "not a whole number"),
        (Arc::new(UInt64Array::from(vec![Some(3), None])), "--map step="),
    ];
    for (steps, expected) in columns {
        let rows = vec![
            ("step", steps),
            ("token_ids", int_lists(&[&[1, 2], &[1, 2]])),
            ("logprob", float_lists(&[&[-1.0; 2], &[-1.0; 2]])),
        ];
        write_parquet(&path, rows, 8);
        let message = refused(&path);
        assert!(message.contains("row 1") && message.contains(expected), "{message}");
    }
    // The name of the file says it for rows that do not.
    let named = folder.path().join("step_7.parquet");
    let steps: ArrayRef = Arc::new(UInt64Array::from(vec![Some(3), None]));
    let rows = vec![
        ("step", steps),
        ("token_ids", int_lists(&[&[1, 2], &[1, 2]])),
        ("logprob", float_lists(&[&[-1.0; 2], &[-1.0; 2]])),
    ];
    write_parquet(&named, rows, 8);
    let steps: Vec<i64> = read(&named).unwrap().iter().flat_map(|b| b.responses.step.clone()).collect();
    assert_eq!(steps, [3, 7]);
}

fn masked(folder: &Path, mask: ArrayRef) -> (Vec<u8>, Vec<String>) {
    let path = folder.join("mask.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[0, 2, 3], &[0, 2, 3]])),
        ("logprob", float_lists(&[&[-1.0; 3], &[-1.0; 3]])),
        ("loss_mask", mask),
    ];
    // A row group each: what a batch holds must not change how the column is read.
    write_parquet(&path, columns, 1);
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    let flags = read(&path).unwrap().iter().flat_map(|b| b.mask().unwrap().to_vec()).collect();
    (flags, run.notes)
}

#[test]
fn a_mask_means_the_same_in_all_of_its_batches_and_says_what() {
    let folder = tempfile::tempdir().unwrap();
    let (flags, notes) = masked(folder.path(), float_lists(&[&[1.0, 0.0, 0.5], &[2.0, 0.0, 1.0]]));
    assert_eq!(flags, [1, 0, 1, 1, 0, 1]);
    assert!(notes.iter().any(|n| n.contains("weights") && n.contains("above 0")), "{notes:?}");
    let (flags, notes) = masked(folder.path(), int_lists(&[&[0, 2, 3], &[0, -100, 3]]));
    assert_eq!(flags, [1, 1, 1, 1, 0, 1]);
    assert!(notes.iter().any(|n| n.contains("labels")), "{notes:?}");
    let (flags, notes) = masked(folder.path(), int_lists(&[&[1, 0, 1], &[1, 1, 1]]));
    assert_eq!(flags, [1, 0, 1, 1, 1, 1]);
    assert!(!notes.iter().any(|n| n.contains("loss_mask")), "{notes:?}");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_not_analysed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    let write = |value: f32| {
        let columns =
            vec![("token_ids", int_lists(&[&[1, 2, 3]])), ("logprob", float_lists(&[&[value, -1.0, -1.0]]))];
        write_parquet(&path, columns, 8);
    };
    write(-1.0);
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    assert!(scan(&run, Column::ALL, &Silent, || Fragile(None)).is_ok());
    // Before a unit is opened.
    std::thread::sleep(std::time::Duration::from_millis(20));
    write(-2.0);
    assert!(matches!(scan(&run, Column::ALL, &Silent, || Fragile(None)), Err(Error::Changed { .. })));
    // While it is read.
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    let changed = scan_in_order(&run, Column::ALL, &Silent, &mut |_| {
        fs::write(&path, "something else").unwrap();
        Ok(())
    });
    assert!(matches!(changed.map(|_| ()), Err(Error::Changed { .. })));
}

#[test]
fn bytes_that_contradict_each_other_are_refused() {
    let cases = [
        ("rows_in_footer", "announces 7 rows"),
        ("rows_of_group", "rows"),
        ("type_of_column", "type"),
        ("children", "more parts"),
        ("level_above", "level above"),
        ("split_length", "length"),
        ("dictionary_values", "dictionary"),
    ];
    for (name, expected) in cases {
        let message = refused(&data(&format!("{name}.parquet")));
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn different_runs_are_not_pooled_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str, logprob: f32| {
        let path = folder.path().join(name);
        let columns = vec![
            ("step", ints(&[0; 4])),
            ("group_id", ints(&[0, 0, 1, 1])),
            ("sample_id", ints(&[0, 1, 2, 3])),
            ("advantage", floats(&[1.0, -1.0, 1.0, -1.0])),
            ("token_ids", int_lists(&[&[1, 2][..]; 4])),
            ("logprob", float_lists(&[&[logprob, -1.0][..]; 4])),
        ];
        write_parquet(&path, columns, 8);
        path
    };
    let paths = [log("a.parquet", -1.0), log("b.parquet", -2.0)];
    let error = read_all(&paths, &IngestSettings::default()).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::SeveralRuns { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--pool"));
    let pooled = IngestSettings { pool: true, ..Default::default() };
    assert_eq!(lengths(&read_all(&paths, &pooled).unwrap()).len(), 8);
    // Ranks of one run number their samples each for itself.
    let ranks = [log("rank_0.parquet", -1.0), log("rank_1.parquet", -2.0)];
    assert!(read_all(&ranks, &IngestSettings::default()).is_ok());
    // Metadata tell before anything is read.
    let runs = [sample("grpo.parquet"), sample("stapo.parquet")];
    let error = Run::open(&runs, &IngestSettings::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("`algorithm` is `grpo` and `stapo`"), "{error}");
}

#[test]
fn versions_by_token_are_read_and_tell_how_old_a_response_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("versions.jsonl");
    let row = |name: &str| {
        format!(
            r#"{{"step":9,"input_ids":[5,1,2,3],"loss_mask":[0,1,1,1],"logprobs":[0,-1,-2,-3],"{name}":[-1,7,7,8]}}"#
        )
    };
    for name in ["versions", "weight_versions"] {
        fs::write(&path, row(name) + "\n").unwrap();
        let batches = read(&path).unwrap();
        assert_eq!(batches[0].tokens.ints.get(Column::TokenVersion).unwrap()[..], [7, 7, 8], "{name}");
        assert_eq!(batches[0].responses.ints.get(Column::PolicyVersion).unwrap(), &[Some(7)], "{name}");
    }
}

#[test]
fn what_other_readers_refuse_is_refused() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data("others_refuse")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 15);
    for path in files {
        let message = refused(&path);
        assert!(message.contains(path.to_str().unwrap()), "{message}");
        assert!(message.contains("cannot be right") || message.contains("a page has"), "{message}");
    }
}
