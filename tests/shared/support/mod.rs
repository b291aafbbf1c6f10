//! Builds small logs for tests.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use stapo_analyze::ingest::{Column, IngestSettings, TokenBatch, read_all};

/// Every command, in the order of `--help`.
pub const COMMANDS: [&str; 14] = [
    "check",
    "compare",
    "replay",
    "show",
    "convert",
    "demo",
    "watch",
    "plan",
    "collect",
    "merge",
    "devices",
    "explain",
    "completions",
    "man",
];

/// Numbers that look random and are always the same.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f32) as usize
    }
}

/// The repository's sample data.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data").join(name)
}

/// A small log: the first `responses` of each of the first `steps` of the sample run, changed.
pub fn small_log(
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

/// Writes columns as Parquet, `rows` a row group.
pub fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>, rows: usize) {
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
    write_batch(path, &batch, rows);
}

/// Writes a batch as Parquet, `rows` a row group.
pub fn write_batch(path: &Path, batch: &RecordBatch, rows: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// A list column of 32-bit numbers.
pub fn float_lists(rows: &[&[f32]]) -> ArrayRef {
    let rows = rows.iter().map(|r| Some(r.iter().map(|v| Some(*v)).collect::<Vec<_>>()));
    Arc::new(arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Float32Type, _, _>(rows))
}

/// A list column of whole numbers.
pub fn int_lists(rows: &[&[i32]]) -> ArrayRef {
    let rows = rows.iter().map(|r| Some(r.iter().map(|v| Some(*v)).collect::<Vec<_>>()));
    Arc::new(arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(rows))
}

/// A column of 64-bit whole numbers.
pub fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(arrow_array::Int64Array::from(values.to_vec()))
}

/// A column of 32-bit numbers.
pub fn floats(values: &[f32]) -> ArrayRef {
    Arc::new(arrow_array::Float32Array::from(values.to_vec()))
}

/// Reads with default settings.
pub fn read(path: &Path) -> Vec<TokenBatch> {
    read_all(&[path.to_owned()], &IngestSettings::default()).unwrap()
}

/// All values of a token column, over all batches.
pub fn column(batches: &[TokenBatch], column: Column) -> Vec<f32> {
    batches.iter().flat_map(|b| b.floats(column).unwrap_or_default().to_vec()).collect()
}

/// All token ids, over all batches.
pub fn token_ids(batches: &[TokenBatch]) -> Vec<i32> {
    batches.iter().flat_map(|b| b.token_ids().unwrap_or_default().to_vec()).collect()
}

/// Lengths of all responses.
pub fn lengths(batches: &[TokenBatch]) -> Vec<usize> {
    batches.iter().flat_map(|b| (0..b.len()).map(|i| b.range(i).len()).collect::<Vec<_>>()).collect()
}

/// A response with everything in it, in a form that can be compared and printed.
pub fn describe(batch: &TokenBatch, i: usize) -> String {
    let r = &batch.responses;
    let mut out = format!("step {}", r.step[i]);
    for (c, v) in r.ids.iter() {
        out += &format!(" {c}={:?}", v[i]);
    }
    for (c, v) in r.ints.iter().filter(|(_, v)| v[i].is_some()) {
        out += &format!(" {c}={:?}", v[i]);
    }
    for (c, v) in r.floats.iter().filter(|(_, v)| !v[i].is_nan()) {
        out += &format!(" {c}={:?}", v[i]);
    }
    for (c, v) in r.texts.iter().filter(|(_, v)| v[i].is_some()) {
        out += &format!(" {c}={:?}", v[i]);
    }
    for (c, v) in r.flags.iter().filter(|(_, v)| v[i].is_some()) {
        out += &format!(" {c}={:?}", v[i]);
    }
    if let Some(prompt) = r.prompt_ids.as_ref().and_then(|p| p[i].as_ref()) {
        out += &format!(" prompt={:?}", &prompt[..]);
    }
    for (name, v) in r.reward_parts.iter().filter(|(_, v)| !v[i].is_nan()) {
        out += &format!(" reward/{name}={:?}", v[i]);
    }
    for t in batch.range(i) {
        out += &format!("\n  @{}", batch.position(i, t));
        for (c, v) in batch.tokens.ints.iter().filter(|(c, v)| *c != Column::Position && v[t] != i32::MIN) {
            out += &format!(" {c}={:?}", v[t]);
        }
        for (c, v) in batch.tokens.floats.iter().filter(|(_, v)| !v[t].is_nan()) {
            out += &format!(" {c}={:?}", v[t]);
        }
        for (c, v) in batch.tokens.doubles.iter().filter(|(_, v)| !v[t].is_nan()) {
            out += &format!(" {c}={:?}", v[t]);
        }
        for (c, v) in batch.tokens.flags.iter().filter(|(_, v)| v[t] != u8::MAX) {
            out += &format!(" {c}={:?}", v[t]);
        }
        if let Some(text) = batch.token_text(t) {
            out += &format!(" {text:?}");
        }
    }
    out
}

/// All responses, described.
pub fn describe_all(batches: &[TokenBatch]) -> Vec<String> {
    batches.iter().flat_map(|b| (0..b.len()).map(|i| describe(b, i)).collect::<Vec<_>>()).collect()
}
