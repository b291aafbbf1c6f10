//! The replay's model on the sample log: the reference of notebooks-data, computed with PyTorch.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use stapo_analyze::replay::device::parse_device;
use stapo_analyze::replay::model::{AdamW, AdamWSettings, Engine, EngineSettings, Policy, Sequence};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data")
}

struct Log {
    sequences: Vec<Sequence>,
    old: Vec<Vec<f32>>,
    advantages: Vec<f32>,
}

fn first_responses(count: usize) -> Log {
    let file = File::open(data().join("grpo.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(count);
    let batch = reader.with_limit(count).build().unwrap().next().unwrap().unwrap();
    let ids = |name: &str, row: usize| -> Vec<u32> {
        let list = batch.column_by_name(name).unwrap().as_list::<i32>().value(row);
        list.as_primitive::<Int32Type>().values().iter().map(|id| *id as u32).collect()
    };
    let rows = 0..batch.num_rows();
    let sequences = rows.clone().map(|row| {
        let (mut tokens, response) = (ids("prompt_ids", row), ids("token_ids", row));
        let response_start = tokens.len();
        tokens.extend(response);
        Sequence { tokens, response_start }
    });
    let logprobs = batch.column_by_name("logprob").unwrap().as_list::<i32>();
    Log {
        sequences: sequences.collect(),
        old: rows.map(|row| logprobs.value(row).as_primitive::<Float32Type>().values().to_vec()).collect(),
        advantages: batch
            .column_by_name("advantage")
            .unwrap()
            .as_primitive::<Float32Type>()
            .values()
            .to_vec(),
    }
}

fn floats(list: &Value) -> Vec<f32> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

fn close(ours: &[f32], theirs: &Value, tolerance: f32) {
    let theirs = floats(theirs);
    assert_eq!(ours.len(), theirs.len());
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance, "{i}: {a} and {b}");
    }
}

#[test]
fn the_sample_model_gives_the_reference() {
    let text = std::fs::read_to_string(data().join("reference/parity.json")).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    let log = first_responses(64);
    let device = parse_device("cpu").unwrap();
    let engine = Engine::new(&EngineSettings::new(&device)).unwrap();
    let mut policy = Policy::load(&data().join("model"), &device).unwrap();

    let stats = engine.measure(&policy, &log.sequences).unwrap();
    let first = &reference["forward"]["first_response"];
    close(&stats[0].logprob, &first["logprob"], 2e-5);
    close(&stats[0].entropy, &first["entropy"], 2e-5);
    close(&stats[0].sum_pi_sq, &first["sum_pi_sq"], 2e-6);
    close(&stats[0].sum_pi_sq_log_pi, &first["sum_pi_sq_log_pi"], 2e-6);
    for (i, (stats, old)) in stats.iter().zip(&log.old).enumerate() {
        let differences: Vec<f32> = stats.logprob.iter().zip(old).map(|(a, b)| (a - b).abs()).collect();
        assert!(differences.iter().all(|d| *d < 2e-5), "response {i}: {differences:?}");
    }

    // Four updates of `dapo`.
    let expected = &reference["objectives"]["dapo"];
    let mut optimizer = AdamW::new(AdamWSettings::default());
    for index in 0..4 {
        let rows = index * 16..(index + 1) * 16;
        let tokens: usize = log.old[rows.clone()].iter().map(Vec::len).sum();
        let weigh = |ratio: f32, advantage: f32| {
            let free = ratio * advantage <= ratio.clamp(0.8, 1.28) * advantage;
            if free { -ratio * advantage / tokens as f32 } else { 0.0 }
        };
        let (_, mut gradients) = engine
            .differentiate(&policy, &log.sequences[rows.clone()], |stats| {
                let old = log.old[rows.clone()].iter().zip(&log.advantages[rows.clone()]);
                let weights = stats.iter().zip(old).map(|(stats, (old, advantage))| {
                    stats.logprob.iter().zip(old).map(|(a, b)| weigh((a - b).exp(), *advantage)).collect()
                });
                Ok(weights.collect())
            })
            .unwrap();
        let (norm, theirs) =
            (gradients.norms().global, expected["minibatches"][index]["grad_norm"].as_f64().unwrap());
        assert!((norm - theirs).abs() <= 1e-6 + 1e-5 * theirs, "{norm} and {theirs}");
        if norm > 1.0 {
            gradients.scale(1.0 / (norm + 1e-6));
        }
        policy = optimizer.step(policy, gradients, 3e-4);
    }
    let after = engine.measure(&policy, &log.sequences[..1]).unwrap();
    close(&after[0].logprob, &expected["after"]["first_response_logprob"], 2e-5);
}
