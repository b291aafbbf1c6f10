//! The replay through its command line, on the sample model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod outputs;
mod parity;
mod resume;
#[path = "../schema_support/mod.rs"]
mod schema_support;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use support::sample;

/// The program, with `replay LOG --report FOLDER`.
fn command(log: &Path, folder: &Path, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    command.arg("replay").arg(log).arg("--report").arg(folder).args(options.split_whitespace());
    command
}

/// The same with the sample model.
fn with_model(log: &Path, folder: &Path, options: &str) -> Command {
    let mut command = command(log, folder, options);
    command.arg("--model").arg(sample("model"));
    command
}

fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn result(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("replay.json")).unwrap()).unwrap()
}

/// A small log: the first `responses` of each of the first `steps` of the sample run, changed.
fn small_log(
    folder: &Path,
    steps: usize,
    responses: usize,
    change: impl Fn(RecordBatch) -> RecordBatch,
) -> PathBuf {
    let file = std::fs::File::open(sample("grpo.parquet")).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let metadata = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    // 512 responses a step.
    let reader = builder.with_batch_size(512).with_limit(512 * steps).build().unwrap();
    let path = folder.join("small.parquet");
    let mut writer: Option<ArrowWriter<std::fs::File>> = None;
    for batch in reader {
        let batch = change(batch.unwrap().slice(0, responses));
        let file = || std::fs::File::create(&path).unwrap();
        let writer =
            writer.get_or_insert_with(|| ArrowWriter::try_new(file(), batch.schema(), None).unwrap());
        writer.write(&batch).unwrap();
    }
    let mut writer = writer.unwrap();
    metadata
        .into_iter()
        .filter(|pair| pair.key != "ARROW:schema" && pair.key != "tokenizer")
        .for_each(|pair| writer.append_key_value_metadata(pair));
    writer.close().unwrap();
    path
}
