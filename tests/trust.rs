//! What a log says of itself is checked: nothing wrong is read in silence, and a defect of ours is
//! never a result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use assert_cmd::Command;
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{
    Column, IngestSettings, Run, Silent, Sink, TokenBatch, read_all, scan, scan_in_order,
};
use support::{float_lists, floats, int_lists, ints, lengths, sample, write_parquet};

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
        assert_eq!(lengths(&whole), [4, 6, 4], "{name}");
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
fn what_would_take_too_much_memory_is_refused_with_the_reason() {
    for name in ["page_size", "long_row", "long_texts", "many_texts", "same_texts", "begun_texts"] {
        let message = refused(&data(&format!("{name}.parquet")));
        let told = message.contains("more memory than 500 MB") || message.contains("texts of up to");
        assert!(told, "{name}: {message}");
    }
}

/// 150 MB of prompts, each with an answer of two tokens.
#[test]
fn long_prompts_of_short_answers_are_read_a_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prompts.parquet");
    let rows = 1500;
    let prompts: Vec<String> = (0..rows).map(|i| format!("{i:05}").repeat(20_000)).collect();
    let columns = vec![
        ("step", ints(&vec![0; rows])),
        ("prompt_text", Arc::new(StringArray::from(prompts)) as ArrayRef),
        ("token_ids", int_lists(&vec![&[1, 2][..]; rows])),
        ("logprob", float_lists(&vec![&[-0.5, -1.0][..]; rows])),
    ];
    write_parquet(&path, columns, rows);
    let batches = read(&path).unwrap();
    assert_eq!(lengths(&batches), vec![2; rows]);
    assert!(batches.iter().all(|batch| batch.len() < 500), "{} batches", batches.len());
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

#[cfg(target_os = "linux")]
#[test]
fn a_tight_limit_of_the_shell_is_kept() {
    let log = sample("grpo.parquet");
    let program = assert_cmd::cargo::cargo_bin("stapo-analyze");
    let script = format!("ulimit -v 700000; exec {} {} -q", program.display(), log.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|c| c == 0 || c == 2), "{:?} {said}", output.status);
    let hostile = data("long_row.parquet");
    let script = format!("ulimit -v 700000; exec {} check {} -q", program.display(), hostile.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("more memory than"), "{said}");
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
fn a_trace_whose_paths_repeat_each_other_endlessly_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces.jsonl");
    let chain = 20_000;
    let mut nodes = vec![r#"{"token_ids":[1],"mask":[0]}"#.to_owned()];
    nodes.extend((0..chain).map(|n| format!(r#"{{"parent":{n},"token_ids":[1],"mask":[1]}}"#)));
    // A leaf at each message of the chain.
    nodes.extend((0..chain).map(|n| format!(r#"{{"parent":{n},"token_ids":[2],"mask":[1]}}"#)));
    fs::write(&path, format!(r#"{{"id":"e","task":{{"key":"t"}},"nodes":[{}]}}"#, nodes.join(","))).unwrap();
    let started = std::time::Instant::now();
    let message = refused(&path);
    assert!(message.contains("paths repeat"), "{message}");
    assert!(started.elapsed().as_secs() < 20);
}

/// The most memory that a command held, in megabytes.
#[cfg(target_os = "linux")]
fn peak_memory(arguments: &[&str]) -> (u64, i32) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("stapo-analyze"))
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|v| v.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
        most = most.max(peak / 1024);
        if let Some(status) = child.try_wait().unwrap() {
            return (most, status.code().unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn small_hostile_files_take_little_memory() {
    let texts = ["long_texts", "many_texts", "same_texts", "begun_texts"];
    for name in ["page_size", "long_row", "children", "dictionary_values"].into_iter().chain(texts) {
        let path = data(&format!("{name}.parquet"));
        let (peak, code) = peak_memory(&[path.to_str().unwrap(), "-q"]);
        assert!(peak < 500 && code == 2, "{name}: {peak} MB, exit {code}");
    }
}

#[test]
fn a_tokenizer_that_no_one_could_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    // Three sparse gigabytes that take no room on the disk.
    fs::File::create(&tokenizer).unwrap().set_len(3 << 30).unwrap();
    let log = sample("grpo.parquet");
    let (code, said) = program(&[log.to_str().unwrap(), "--tokenizer", tokenizer.to_str().unwrap(), "-q"]);
    assert!(code == 2 && said.contains("tokenizer of 3221 MB"), "{said}");
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

/// Rows of zeros, one a row group: little to store, much to hold.
#[cfg(target_os = "linux")]
fn large_rows(path: &Path, rows: usize, tokens: usize) {
    use arrow_array::{
        RecordBatch,
        builder::{Float32Builder, Int32Builder, ListBuilder},
    };
    let floats_of = |value: f32| -> ArrayRef {
        let mut builder = ListBuilder::new(Float32Builder::new());
        for _ in 0..rows {
            builder.values().append_slice(&vec![value; tokens]);
            builder.append(true);
        }
        Arc::new(builder.finish())
    };
    let mut ids = ListBuilder::new(Int32Builder::new());
    for _ in 0..rows {
        ids.values().append_slice(&vec![7; tokens]);
        ids.append(true);
    }
    let batch = RecordBatch::try_from_iter([
        ("step", ints(&vec![0; rows])),
        ("group_id", ints(&(0..rows as i64).collect::<Vec<_>>())),
        ("advantage", floats(&vec![1.0; rows])),
        ("token_ids", Arc::new(ids.finish()) as ArrayRef),
        ("logprob", floats_of(-1.0)),
        ("entropy", floats_of(1.0)),
    ]);
    support::write_batch(path, &batch.unwrap(), 1);
}

/// Every worker that had read a large response kept what that took: 1.5 million tokens in each of 16
/// rows were 3.3 GB with 16 workers, and 0.4 GB with one.
#[cfg(target_os = "linux")]
#[test]
fn many_workers_hold_no_more_of_large_rows_than_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    large_rows(&path, 8, 400_000);
    let peak = |threads: &str| {
        let (peak, code) = peak_memory(&[path.to_str().unwrap(), "-q", "--threads", threads]);
        assert_eq!(code, 0);
        peak
    };
    let (one, many) = (peak("1"), peak("12"));
    assert!(many < 500 && many < one + 150, "{many} MB with twelve workers, {one} MB with one");
}

/// Every step has a place in the result: a small file with very many would take gigabytes.
#[test]
fn more_steps_than_memory_is_for_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    let steps: Vec<i64> = (0..1500).collect();
    let rows = vec![&[-0.5_f32, -1.5][..]; steps.len()];
    let columns = vec![
        ("step", ints(&steps)),
        ("logprob", float_lists(&rows)),
        ("entropy", float_lists(&vec![&[0.5_f32, 1.5][..]; steps.len()])),
        ("advantage", floats(&vec![1.0; steps.len()])),
    ];
    write_parquet(&path, columns, 400);
    let run =
        |memory: &str| program(&[path.to_str().unwrap(), "-q", "--threads", "2", "--max-memory", memory]);
    let (code, said) = run("20M");
    assert!(code == 2 && said.contains("run.parquet: 1,001 steps or more would take"), "{said}");
    assert!(said.contains("--max-memory"), "{said}");
    assert_eq!(run("100M").0, 0);
}
