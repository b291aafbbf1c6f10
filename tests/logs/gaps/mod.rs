//! What only some rows, batches or files of a log have: counted, said or refused, never lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod masks;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{column, float_lists, floats, int_lists, ints, lengths, write_parquet};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array};
use parquet::column::writer::ColumnWriter;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use stapo_analyze::convert::convert;
use stapo_analyze::error::{Error, Result};
use stapo_analyze::ingest::{
    Column, Id, IngestSettings, Layout, Quality, Run, Silent, Sink, TokenBatch, UserMap, read_all, scan,
};

/// Tokens of a response; [`LATE`] of them are more than the first batch of a file has.
const TOKENS: usize = 512;
const LATE: usize = 70;

fn settings(maps: &[&str]) -> IngestSettings {
    let maps: Vec<String> = maps.iter().map(|m| (*m).to_owned()).collect();
    IngestSettings { map: UserMap::parse(&maps).unwrap(), ..Default::default() }
}

fn list(value: &str, tokens: usize) -> String {
    format!("[{}]", vec![value; tokens].join(","))
}

/// A response as a line of JSON, with more columns behind a comma.
fn line(number: usize, more: &str) -> String {
    let (ids, entropies) = (list("1", TOKENS), list("0.5", TOKENS));
    format!(
        r#"{{"step":1,"group_id":"g","sample_id":"s{number}","token_id":{ids},"entropy":{entropies},"advantage":1.0{more}}}"#
    )
}

fn log(folder: &Path, name: &str, lines: impl IntoIterator<Item = String>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.into_iter().collect::<Vec<_>>().join("\n")).unwrap();
    path
}

fn logprobs() -> String {
    format!(r#","logprob":{}"#, list("-0.5", TOKENS))
}

struct Counted(Vec<(usize, usize)>);

impl Sink for Counted {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let trained = batch.mask().map_or(batch.token_count(), |m| m.iter().filter(|f| **f == 1).count());
        self.0.push((batch.len(), trained));
        Ok(())
    }
}

/// Responses, trained tokens, and what was missing.
fn counted(paths: &[PathBuf], settings: &IngestSettings) -> Result<(usize, usize, Quality)> {
    let run = Run::open(paths, settings)?;
    let scanned = scan(&run, Column::ALL, &Silent, || Counted(Vec::new()))?;
    let all: Vec<(usize, usize)> = scanned.sinks.into_iter().flat_map(|s| s.0).collect();
    let sum = |of: fn(&(usize, usize)) -> usize| all.iter().map(of).sum();
    Ok((sum(|c| c.0), sum(|c| c.1), scanned.quality))
}

fn missing(quality: &Quality, column: Column) -> Option<(u64, u64)> {
    quality.get(column).map(|q| (q.values, q.null))
}

/// A file of one response of ten tokens.
fn small(folder: &Path, name: &str, more: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = folder.join(name);
    let known = vec![
        ("step", ints(&[1])),
        ("token_id", int_lists(&[&[7; 10]])),
        ("logprob", float_lists(&[&[-0.5; 10]])),
    ];
    write_parquet(&path, known.into_iter().chain(more).collect(), 8);
    path
}

#[test]
fn a_column_that_some_files_lack_is_missing_there() {
    let folder = tempfile::tempdir().unwrap();
    let entropy = || vec![("entropy", float_lists(&[&[0.5; 10]]))];
    let mut paths =
        vec![small(folder.path(), "0.parquet", [entropy(), vec![("reward", floats(&[1.0]))]].concat())];
    paths.extend((1..5).map(|i| small(folder.path(), &format!("{i}.parquet"), Vec::new())));
    for threads in [1, 3] {
        let (_, _, quality) = counted(&paths, &IngestSettings { threads, ..Default::default() }).unwrap();
        assert_eq!(missing(&quality, Column::Entropy), Some((50, 40)));
        assert_eq!(missing(&quality, Column::Reward), Some((5, 4)));
        assert_eq!(missing(&quality, Column::Logprob), Some((50, 0)));
        assert_eq!(missing(&quality, Column::Kl), None);
    }
}

#[test]
fn what_stands_for_a_column_is_no_gap_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [
        small(
            folder.path(),
            "tokens.parquet",
            vec![("advantage", float_lists(&[&[1.0; 10]])), ("ratio", float_lists(&[&[1.0; 10]]))],
        ),
        small(
            folder.path(),
            "response.parquet",
            vec![("advantage_seq", floats(&[1.0])), ("logprob_new", float_lists(&[&[-0.5; 10]]))],
        ),
        small(folder.path(), "neither.parquet", Vec::new()),
    ];
    let both = counted(&paths[..2], &IngestSettings::default()).unwrap().2;
    for column in [Column::Advantage, Column::AdvantageSeq, Column::LogprobNew, Column::Ratio] {
        assert!(both.get(column).is_none_or(|q| q.null == 0), "{column}: {:?}", both.get(column));
    }
    let all = counted(&paths, &IngestSettings::default()).unwrap().2;
    assert_eq!(missing(&all, Column::Advantage), Some((30, 10)));
    assert_eq!(missing(&all, Column::LogprobNew), Some((30, 10)));
}

#[test]
fn a_column_that_starts_late_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let late = |name: &str, more: &str| {
        let more_of = |i: usize| if i < LATE { logprobs() } else { format!("{}{more}", logprobs()) };
        log(folder.path(), name, (0..LATE + 3).map(|i| line(i, &more_of(i))))
    };
    let mask = format!(r#","mask":{}"#, list("0", TOKENS));
    for (name, more, column) in [
        ("mask.jsonl", mask.as_str(), "mask"),
        ("reward.jsonl", r#","score":1.0"#, "score"),
        ("reason.jsonl", r#","finish_reason":"stop""#, "finish_reason"),
        ("part.jsonl", r#","reward/format":0.5"#, "reward/format"),
    ] {
        let path = late(name, more);
        let error =
            counted(std::slice::from_ref(&path), &IngestSettings::default()).map(|c| c.1).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(name) && message.contains(&format!("`{column}`")), "{message}");
        assert!(message.contains(&format!("line {}", LATE + 1)), "{message}");
        // A part of the reward cannot be mapped away.
        let hint = error.hint().unwrap();
        assert_eq!(hint.contains("--map"), name != "part.jsonl", "{hint}");
    }
    // What is left out cannot be late, and what nothing calculates with may come when it likes.
    let path = folder.path().join("mask.jsonl");
    let (responses, trained, _) = counted(&[path], &settings(&["mask="])).unwrap();
    assert_eq!((responses, trained), (LATE + 3, (LATE + 3) * TOKENS));
    let path = late("free.jsonl", r#","ground_truth":7"#);
    assert_eq!(counted(&[path], &IngestSettings::default()).unwrap().0, LATE + 3);
}

#[test]
fn a_column_that_the_user_named_keeps_its_type() {
    let folder = tempfile::tempdir().unwrap();
    let named = |i: usize| {
        if i == LATE { r#","mine":"n/a""#.to_owned() } else { logprobs().replace("logprob", "mine") }
    };
    let path = log(folder.path(), "odd.jsonl", (0..LATE + 3).map(|i| line(i, &named(i))));
    let error = counted(&[path], &settings(&["logprob=mine"])).map(|c| c.1).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::ColumnType { .. }), "{message}");
    assert!(message.contains("`mine`") && message.contains(&format!("line {}", LATE + 1)), "{message}");
}

/// A few zeros may be certain tokens; many are a column that was not computed, in either format.
#[test]
fn zeros_are_placeholders_by_the_same_rule_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    for tokens in [4, 40] {
        let zeros = vec![0.0; tokens];
        let columns = vec![
            ("step", ints(&[1])),
            ("token_id", int_lists(&[&vec![7; tokens]])),
            ("logprob", float_lists(&[&vec![-0.5; tokens]])),
            ("logprob_new", float_lists(&[&zeros])),
        ];
        let parquet = folder.path().join("zeros.parquet");
        write_parquet(&parquet, columns, 8);
        let lists = [("token_id", "7"), ("logprob", "-0.5"), ("logprob_new", "0.0")];
        let fields: Vec<String> =
            lists.iter().map(|(name, value)| format!(r#""{name}":{}"#, list(value, tokens))).collect();
        let json = log(folder.path(), "zeros.jsonl", [format!(r#"{{"step":1,{}}}"#, fields.join(","))]);
        for path in [parquet, json] {
            let run = Run::open(&[path], &IngestSettings::default()).unwrap();
            assert_eq!(run.has(Column::LogprobNew), tokens < 8, "{tokens}");
        }
    }
}

/// Columns of another type are noted by whatever name they have.
#[test]
fn columns_of_a_wrong_type_are_noted_by_their_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let notes = |more: &str| {
        let more = format!("{},{more}", logprobs());
        let path = log(folder.path(), "wrong.jsonl", (0..3).map(|i| line(i, &more)));
        Run::open(&[path], &IngestSettings::default()).unwrap().notes
    };
    let noted = |more: &str, what: &str| {
        let notes = notes(more);
        assert!(notes.iter().any(|note| note.starts_with(what) && note.ends_with("not used")), "{notes:?}");
    };
    noted(r#""ref_log_probs":["a","b"]"#, "`ref_log_probs` is ");
    noted(r#""score":"good""#, "`score` is ");
    noted(r#""is_truncated":"yes""#, "`is_truncated` is ");
    // What is there under its right name, or is something else by the same name, is not.
    assert_eq!(notes(r#""response":"text""#), notes(r#""other":"text""#));
}

/// A long file without positions: each row group has these samples; empty ones too.
fn row_groups(path: &Path, groups: &[&[i64]]) {
    let schema = "message log { required int64 step; required int64 sample_id; required int64 token_id; required float logprob; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    for samples in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(numbers) => {
                    let values = if at == 1 { samples.to_vec() } else { vec![1; samples.len()] };
                    numbers.write_batch(&values, None, None).unwrap();
                }
                ColumnWriter::FloatColumnWriter(numbers) => {
                    numbers.write_batch(&vec![-0.5; samples.len()], None, None).unwrap();
                }
                _ => panic!("no such column"),
            }
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn an_empty_row_group_does_not_cut_a_response() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.parquet");
    row_groups(&path, &[&[1, 1, 2, 2], &[], &[2, 2, 3], &[], &[], &[3, 4], &[]]);
    // Which of several workers ends first is never the same.
    for threads in [1].into_iter().chain([3; 60]) {
        let settings = IngestSettings { threads, unit_tokens: 1, ..Default::default() };
        let run = Run::open(std::slice::from_ref(&path), &settings).unwrap();
        let scanned = scan(&run, Column::ALL, &Silent, || Counted(Vec::new())).unwrap();
        let responses: usize = scanned.sinks.iter().flat_map(|s| &s.0).map(|c| c.0).sum();
        assert_eq!((responses, scanned.rows.responses), (4, 4), "{threads} threads");
        assert_eq!(lengths(&read_all(std::slice::from_ref(&path), &settings).unwrap()), [2, 4, 2, 1]);
    }
}

/// A long file of two responses: `lead` tokens, then these log-probabilities.
fn long(path: &Path, lead: usize, second: &[f32], rows: usize) {
    let n = lead + second.len();
    let sample: Vec<i64> = (0..n).map(|t| i64::from(t >= lead)).collect();
    let position: Vec<i64> = (0..lead).chain(0..second.len()).map(|p| p as i64).collect();
    let values: Vec<f32> = std::iter::repeat_n(-0.5, lead).chain(second.iter().copied()).collect();
    let columns = vec![
        ("step", ints(&vec![1; n])),
        ("sample_id", ints(&sample)),
        ("position", ints(&position)),
        ("token_id", ints(&vec![7; n])),
        ("logprob", floats(&values)),
    ];
    write_parquet(path, columns, rows);
}

#[test]
fn zero_logprobs_are_judged_by_the_whole_response() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let sure_start: Vec<f32> = [vec![0.0; 68], vec![-1.0; 232]].concat();
    // The border of batches, or of row groups, lies inside of the zeros.
    for (lead, rows) in [(32_748, 1 << 20), (100, 120), (100, 150)] {
        for (second, sentinels) in [(&sure_start[..], 0), (&[0.0; 300][..], 300)] {
            long(&path, lead, second, rows);
            for threads in [1, 3] {
                let settings = IngestSettings { threads, unit_tokens: 1, ..Default::default() };
                let quality = counted(std::slice::from_ref(&path), &settings).unwrap().2;
                let logprob = quality.get(Column::Logprob).unwrap();
                let place = format!("lead {lead}, rows {rows}, {threads} threads");
                assert_eq!((logprob.values, logprob.sentinel), (lead as u64 + 300, sentinels), "{place}");
                let read =
                    column(&read_all(std::slice::from_ref(&path), &settings).unwrap(), Column::Logprob);
                let gone = read.iter().filter(|v| v.is_nan()).count() as u64;
                assert_eq!((read.len(), gone), (lead + 300, sentinels), "{place}");
            }
        }
    }
}

#[test]
fn lists_of_two_kinds_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = |name: &str, logprob: &str, mask: &str| {
        let row =
            |lp: &str, mask: &str| format!(r#"{{"step":1,"token_id":[1,2,3],"logprob":{lp},"mask":{mask}}}"#);
        log(folder.path(), name, [row("[-0.5,-0.5,-0.5]", "[1,1,1]"), row(logprob, mask)])
    };
    let read = |path: PathBuf| read_all(&[path], &IngestSettings::default());
    // What is not trained in front is prompt, as a null is, and then what follows behind is padding.
    let masks = [
        ("[true,1,0]", &[1, 1, 0][..]),
        ("[1,true,false]", &[1, 1, 0]),
        ("[true,true,0.0]", &[1, 1, 0]),
        ("[null,true,0]", &[1]),
    ];
    for (mask, expected) in masks {
        let batches = read(one("mask.jsonl", "[-1,-1,-1]", mask)).unwrap();
        let flags: Vec<u8> = batches.iter().flat_map(|b| b.mask().unwrap().to_vec()).collect();
        assert_eq!(&flags[3..], expected, "{mask}");
    }
    for odd in [r#"[-1.5,-1.5,"-inf"]"#, r#"["NaN","Infinity",-1.5]"#, r#"[null,"-Infinity",-1.5]"#] {
        let values = column(&read(one("odd.jsonl", odd, "[1,1,1]")).unwrap(), Column::Logprob);
        let gone: Vec<bool> = values[3..].iter().map(|v| v.is_nan()).collect();
        let expected: Vec<bool> = odd.split(',').map(|v| !v.contains("-1.5")).collect();
        assert_eq!(gone, expected, "{odd}");
    }
    for odd in [r#"[-1.5,-1.5,"none"]"#, r#"["none",-1.5,-1.5]"#] {
        let error = read(one("bad.jsonl", odd, "[1,1,1]")).map(|_| "read").unwrap_err();
        let message = error.to_string();
        assert!(message.contains("`logprob`") && message.contains("line 2"), "{message}");
    }
}

#[test]
fn numbers_of_another_type_are_still_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pandas.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("step", ints(&[1, 1])),
        ("group_id", Arc::new(Float64Array::from(vec![Some(3.0), None]))),
        ("sample_id", Arc::new(Float64Array::from(vec![0.0, 1.0]))),
        ("update", Arc::new(Float64Array::from(vec![0.0, 1.0]))),
        ("reward", Arc::new(BooleanArray::from(vec![true, false]))),
        ("reward/format", Arc::new(BooleanArray::from(vec![false, true]))),
        ("token_id", int_lists(&[&[7; 3], &[8; 3]])),
        ("logprob", float_lists(&[&[-0.5; 3], &[-0.5; 3]])),
        ("entropy", floats(&[0.5, 0.5])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read_all(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    let responses = &batches[0].responses;
    assert_eq!(responses.ids.get(Column::GroupId).unwrap(), &[Id::Int(3), Id::Missing]);
    assert_eq!(responses.ids.get(Column::SampleId).unwrap(), &[Id::Int(0), Id::Int(1)]);
    assert_eq!(responses.ints.get(Column::Update).unwrap(), &[Some(0), Some(1)]);
    assert_eq!(responses.floats.get(Column::Reward).unwrap(), &[1.0, 0.0]);
    assert_eq!(responses.reward_parts[0].1, [0.0, 1.0]);
    // One entropy a response is not the entropy of its tokens: said, not passed over.
    let notes = Run::open(&[path], &IngestSettings::default()).unwrap().notes;
    assert!(notes.iter().any(|n| n.contains("`entropy`") && n.contains("not used")), "{notes:?}");
}

/// As databases and old writers give texts; also what has the right name and is a date.
#[test]
fn ids_that_are_bytes_are_not_passed_over_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("group_id", Arc::new(BinaryArray::from(vec![&b"a"[..], b"b"]))),
        ("sample_id", Arc::new(Date32Array::from(vec![1, 2]))),
        ("token_id", int_lists(&[&[7; 3], &[8; 3]])),
        ("logprob", float_lists(&[&[-0.5; 3], &[-0.5; 3]])),
    ];
    write_parquet(&path, columns, 8);
    let notes = Run::open(&[path], &IngestSettings::default()).unwrap().notes;
    for said in ["`group_id` is one binary a row", "`sample_id` is one date a row"] {
        assert!(notes.iter().any(|n| n.contains(said) && n.contains("not used")), "{notes:?}");
    }
}

#[test]
fn a_replay_takes_text_groups_without_sample_ids() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: usize, sample: &str| {
        let (step, group, reward) = (i / 12, i / 4, i % 2);
        let (ids, logprobs, entropies) = (list("5", 12), list("-0.5", 12), list("0.5", 12));
        format!(
            r#"{{"step":{step},"group_id":"g{group}","prompt_ids":[1,2,{group}],"reward":{reward},"advantage":{reward}.5,"token_id":{ids},"logprob":{logprobs},"entropy":{entropies}{sample}}}"#
        )
    };
    let none = |_: usize| String::new();
    let null_at_first =
        |i: usize| if i < 12 { r#","sample_id":null"#.to_owned() } else { format!(r#","sample_id":"s{i}""#) };
    let cases: [(&str, &dyn Fn(usize) -> String); 2] = [("none", &none), ("null_at_first", &null_at_first)];
    for (name, sample) in cases {
        let path = log(folder.path(), &format!("{name}.jsonl"), (0..24).map(|i| row(i, &sample(i))));
        let report = folder.path().join(name);
        assert_cmd::Command::cargo_bin("stapo-analyze")
            .unwrap()
            .args(["replay", "--objective", "grpo", "--surrogate-updates", "3", "-q", "--report"])
            .args([&report, &path])
            .assert()
            .success();
    }
}
