//! References, engines, and what both files of tests do with them.

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use serde_json::Value;
use stapo_replay::device::{parse_device, shares_host_memory};
use stapo_replay::model::{
    AdamW, AdamWSettings, Engine, EngineSettings, Gradients, Policy, Sequence, TokenStats,
};

pub const MODELS: [&str; 3] = ["qwen2", "qwen3", "llama"];

pub struct Reference {
    pub policy: Policy,
    pub sequences: Vec<Sequence>,
    pub weights: Vec<Vec<f32>>,
    pub values: Value,
}

/// The processor, or the device under test (examples/replay/parity_on_wgpu.sh).
pub fn device() -> Device {
    parse_device(&std::env::var("STAPO_REPLAY_DEVICE").unwrap_or("cpu".into())).unwrap()
}

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/replay").join(name)
}

pub fn reference(name: &str) -> Reference {
    let text = std::fs::read_to_string(folder(name).join("values.json")).unwrap();
    let values: Value = serde_json::from_str(&text).unwrap();
    let sequence = |s: &Value| Sequence {
        tokens: s["tokens"].as_array().unwrap().iter().map(|t| t.as_u64().unwrap() as u32).collect(),
        response_start: s["response_start"].as_u64().unwrap() as usize,
    };
    Reference {
        policy: Policy::load(&folder(name), &device()).unwrap(),
        sequences: values["sequences"].as_array().unwrap().iter().map(sequence).collect(),
        weights: values["weights"].as_array().unwrap().iter().map(floats).collect(),
        values,
    }
}

pub fn floats(list: &Value) -> Vec<f32> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

/// Both ways to compute: fused loops over the processor's memory (where the device has it), and tensor
/// operations on padded batches, as other devices compute.
pub fn ways() -> Vec<bool> {
    if shares_host_memory(&device()) { vec![false, true] } else { vec![true] }
}

/// How much coarser than float32 the device's products are: on CUDA they are those of bfloat16 parts, which
/// keep 17 of float32's 24 bits.
pub fn coarseness() -> f32 {
    if std::env::var("STAPO_REPLAY_DEVICE").is_ok_and(|d| d.starts_with("cuda")) { 30.0 } else { 1.0 }
}

pub fn engine(padded: bool, change: impl FnOnce(&mut EngineSettings)) -> Engine {
    let mut settings = EngineSettings::new(&device());
    settings.padded = padded;
    settings.threads = 2;
    change(&mut settings);
    Engine::new(&settings).unwrap()
}

pub fn close(ours: &[f32], theirs: &[f32], tolerance: f32, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what} {i}: {a} and {b}");
    }
}

/// Every sequence with what the reference says of it.
pub fn paired<'a>(
    ours: &'a [TokenStats],
    theirs: &'a Value,
) -> impl Iterator<Item = (&'a TokenStats, &'a Value)> {
    let theirs = theirs.as_array().unwrap();
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs)
}

pub fn gradients(engine: &Engine, r: &Reference) -> (Vec<TokenStats>, Gradients) {
    engine.differentiate(&r.policy, &r.sequences, |_| Ok(r.weights.clone())).unwrap()
}

/// A sequence of 30 tokens, the first two of them the prompt.
pub fn practised(vocabulary: usize) -> Sequence {
    let tokens = (0..30).map(|i| (i * 7 + i * i) % vocabulary as u32).collect();
    Sequence { tokens, response_start: 2 }
}

/// Lets a policy learn one sequence by heart: the mean log-probability of its tokens before each step.
pub fn learning_curve(engine: &Engine, mut policy: Policy) -> Vec<f32> {
    let batch = [practised(policy.config().vocab_size)];
    let tokens = batch[0].response().len() as f32;
    let mut optimizer = AdamW::new(AdamWSettings::default());
    let mut step = || {
        let (stats, gradients) =
            engine.differentiate(&policy, &batch, |s| Ok(vec![vec![-1.0 / tokens; s[0].len()]])).unwrap();
        policy = optimizer.step(policy.clone(), gradients, 1e-2);
        stats[0].logprob.iter().sum::<f32>() / tokens
    };
    (0..60).map(|_| step()).collect()
}
