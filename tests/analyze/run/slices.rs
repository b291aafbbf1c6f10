//! Slices by columns of responses that the framework has no name for: in every layout, read where they are asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use serde_json::{Value, json};
use stapo_analyze::analyze::{AnalyzeSettings, Cache, analyze, analyze_cached};
use stapo_analyze::ingest::Silent;

use crate::run::support::{float_lists, floats, int_lists, ints, write_parquet};
use crate::run::{analyzed, open};

const RESPONSES: usize = 48;
const TASKS: [&str; 3] = ["json", "sum", "words"];

fn task(response: usize) -> Option<&'static str> {
    (response % 8 != 7).then(|| TASKS[response % 3])
}

fn level(response: usize) -> i64 {
    (response / 5 % 4) as i64
}

/// Tokens of a response: more in some tasks than in others.
fn length(response: usize) -> usize {
    3 + response % 3
}

fn logprob(response: usize, t: usize) -> f32 {
    -0.05 * (1 + (7 * response + 3 * t) % 23) as f32
}

fn texts(values: impl Iterator<Item = Option<&'static str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// The columns of responses, each value as often as `times` says.
fn of_responses(named: &str, times: impl Fn(usize) -> usize) -> Vec<(&str, ArrayRef)> {
    let all = || (0..RESPONSES).flat_map(|i| std::iter::repeat_n(i, times(i)));
    let whole = |of: fn(usize) -> i64| ints(&all().map(of).collect::<Vec<_>>());
    vec![
        ("step", whole(|i| (i / 8) as i64)),
        ("group_id", whole(|i| (i / 4 % 2) as i64)),
        ("sample_id", whole(|i| (i % 4) as i64)),
        ("reward", floats(&all().map(|i| (i % 2) as f32).collect::<Vec<_>>())),
        (
            "advantage",
            floats(&all().map(|i| if i.is_multiple_of(2) { -1.0 } else { 1.0 }).collect::<Vec<_>>()),
        ),
        ("env", texts(all().map(|_| Some("gym")))),
        (named, texts(all().map(task))),
        ("level", whole(level)),
    ]
}

fn nested(named: &str, path: &Path) {
    let logprobs: Vec<Vec<f32>> =
        (0..RESPONSES).map(|i| (0..length(i)).map(|t| logprob(i, t)).collect()).collect();
    let ids: Vec<Vec<i32>> =
        (0..RESPONSES).map(|i| (0..length(i)).map(|t| (5 * i + t) as i32 % 31).collect()).collect();
    let entropies: Vec<Vec<f32>> =
        logprobs.iter().map(|all| all.iter().map(|p| -0.9 * p).collect()).collect();
    let lists = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let mut columns = of_responses(named, |_| 1);
    columns.extend([
        ("token_id", int_lists(&ids.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ("logprob", lists(&logprobs)),
        ("entropy", lists(&entropies)),
    ]);
    write_parquet(path, columns, 7);
}

/// Row groups end within responses.
fn long(named: &str, path: &Path) {
    let tokens = || (0..RESPONSES).flat_map(|i| (0..length(i)).map(move |t| (i, t)));
    let whole = |of: fn((usize, usize)) -> i64| ints(&tokens().map(of).collect::<Vec<_>>());
    let number = |by: f32| floats(&tokens().map(|(i, t)| by * logprob(i, t)).collect::<Vec<_>>());
    let mut columns = of_responses(named, length);
    columns.extend([
        ("position", whole(|(_, t)| t as i64)),
        ("token_id", whole(|(i, t)| (5 * i + t) as i64 % 31)),
        ("logprob", number(1.0)),
        ("entropy", number(-0.9)),
    ]);
    write_parquet(path, columns, 11);
}

fn lines(named: &str, path: &Path) {
    let line = |i: usize| {
        let logprobs: Vec<f32> = (0..length(i)).map(|t| logprob(i, t)).collect();
        let entropies: Vec<f32> = logprobs.iter().map(|p| -0.9 * p).collect();
        let ids: Vec<usize> = (0..length(i)).map(|t| (5 * i + t) % 31).collect();
        let row = json!({
            "step": i / 8, "group_id": i / 4 % 2, "sample_id": i % 4, "reward": (i % 2) as f32,
            "advantage": if i.is_multiple_of(2) { -1.0 } else { 1.0 }, "env": "gym", named: task(i), "level": level(i),
            "token_id": ids, "logprob": logprobs, "entropy": entropies,
        });
        format!("{row}\n")
    };
    std::fs::write(path, (0..RESPONSES).map(line).collect::<String>()).unwrap();
}

type Writer = fn(&str, &Path);
const LAYOUTS: [(&str, Writer); 3] =
    [("nested.parquet", nested), ("long.parquet", long), ("lines.jsonl", lines)];

fn by(names: &[&str]) -> AnalyzeSettings {
    let by = names.iter().map(|name| (*name).to_owned()).collect();
    AnalyzeSettings { vocab_size: Some(31), by, ..Default::default() }
}

/// The values of a dimension with their tokens.
fn counts(rows: &Value) -> Vec<(String, u64)> {
    let row = |row: &Value| (row["value"].as_str().unwrap().to_owned(), row["tokens"].as_u64().unwrap());
    rows.as_array().unwrap().iter().map(row).collect()
}

fn tokens_where(is: impl Fn(usize) -> bool) -> u64 {
    (0..RESPONSES).filter(|i| is(*i)).map(|i| length(i) as u64).sum()
}

#[test]
fn any_column_of_responses_slices_in_every_layout() {
    let folder = tempfile::tempdir().unwrap();
    let mut tables: Vec<Value> = Vec::new();
    for (name, write) in LAYOUTS {
        let path = folder.path().join(name);
        // `env` is the source: the task is a column beyond the canonical ones.
        write("task", &path);
        let settings = by(&["task", "level"]);
        let analysis = analyzed(std::slice::from_ref(&path), &settings);
        let slices = analysis.to_value().unwrap()["slices"].clone();
        let mut expected: Vec<(String, u64)> =
            TASKS.iter().map(|t| ((*t).to_owned(), tokens_where(|i| task(i) == Some(t)))).collect();
        expected.push(("missing".into(), tokens_where(|i| task(i).is_none())));
        assert_eq!(counts(&slices["task"]), expected, "{name}");
        let levels: Vec<(String, u64)> =
            (0..4).map(|l| (l.to_string(), tokens_where(|i| level(i) == l))).collect();
        assert_eq!(counts(&slices["level"]), levels, "{name}");
        tables.push(slices);

        // Nothing else changes, whoever reads it.
        let plain = analyzed(std::slice::from_ref(&path), &by(&[])).to_value().unwrap();
        assert!(plain["slices"].get("task").is_none(), "{name}");
        for field in ["totals", "steps", "quality", "verdict"] {
            assert_eq!(analysis.to_value().unwrap()[field], plain[field], "{name}: {field}");
        }
        let run = open(&[path], 3);
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for _ in 0..2 {
            let (cached, ..) = analyze_cached(&run, &settings, &cache, &Silent).unwrap();
            assert_eq!(cached.to_json().unwrap(), analysis.to_json().unwrap(), "{name}");
        }
    }
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

/// A canonical column answers to the log's name for it, too.
#[test]
fn a_column_is_found_by_the_name_that_the_log_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("run.parquet");
    nested("finish", &path);
    let run = open(&[path], 1);
    let analysis = analyze(&run, &by(&["env", "source"]), &Silent).unwrap();
    let slices = analysis.to_value().unwrap()["slices"].clone();
    assert_eq!(counts(&slices["env"]), [("gym".to_owned(), tokens_where(|_| true))]);
    assert_eq!(slices["env"], slices["source"]);

    let error = analyze(&run, &by(&["tsak"]), &Silent).unwrap_err();
    assert!(error.to_string().contains("--by tsak"), "{error}");
    let hint = error.hint().unwrap();
    for known in ["finish", "group_id", "level", "source (env)", "step"] {
        assert!(hint.trim_start_matches("it has ").split(", ").any(|name| name == known), "{known}: {hint}");
    }
}
