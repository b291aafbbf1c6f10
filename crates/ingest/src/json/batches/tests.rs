#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::*;
use crate::schema::raw_field::{Primitive, Shape};
use stapo_batch::limits::Limits;

struct Log {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn log(name: &str, content: &[u8]) -> Log {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    Log { _dir: dir, path }
}

fn open(path: &Path, budget: usize) -> Result<JsonBatches> {
    JsonBatches::open(&Stored::on_disk(path), None, budget, Limits::default(), &UserMap::default())
}

fn read(content: &str, budget: usize) -> Vec<JsonBatch> {
    let log = log("log.jsonl", content.as_bytes());
    open(&log.path, budget).unwrap().map(Result::unwrap).collect()
}

fn error(name: &str, content: &[u8]) -> Error {
    let log = log(name, content);
    match open(&log.path, 100) {
        Err(e) => e,
        Ok(batches) => batches.filter_map(Result::err).next().expect("an error"),
    }
}

fn column<'a>(batch: &'a JsonBatch, name: &str) -> &'a ArrayRef {
    batch.batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"))
}

fn item(array: &ArrayRef) -> DataType {
    match array.data_type() {
        DataType::List(field) => field.data_type().clone(),
        other => panic!("{other} is no list"),
    }
}

#[test]
fn columns_have_the_type_of_their_values() {
    let batches = read(
        concat!(
            r#"{"i":1,"f":1,"t":"a","b":true,"li":[1,null],"lf":[1],"lt":["x","y"],"lb":[true],"empty":[],"o":{"a":1},"ll":[[1]],"null":null}"#,
            "\n",
            r#"{"f":0.5,"li":null,"lf":[0.5,NaN],"lt":[],"lb":[1,0],"late":7,"i":9007199254740993}"#
        ),
        100,
    );
    assert_eq!(batches.len(), 1);
    let batch = &batches[0];
    let names: Vec<_> = batch.batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["i", "f", "t", "b", "li", "lf", "lt", "lb", "empty", "late"]);
    assert_eq!(column(batch, "i").as_primitive::<Int64Type>().value(1), 9_007_199_254_740_993);
    assert_eq!(column(batch, "f").as_primitive::<Float64Type>().values().as_ref(), [1.0, 0.5]);
    assert!(
        column(batch, "t").is_null(1) && column(batch, "b").is_null(1) && column(batch, "late").is_null(0)
    );

    let li = column(batch, "li").as_list::<i32>();
    assert!(li.is_null(1));
    let first = li.value(0);
    assert_eq!((first.as_primitive::<Int64Type>().value(0), first.is_null(1)), (1, true));
    let lf = column(batch, "lf").as_list::<i32>().value(1);
    assert_eq!((lf.as_primitive::<Float64Type>().value(0), lf.is_null(1)), (0.5, true));
    let lt = column(batch, "lt").as_list::<i32>();
    assert!(!lt.is_null(1) && lt.value(1).is_empty());
    // Flags and numbers meet as whole numbers.
    assert_eq!(item(column(batch, "lb")), DataType::Int64);
    assert_eq!(item(column(batch, "empty")), DataType::Int64);
    assert!(!column(batch, "empty").is_null(0) && column(batch, "empty").is_null(1));
}

#[test]
fn fields_tell_what_the_first_batch_has() {
    let log = log("x.jsonl", br#"{"step":1,"token_ids":[1,2],"logprobs":[-0.5,0],"name":null}"#);
    let batches = open(&log.path, 10).unwrap();
    let expected = [
        RawField::new("step", Shape::Scalar(Primitive::Int)),
        RawField::new("token_ids", Shape::List(Primitive::Int)),
        RawField::new("logprobs", Shape::List(Primitive::Float)),
    ];
    assert_eq!(batches.fields(), expected);
    assert_eq!(batches.dialect(), Dialect::Unknown);
    assert_eq!(batches.alignment(), None);
}

#[test]
fn batches_keep_to_their_budget() {
    let row = |n: usize| format!("{{\"ids\":{:?}}}\n", vec![1; n]);
    let content: String = [3, 3, 3, 50, 1, 1].map(row).concat();
    let batches = read(&content, 8);
    let shape: Vec<_> = batches.iter().map(|b| (b.first_row, b.batch.num_rows())).collect();
    assert_eq!(shape, [(0, 3), (3, 1), (4, 2)]);
    assert!(batches.iter().all(|b| b.bytes_read == content.len() as u64));
    // Texts weigh as well: otherwise a log of texts would be one batch.
    let texts = format!("{{\"t\":\"{}\"}}\n", "x".repeat(640)).repeat(10);
    assert_eq!(read(&texts, 11).len(), 10);
}

#[test]
fn types_are_remembered_between_batches() {
    let batches = read("{\"a\":[0.5],\"t\":[\"x\"]}\n{\"a\":[1]}\n{\"a\":[],\"t\":[null]}\n", 1);
    assert_eq!(batches.len(), 3);
    for batch in &batches {
        assert_eq!(item(column(batch, "a")), DataType::Float64);
        assert_eq!(item(column(batch, "t")), DataType::Utf8);
    }
    assert!(column(&batches[1], "t").is_null(0));
    assert_eq!(column(&batches[2], "t").as_list::<i32>().value(0).len(), 1);
}

#[test]
fn a_change_of_type_is_an_error_only_where_it_matters() {
    let error = error("a.jsonl", b"{\"reward\":1}\n\n{\"reward\":\"high\"}\n");
    let Error::ColumnType { column: name, found, .. } = &error else { panic!("{error}") };
    assert_eq!((name.as_str(), found.as_str()), ("reward", "a text in line 3"));
    let batches = read("{\"ground_truth\":1,\"x\":1}\n{\"ground_truth\":\"high\",\"x\":2}\n", 100);
    assert!(batches[0].batch.column_by_name("ground_truth").is_none());
    assert_eq!(column(&batches[0], "x").len(), 2);
}

#[test]
fn bad_files_name_the_line() {
    let place = |name, content: &[u8]| match error(name, content) {
        Error::Corrupt { place, .. } => place,
        other => panic!("{other}"),
    };
    assert_eq!(place("a.jsonl", b"{}\n{\"a\":"), "line 2");
    assert_eq!(place("a.jsonl", b"[1]\n"), "line 1");
    assert_eq!(place("a.jsonl", b"{\"a\":1}\n\n{\"a\":\"\xff\"}\n"), "line 3");
    let later: Vec<u8> = [b"{\"a\":1}\n".repeat(200), b"{\"a\"}".to_vec()].concat();
    assert_eq!(place("a.jsonl", &later), "line 201");
    assert!(matches!(error("a.jsonl", b""), Error::Empty { .. }));
    assert!(matches!(error("a.jsonl", b"\n \r\n"), Error::Empty { .. }));
    assert!(matches!(open(Path::new("no/such.jsonl"), 1), Err(Error::NotFound { .. })));
}

#[test]
fn an_error_ends_the_stream() {
    let content = [b"{\"a\":1}\n".repeat(20), b"nonsense\n".to_vec(), b"{\"a\":1}\n".repeat(20)].concat();
    let log = log("a.jsonl", &content);
    let results: Vec<_> = open(&log.path, 10).unwrap().collect();
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 2);
    assert!(results.last().unwrap().is_err());
}

#[test]
fn documents_are_read_whole() {
    for content in ["[\n {\"a\": 1},\n {\"a\": 2}\n]\n", "[{\"a\":1},{\"a\":2}]", "{\"a\":1}\n{\"a\":2}\n"] {
        let log = log("episodes.json", content.as_bytes());
        let batches: Vec<_> = open(&log.path, 10).unwrap().map(Result::unwrap).collect();
        let values = column(&batches[0], "a").as_primitive::<Int64Type>().values().to_vec();
        assert_eq!(values, [1, 2], "{content}");
    }
    let pretty = log("episode.json", b"{\n \"a\": 1\n}\n");
    assert_eq!(open(&pretty.path, 10).unwrap().count(), 1);
    assert!(matches!(error("bad.json", b"[1, 2]"), Error::Corrupt { .. }));
    assert!(matches!(error("bad.json", b"{\n"), Error::Corrupt { .. }));
}

#[test]
fn rows_without_columns_are_still_rows() {
    let batches = read("{}\n{\"a\":{}}\n", 10);
    assert_eq!(batches[0].batch.num_rows(), 2);
}
