//! The same numbers as PyTorch and transformers, through the command line.

use serde_json::Value;
use stapo_analyze::ingest::Column;
use stapo_analyze::replay::device::parse_device;
use stapo_analyze::replay::model::{Engine, EngineSettings, Policy, Sequence};

use super::support::{column, read, sample};
use super::{done, result, with_model};

const OPTIONS: &str = "--responses 64 --minibatch 16 --lr 3e-4 --warmup 0 --tau-p 0.05 --dual-clip 1.02 --stare-target 0.5 --holdout 0 --no-shuffle -q";

/// Counts: the same numbers, not about the same.
const EXACT: [&str; 5] = ["tokens", "candidates", "silenced", "kept", "amplified"];

#[test]
fn losses_gradients_and_masks_are_those_of_pytorch() {
    let reference: Value =
        serde_json::from_slice(&std::fs::read(sample("reference/parity.json")).unwrap()).unwrap();
    let objectives = reference["objectives"].as_object().unwrap();
    let names: Vec<&str> = objectives.keys().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("policies");
    let mut command = with_model(&sample("grpo.parquet"), folder.path(), OPTIONS);
    // The processor, or the device under test (examples/replay/parity_on_wgpu.sh).
    let device = std::env::var("STAPO_REPLAY_DEVICE").unwrap_or("cpu".into());
    done({
        command.arg("--device").arg(device).arg("--objective").arg(names.join(",")).arg("--save").arg(&saved);
        command
    });
    let result = result(folder.path());
    assert_eq!(result["arms"].as_array().unwrap().len(), names.len());
    for arm in result["arms"].as_array().unwrap() {
        let name = arm["objective"].as_str().unwrap();
        let expected = objectives[name]["minibatches"].as_array().unwrap();
        let updates = arm["updates"].as_array().unwrap();
        assert_eq!(updates.len(), expected.len(), "{name}");
        for (place, (found, expected)) in updates.iter().zip(expected).enumerate() {
            compare(&format!("{name}, mini-batch {place}"), found, expected);
        }
        let after = &objectives[name]["after"];
        compare_after(name, &saved.join(name), after);
    }
    let first = &reference["forward"]["first_response"];
    let tokens = read(&folder.path().join("dapo.parquet"));
    for (name, canonical) in [("logprob", Column::Logprob), ("entropy", Column::Entropy)] {
        let found = column(&tokens, canonical);
        for (t, expected) in first[name].as_array().unwrap().iter().enumerate() {
            let difference = (f64::from(found[t]) - expected.as_f64().unwrap()).abs();
            assert!(difference < 2e-5, "{name} of token {t}: {difference}");
        }
    }
}

fn compare(place: &str, found: &Value, expected: &Value) {
    for (key, expected) in expected.as_object().unwrap() {
        let value = found[key].as_f64().unwrap_or_else(|| panic!("{place}: no {key}"));
        let expected = expected.as_f64().unwrap();
        let allowed = match key.as_str() {
            key if EXACT.contains(&key) => 0.0,
            "grad_norm" => (expected * 1e-3).max(1e-6),
            "loss" => 2e-5,
            // Ratios of rare tokens move by much; all of these are means or maxima over tokens.
            "max_ratio" => expected * 5e-3,
            _ => 1e-4,
        };
        assert!((value - expected).abs() <= allowed, "{place}: {key} {value} instead of {expected}");
    }
}

/// The saved policy gives the first response the reference's log-probabilities.
fn compare_after(name: &str, folder: &std::path::Path, expected: &Value) {
    let device = parse_device("cpu").unwrap();
    let policy = Policy::load(folder, &device).unwrap();
    let engine = Engine::new(&EngineSettings::new(&device)).unwrap();
    let log = read(&sample("grpo.parquet"));
    let prompt = log[0].responses.prompt_ids.as_ref().unwrap()[0].clone().unwrap();
    let response = &log[0].token_ids().unwrap()[log[0].range(0)];
    let tokens = prompt.iter().chain(response).map(|id| id.cast_unsigned()).collect();
    let sequence = Sequence { tokens, response_start: prompt.len() };
    let stats = engine.measure(&policy, &[sequence]).unwrap().remove(0);
    for (t, expected) in expected["first_response_logprob"].as_array().unwrap().iter().enumerate() {
        let difference = (f64::from(stats.logprob[t]) - expected.as_f64().unwrap()).abs();
        assert!(difference < 1e-3, "{name}: token {t} is {difference} off after four updates");
    }
    let entropy = stats.entropy.iter().map(|h| f64::from(*h)).sum::<f64>() / stats.entropy.len() as f64;
    let expected = expected["first_response_mean_entropy"].as_f64().unwrap();
    assert!((entropy - expected).abs() < 1e-3, "{name}: entropy {entropy} instead of {expected}");
}
