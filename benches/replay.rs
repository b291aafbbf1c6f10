//! Training speed of the replay's model on the sample log: whole updates (forward, backward, global
//! clip, AdamW) on mini-batches of sixteen responses, as `replay_against_pytorch.py` does in PyTorch.
//!
//!     cargo bench --bench replay                  # 40 updates
//!     cargo bench --bench replay -- 200 2 512     # updates, threads, tokens per micro-batch
//!
//! Prints one line of JSON: response tokens per second (prompt tokens are not counted), seconds per
//! update, processor seconds per update, and memory after a tenth of the updates and at the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

mod support;

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use stapo_analyze::replay::device::parse_device;
use stapo_analyze::replay::model::{AdamW, AdamWSettings, Engine, EngineSettings, Policy, Sequence};
use support::processor_seconds;

const RESPONSES: usize = 16;
/// Mini-batches of the log that are used, again and again.
const MINIBATCHES: usize = 32;

struct Minibatch {
    sequences: Vec<Sequence>,
    old: Vec<Vec<f32>>,
    advantages: Vec<f32>,
}

fn main() {
    let mut arguments =
        std::env::args().skip(1).filter(|a| a != "--bench").map(|a| a.parse::<usize>().unwrap());
    let updates = arguments.next().unwrap_or(40);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data");
    let device = parse_device("cpu").unwrap();
    let mut settings = EngineSettings::new(&device);
    settings.threads = arguments.next().unwrap_or(settings.threads);
    settings.tokens_per_microbatch = arguments.next();
    let engine = Engine::new(&settings).unwrap();
    let batches = read(&data.join("grpo.parquet"));
    let mut policy = Policy::load(&data.join("model"), &device).unwrap();
    let mut optimizer = AdamW::new(AdamWSettings::default());
    for batch in &batches[..2] {
        policy = update(&engine, policy, &mut optimizer, batch);
    }
    let (mut tokens, mut early) = (0, 0.0);
    let (clock, processor) = (Instant::now(), processor_seconds());
    for index in 0..updates {
        let batch = &batches[index % batches.len()];
        tokens += batch.old.iter().map(Vec::len).sum::<usize>();
        policy = update(&engine, policy, &mut optimizer, batch);
        if index == updates / 10 {
            early = resident_megabytes();
        }
    }
    let (seconds, processor) = (clock.elapsed().as_secs_f64(), processor_seconds() - processor);
    println!(
        "{{\"tokens_per_second\": {:.0}, \"update_seconds\": {:.4}, \"processor_seconds\": {:.4}, \
         \"early_megabytes\": {early:.0}, \"last_megabytes\": {:.0}}}",
        tokens as f64 / seconds,
        seconds / updates as f64,
        processor / updates as f64,
        resident_megabytes(),
    );
}

/// One update of the objective `dapo`.
fn update(engine: &Engine, policy: Policy, optimizer: &mut AdamW, batch: &Minibatch) -> Policy {
    let tokens: usize = batch.old.iter().map(Vec::len).sum();
    let (_, mut gradients) = engine
        .differentiate(&policy, &batch.sequences, |stats| {
            let rows = stats.iter().zip(&batch.old).zip(&batch.advantages);
            Ok(rows
                .map(|((stats, old), advantage)| {
                    stats
                        .logprob
                        .iter()
                        .zip(old)
                        .map(|(new, old)| weight(new - old, *advantage, tokens))
                        .collect()
                })
                .collect())
        })
        .unwrap();
    let norm = gradients.norms().global;
    if norm > 1.0 {
        gradients.scale(1.0 / (norm + 1e-6));
    }
    optimizer.step(policy, gradients, 1e-6)
}

fn weight(log_ratio: f32, advantage: f32, tokens: usize) -> f32 {
    let ratio = log_ratio.exp();
    let free = ratio * advantage <= ratio.clamp(0.8, 1.28) * advantage;
    if free { -ratio * advantage / tokens as f32 } else { 0.0 }
}

fn read(path: &Path) -> Vec<Minibatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let reader = reader.with_batch_size(RESPONSES).with_limit(RESPONSES * MINIBATCHES).build().unwrap();
    reader.map(|batch| minibatch(&batch.unwrap())).collect()
}

fn minibatch(batch: &RecordBatch) -> Minibatch {
    let list = |name: &str, row: usize| batch.column_by_name(name).unwrap().as_list::<i32>().value(row);
    let rows = 0..batch.num_rows();
    let sequences = rows.clone().map(|row| {
        let mut tokens = ids(&list("prompt_ids", row));
        let response_start = tokens.len();
        tokens.extend(ids(&list("token_ids", row)));
        Sequence { tokens, response_start }
    });
    Minibatch {
        sequences: sequences.collect(),
        old: rows.clone().map(|row| floats(&list("logprob", row))).collect(),
        advantages: floats(batch.column_by_name("advantage").unwrap()),
    }
}

fn ids(array: &dyn Array) -> Vec<u32> {
    if let Some(ids) = array.as_primitive_opt::<Int32Type>() {
        return ids.values().iter().map(|id| *id as u32).collect();
    }
    array.as_primitive::<Int64Type>().values().iter().map(|id| *id as u32).collect()
}

fn floats(array: &dyn Array) -> Vec<f32> {
    if let Some(values) = array.as_primitive_opt::<Float32Type>() {
        return values.values().to_vec();
    }
    array.as_primitive::<Float64Type>().values().iter().map(|v| *v as f32).collect()
}

fn resident_megabytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
