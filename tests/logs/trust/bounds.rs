//! Whatever a file says, memory and time are bounded, or it is refused with the reason.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use stapo_analyze::ingest::{Column, TokenBatch};

use super::support::{float_lists, floats, int_lists, ints, lengths, sample, write_batch, write_parquet};
use super::{data, program, read, refused};

#[test]
fn what_would_take_too_much_memory_is_refused_with_the_reason() {
    for name in ["page_size", "long_row", "long_texts", "many_texts", "same_texts", "begun_texts"] {
        let message = refused(&data(&format!("{name}.parquet")));
        let told = message.contains("more memory than 500 MB")
            || message.contains("too much of 500 MB")
            || message.contains("texts of up to");
        assert!(told, "{name}: {message}");
    }
}

/// The prompt on every row of a long log: little to store, since each row group has a dictionary of its
/// own, and 320 MB where a batch writes those of several row groups out.
#[test]
fn long_texts_on_every_row_of_a_long_log_are_read_a_row_group_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let (responses, tokens) = (160_i32, 100_i32);
    let prompts: Vec<String> = (0..responses).map(|i| format!("{i:05}").repeat(4000)).collect();
    let prompt_of = Int32Array::from_iter_values((0..responses * tokens).map(|row| row / tokens));
    let prompts = DictionaryArray::new(prompt_of, Arc::new(StringArray::from(prompts)));
    let rows: Vec<i64> = (0..i64::from(responses * tokens)).collect();
    let of = |value: fn(i64) -> i64| ints(&rows.iter().map(|row| value(*row)).collect::<Vec<_>>());
    let columns = vec![
        ("step", of(|_| 0)),
        ("sample_id", of(|row| row / 100)),
        ("position", of(|row| row % 100)),
        ("prompt_text", Arc::new(prompts) as ArrayRef),
        ("token_id", of(|row| row % 50)),
        ("logprob", floats(&vec![-0.5; rows.len()])),
    ];
    write_parquet(&path, columns, 500);
    let batches = read(&path).unwrap();
    assert_eq!(lengths(&batches), vec![100; 160]);
    let prompt = |batch: &TokenBatch| batch.responses.texts.get(Column::PromptText).unwrap()[0].clone();
    assert!(batches.iter().all(|batch| prompt(batch).is_some_and(|text| text.len() == 20_000)));
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

#[cfg(target_os = "linux")]
#[test]
fn a_tight_limit_of_the_shell_is_kept() {
    let log = sample("grpo.parquet");
    let program = assert_cmd::cargo::cargo_bin("stapo-analyze");
    let script = format!("ulimit -v 700000; exec {} {} -q", program.display(), log.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => assert_eq!(said, ""),
        Some(2) => assert!(said.contains("memory"), "{said}"),
        other => panic!("{other:?} {said}"),
    }
    let hostile = data("long_row.parquet");
    let script = format!("ulimit -v 700000; exec {} check {} -q", program.display(), hostile.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("more memory than"), "{said}");
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
            assert!(most > 0, "it ended before its memory was read");
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
    write_batch(path, &batch.unwrap(), 1);
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

/// Groups of two responses with one token each.
#[cfg(target_os = "linux")]
fn small_groups(path: &Path, groups: i64) {
    let responses = 2 * groups;
    let of = |value: &dyn Fn(i64) -> i64| ints(&(0..responses).map(value).collect::<Vec<_>>());
    let sides: Vec<f32> = (0..responses).map(|i| (i % 2 * 2 - 1) as f32).collect();
    let values: Vec<[f32; 1]> = (0..responses).map(|i| [-0.001 * (i % 3000 + 1) as f32]).collect();
    let ids: Vec<[i32; 1]> = (0..responses).map(|i| [(i * 7919 % 101) as i32]).collect();
    let columns = vec![
        ("step", of(&|i| i * 10 / responses)),
        ("group_id", of(&|i| i / 2)),
        ("sample_id", of(&|i| i)),
        ("reward", floats(&sides)),
        ("advantage", floats(&sides)),
        ("token_ids", int_lists(&ids.iter().map(|id| &id[..]).collect::<Vec<_>>())),
        ("logprob", float_lists(&values.iter().map(|v| &v[..]).collect::<Vec<_>>())),
        ("entropy", float_lists(&vec![&[0.5_f32][..]; responses as usize])),
    ];
    write_parquet(path, columns, responses as usize / 10);
}

/// A group took some 2 kB: a million of two responses with one token each were gigabytes. What more of them take is
/// held against a run of fewer: how much a process takes before hangs on the allocator.
#[cfg(target_os = "linux")]
#[test]
fn very_many_groups_take_a_few_hundred_bytes_each() {
    let folder = tempfile::tempdir().unwrap();
    let peak = |groups: i64| {
        let path = folder.path().join(format!("{groups}.parquet"));
        small_groups(&path, groups);
        let (peak, code) = peak_memory(&[path.to_str().unwrap(), "-q", "--threads", "2"]);
        assert_eq!(code, 0);
        peak
    };
    let (few, many) = (peak(50_000), peak(400_000));
    assert!(many > few, "{few} and {many} MB");
    let each = (many - few) * 1024 * 1024 / 350_000;
    assert!(each < 700 && many < 400, "{few} and {many} MB: {each} bytes for each group");
}
