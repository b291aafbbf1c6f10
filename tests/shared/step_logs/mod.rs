//! The sample run as trainers write it: a file a step, Parquet or JSON lines.
#![allow(dead_code, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use stapo_analyze::ingest::{Column, Id, IngestSettings, read_all};

/// Writes `step_N/tokens.parquet` with the first `responses` of each of the first steps, several row
/// groups a file.
pub fn parquet_steps(folder: &Path, steps: usize, responses: usize) -> Vec<PathBuf> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/grpo.parquet");
    let builder = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(sample).unwrap()).unwrap();
    // 512 responses a step.
    let reader = builder.with_batch_size(512).with_limit(512 * steps).build().unwrap();
    let write = |(number, batch): (usize, RecordBatch)| {
        let path = folder.join(format!("step_{number}/tokens.parquet"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let batch = batch.slice(0, responses);
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(responses / 3)).build();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    };
    reader.map(Result::unwrap).enumerate().map(write).collect()
}

/// The same steps as JSON lines, `step_N.jsonl` (every second one compressed where wanted).
pub fn json_steps(of: &[PathBuf], folder: &Path, compressed: bool) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).unwrap();
    let write = |(number, parquet): (usize, &PathBuf)| {
        let lines = json_lines(parquet);
        let plain = folder.join(format!("step_{number}.jsonl"));
        if compressed && number % 2 == 1 {
            let path = folder.join(format!("step_{number}.jsonl.zst"));
            std::fs::write(&path, zstd::encode_all(lines.as_bytes(), 1).unwrap()).unwrap();
            return path;
        }
        std::fs::write(&plain, lines).unwrap();
        plain
    };
    of.iter().enumerate().map(write).collect()
}

/// A log as JSON lines, one response a line.
pub fn json_lines(log: &Path) -> String {
    let mut lines = String::new();
    for batch in read_all(&[log.to_owned()], &IngestSettings::default()).unwrap() {
        let responses = &batch.responses;
        let tokens = |column: Column, i: usize| batch.floats(column).unwrap()[batch.range(i)].to_vec();
        let id = |column: Column, i: usize| match &batch.ids(column)?[i] {
            Id::Int(number) => Some(serde_json::json!(number)),
            other => Some(serde_json::json!(other.to_string())),
        };
        let advantages = batch.advantages().unwrap();
        for i in 0..batch.len() {
            let row = serde_json::json!({
                "step": responses.step[i],
                "group_id": id(Column::GroupId, i),
                "sample_id": id(Column::SampleId, i),
                "reward": responses.floats.get(Column::Reward).map(|values| values[i]),
                "token_id": batch.token_ids().unwrap()[batch.range(i)].to_vec(),
                "logprob": tokens(Column::Logprob, i),
                "entropy": tokens(Column::Entropy, i),
                "advantage": advantages[batch.range(i).start],
            });
            writeln!(lines, "{row}").unwrap();
        }
    }
    lines
}
