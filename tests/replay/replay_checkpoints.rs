//! Model folders that cannot be trusted: every mistake is named, and what to do about it.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stapo_analyze::error::Error;
use stapo_analyze::replay::device::parse_device;
use stapo_analyze::replay::model::Policy;

/// A folder of our own with a copy of a checkpoint.
fn copy(name: &str) -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/replay").join(name);
    let target = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        // An adapter beside it is not part of it.
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        fs::copy(entry.path(), target.path().join(entry.file_name())).unwrap();
    }
    target
}

fn refusal(folder: &Path) -> Error {
    let error = Policy::load(folder, &parse_device("cpu").unwrap()).map(|_| "loaded").unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

fn says(folder: &Path, parts: &[&str]) {
    let text = refusal(folder).to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}: {parts:?}");
}

fn with_config(name: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let folder = copy(name);
    let path = folder.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut config);
    fs::write(path, config.to_string()).unwrap();
    folder
}

/// Rewrites a safetensors file with another header; the tensors' bytes stay.
fn with_header(name: &str, change: impl FnOnce(&mut Value)) -> (tempfile::TempDir, PathBuf) {
    let folder = copy(name);
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    change(&mut header);
    let header = header.to_string();
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend_from_slice(header.as_bytes());
    changed.extend_from_slice(&bytes[8 + length..]);
    fs::write(&path, changed).unwrap();
    (folder, path)
}

#[test]
fn configurations_that_cannot_be_followed() {
    type Change = fn(&mut Value);
    let cases: [(Change, &[&str]); 13] = [
        (|c| c["num_hidden_layers"] = json!(1 << 20), &["num_hidden_layers", "more than"]),
        (|c| c["model_type"] = json!("mamba"), &["model_type", "mamba"]),
        (|c| c["hidden_act"] = json!("gelu"), &["hidden_act", "gelu"]),
        (|c| c["hidden_size"] = json!(-5), &["hidden_size", "-5"]),
        (|c| c["vocab_size"] = json!(1u64 << 40), &["vocab_size", "not a size"]),
        (|c| c["num_key_value_heads"] = json!(3), &["num_key_value_heads", "does not divide"]),
        (|c| c["head_dim"] = json!(7), &["head_dim", "odd"]),
        (|c| c["rms_norm_eps"] = json!("small"), &["rms_norm_eps", "positive"]),
        (|c| c["use_sliding_window"] = json!(true), &["use_sliding_window"]),
        (|c| c["layer_types"] = json!(["sliding_attention"]), &["layer_types"]),
        (|c| c["rope_parameters"] = json!({"rope_type": "yarn"}), &["rope_parameters", "yarn"]),
        (|c| c["rope_parameters"] = json!({"rope_type": "llama3"}), &["rope_parameters", "factor"]),
        (|c| c["quantization_config"] = json!({}), &["quantization_config"]),
    ];
    for (change, parts) in cases {
        says(with_config("qwen2", change).path(), parts);
    }
    let folder = copy("qwen2");
    fs::write(folder.path().join("config.json"), "[1, 2").unwrap();
    says(folder.path(), &["config.json"]);
    assert!(matches!(refusal(Path::new("no/such/model")), Error::NotFound { .. }));
}

#[test]
fn old_and_new_places_of_rotary_settings_mean_the_same() {
    let new = copy("llama");
    let old = with_config("llama", |c| {
        let parameters = c.as_object_mut().unwrap().remove("rope_parameters").unwrap();
        c["rope_theta"] = parameters["rope_theta"].clone();
        c["rope_scaling"] = parameters;
        c["rope_scaling"].as_object_mut().unwrap().remove("rope_theta");
    });
    let load = |folder: &Path| Policy::load(folder, &parse_device("cpu").unwrap()).unwrap();
    assert_eq!(load(new.path()).config(), load(old.path()).config());
}

#[test]
fn tensors_that_do_not_fit() {
    let rename = |header: &mut Value, from: &str, to: &str| {
        let map = header.as_object_mut().unwrap();
        let tensor = map.remove(from).unwrap();
        map.insert(to.to_owned(), tensor);
    };
    let (folder, _) = with_header("qwen2", |h| rename(h, "model.norm.weight", "model.norm.scale"));
    says(folder.path(), &["model.norm.scale", "not part of"]);
    let (folder, _) = with_header("qwen2", |h| rename(h, "model.norm.weight", "model.rotary_emb.inv_freq"));
    says(folder.path(), &["model.norm.weight", "missing"]);
    let (folder, _) = with_header("qwen2", |h| {
        h["model.embed_tokens.weight"]["shape"] = json!([32, 96]);
    });
    says(folder.path(), &["model.embed_tokens.weight", "[32, 96]", "[96, 32]"]);
    let (folder, _) = with_header("qwen2", |h| h["model.norm.weight"]["dtype"] = json!("I32"));
    says(folder.path(), &["model.norm.weight", "I32"]);
    // Without the output matrix that an untied model needs.
    says(
        with_config("qwen2", |c| c["tie_word_embeddings"] = json!(false)).path(),
        &["lm_head.weight", "missing"],
    );
    // Not a number among the weights.
    let folder = copy("qwen2");
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    says(folder.path(), &["tensor", "NaN"]);
}

#[test]
fn files_that_are_not_what_they_say() {
    let (folder, path) = with_header("qwen2", |_| {});
    Policy::load(folder.path(), &parse_device("cpu").unwrap()).unwrap();
    let bytes = fs::read(&path).unwrap();
    for (content, part) in [
        (bytes[..bytes.len() - 3].to_vec(), "describes"),
        (bytes[..5].to_vec(), "too short"),
        ([&u64::MAX.to_le_bytes()[..], b"{}"].concat(), "claims"),
        ([&2u64.to_le_bytes()[..], b"no"].concat(), "header"),
    ] {
        fs::write(&path, content).unwrap();
        says(folder.path(), &["model.safetensors", part]);
    }
    // Offsets that overlap or lie: the header is refused as a whole.
    let (folder, _) = with_header("qwen2", |h| h["model.norm.weight"]["data_offsets"] = json!([0, 128]));
    says(folder.path(), &["header"]);
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    fs::write(folder.path().join("pytorch_model.bin"), b"\x80\x04").unwrap();
    says(folder.path(), &["neither model.safetensors nor"]);
}

#[test]
fn shards_stay_inside_their_folder() {
    for (name, part) in [
        ("../other/model.safetensors", "not a safetensors file of this folder"),
        ("/etc/passwd", "not a safetensors file of this folder"),
        ("weights.bin", "not a safetensors file of this folder"),
        ("model-00003-of-00002.safetensors", "no such file"),
    ] {
        let folder = copy("qwen3");
        let path = folder.path().join("model.safetensors.index.json");
        let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        index["weight_map"]["model.norm.weight"] = json!(name);
        fs::write(path, index.to_string()).unwrap();
        says(folder.path(), &[part]);
    }
    let folder = copy("qwen3");
    fs::copy(
        folder.path().join("model-00001-of-00002.safetensors"),
        folder.path().join("model-00002-of-00002.safetensors"),
    )
    .unwrap();
    says(folder.path(), &["is in two files"]);
}
