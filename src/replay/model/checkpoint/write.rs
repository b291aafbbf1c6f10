//! Writing a checkpoint as Hugging Face transformers reads it.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::super::host_values;
use super::super::policy::Policy;
use super::write_tensors;
use crate::error::{Error, Result};
use crate::output::AtomicFile;

/// What belongs to a model beside weights and configuration.
const COMPANIONS: &[&str] = &[
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "generation_config.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
];

/// Writes weights, configuration and tokenizer into a folder.
pub(in super::super) fn write(policy: &Policy, folder: &Path) -> Result<()> {
    let values: Vec<Vec<f32>> = policy.parameters.iter().map(host_values).collect();
    let mut tensors = Vec::new();
    for (parameter, numbers) in policy.layout.parameters.iter().zip(&values) {
        let mut rest = numbers.as_slice();
        for piece in &parameter.pieces {
            let (part, after) = rest.split_at(piece.len());
            tensors.push((piece.name.clone(), piece.shape.clone(), part));
            rest = after;
        }
    }
    let text = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    write_tensors(&folder.join("model.safetensors"), text, &tensors)?;
    write_config(policy, &folder.join("config.json"))?;
    if let Some(origin) = &policy.origin.folder {
        for name in COMPANIONS {
            let source = origin.join(name);
            if source.is_file() && origin != folder {
                copy(&source, &folder.join(name))?;
            }
        }
    }
    Ok(())
}

fn write_config(policy: &Policy, path: &Path) -> Result<()> {
    let mut config = policy.origin.config_json.clone();
    if let Value::Object(map) = &mut config {
        // Weights are written as they are trained.
        map.remove("torch_dtype");
        map.insert("dtype".into(), "float32".into());
    }
    let mut file = AtomicFile::create(path)?;
    serde_json::to_writer_pretty(&mut file, &config).map_err(|e| Error::write(path, e))?;
    file.write_all(b"\n").map_err(|e| Error::write(path, e))?;
    file.commit()
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let mut from = std::fs::File::open(source).map_err(|e| Error::read(source, e))?;
    let mut file = AtomicFile::create(target)?;
    std::io::copy(&mut from, &mut file).map_err(|e| Error::write(target, e))?;
    file.commit()
}
