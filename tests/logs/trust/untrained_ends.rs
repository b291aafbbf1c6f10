//! Prompt, padding and observations: tokens that are not trained on, at the ends of a response and in
//! its middle. Both layouts of a log say the same.

use std::path::Path;

use serde_json::Value;
use stapo_analyze::ingest::{IngestSettings, ListAlignment, TokenBatch, read_all};

use super::rows::{Row, rows, write_long, write_nested};
use super::support::Numbers;
use super::support::describe_all;
use super::{Command, program};

const PAD: i32 = 0;

/// Puts untrained tokens around some responses, and into their middle.
fn with_ends() -> Vec<Row> {
    let mut numbers = Numbers(11);
    let mut rows = rows(6);
    for (i, row) in rows.iter_mut().enumerate() {
        let tokens = row.ids.len();
        let mut mask = vec![1; tokens];
        // An observation, after which the response goes on.
        if i % 2 == 0 {
            mask[8..12].fill(0);
        }
        let mut around = |front: &[i32], behind: &[i32]| {
            row.ids = [front, &row.ids, behind].concat();
            mask = [vec![0; front.len()], mask.clone(), vec![0; behind.len()]].concat();
            let mut value = |n: usize, low: f32| -> Vec<Option<f32>> {
                (0..n).map(|_| Some(low * numbers.next())).collect()
            };
            for (values, low) in [(&mut row.logprob, -2.0), (&mut row.entropy, 1.5)] {
                *values = [value(front.len(), low), values.clone(), value(behind.len(), low)].concat();
            }
        };
        match i % 7 {
            1 => around(&[41, 42, 43], &[]),
            2 => around(&[], &[PAD, PAD, PAD]),
            3 => around(&[], &[51, 52]),
            4 => around(&[PAD, PAD], &[]),
            5 => around(&[41, 42], &[PAD, PAD]),
            // Truncated, and not trained on at all.
            6 => mask.fill(0),
            _ => {}
        }
        // Nothing is said of the last tokens, padding or not.
        let said = |t: usize| (i % 5 != 2 || t + 2 < mask.len()).then_some(mask[t]);
        row.mask = Some((0..mask.len()).map(said).collect());
    }
    rows
}

fn summary(path: &Path) -> Value {
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    let output = command.arg(path).args(["--format", "json", "--full", "-q"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Names, layouts and rows of files.
    forget(&mut summary, &["provenance", "file", "row", "path"]);
    let quality = summary["quality"].as_array_mut().unwrap();
    quality.retain(|column| column["column"] != "position");
    summary
}

fn forget(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
            fields.values_mut().for_each(|field| forget(field, keys));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| forget(value, keys)),
        _ => {}
    }
}

fn assert_same(a: &Value, b: &Value, place: &str) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            assert_eq!(x.keys().collect::<Vec<_>>(), y.keys().collect::<Vec<_>>(), "{place}");
            x.iter().for_each(|(key, value)| assert_same(value, &y[key], &format!("{place}.{key}")));
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{place}");
            x.iter().zip(y).enumerate().for_each(|(i, (x, y))| assert_same(x, y, &format!("{place}[{i}]")));
        }
        _ => assert_eq!(a, b, "{place}"),
    }
}

#[test]
fn both_layouts_and_what_they_are_converted_to_have_one_summary() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut rows = with_ends();
    rows[3].reward = None;
    rows[20].reward = Some(f32::NAN);
    write_nested(&at("nested.parquet"), &rows);
    write_long(&at("long.parquet"), &rows);
    let expected = summary(&at("nested.parquet"));
    let reward = expected["quality"].as_array().unwrap().iter().find(|c| c["column"] == "reward").unwrap();
    assert_eq!(
        (&reward["values"], &reward["null"], &reward["not_finite"]),
        (&96.into(), &1.into(), &1.into())
    );
    assert!(expected["quality"].as_array().unwrap().iter().any(|c| c["column"] == "mask"));
    assert_same(&expected, &summary(&at("long.parquet")), "long");
    for from in ["nested", "long"] {
        for to in ["nested", "long"] {
            let (source, target) = (at(&format!("{from}.parquet")), at(&format!("{from}-as-{to}.parquet")));
            let (source, target_text) = (source.to_str().unwrap(), target.to_str().unwrap());
            let layout: &[&str] = if to == "long" { &["--long"] } else { &[] };
            let (code, said) = program(&[&["convert", source, "-o", target_text, "-q"], layout].concat());
            assert_eq!(code, 0, "{said}");
            let mut converted = summary(&target);
            let mut expected = expected.clone();
            // NaN became null.
            [&mut converted, &mut expected].iter_mut().for_each(|s| forget(s, &["quality", "ingest"]));
            assert_same(&expected, &converted, target_text);
        }
    }
}

#[test]
fn responses_are_the_same_for_any_cut_and_alignment() {
    let folder = tempfile::tempdir().unwrap();
    let (nested, long) = (folder.path().join("nested.parquet"), folder.path().join("long.parquet"));
    let rows = with_ends();
    write_nested(&nested, &rows);
    write_long(&long, &rows);
    let read = |path: &Path, alignment: Option<ListAlignment>, unit_tokens: u64| -> Vec<TokenBatch> {
        let settings = IngestSettings { alignment, unit_tokens, ..IngestSettings::default() };
        read_all(&[path.to_owned()], &settings).unwrap()
    };
    for alignment in
        [None, Some(ListAlignment::Response), Some(ListAlignment::LeftPadded), Some(ListAlignment::Full)]
    {
        let expected = describe_all(&read(&nested, alignment, 0));
        for unit_tokens in [0, 1, 700] {
            let found = describe_all(&read(&long, alignment, unit_tokens));
            assert_eq!(expected.len(), found.len());
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(expected, found, "{alignment:?} in units of {unit_tokens}");
            }
        }
    }
}
