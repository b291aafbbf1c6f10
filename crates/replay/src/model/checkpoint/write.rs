//! Writing a checkpoint as Hugging Face transformers reads it.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::super::layout::Layout;
use super::safetensors_file::write_tensors;
use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;

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

/// Writes weights, configuration and the tokenizer of the folder that the model was loaded from.
pub fn write(
    folder: &Path,
    layout: &Layout,
    values: &[Vec<f32>],
    config: &Value,
    origin: Option<&Path>,
) -> Result<()> {
    let mut tensors = Vec::new();
    for (parameter, numbers) in layout.parameters.iter().zip(values) {
        let mut rest = numbers.as_slice();
        for piece in &parameter.pieces {
            let (part, after) = rest.split_at(piece.len());
            tensors.push((piece.name.clone(), piece.shape.clone(), part));
            rest = after;
        }
    }
    let text = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    write_tensors(&folder.join("model.safetensors"), text, &tensors)?;
    write_json(&folder.join("config.json"), &as_float32(config))?;
    if let Some(origin) = origin {
        for name in COMPANIONS {
            let source = origin.join(name);
            if source.is_file() && origin != folder {
                copy(&source, &folder.join(name))?;
            }
        }
    }
    Ok(())
}

fn as_float32(config: &Value) -> Value {
    let mut config = config.clone();
    if let Value::Object(map) = &mut config {
        // Weights are written as they are trained.
        map.remove("torch_dtype");
        map.insert("dtype".into(), "float32".into());
    }
    config
}

/// Writes a JSON file of a checkpoint.
pub fn write_json(path: &Path, json: &Value) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    serde_json::to_writer_pretty(&mut file, json).map_err(|e| Error::write(path, e))?;
    file.write_all(b"\n").map_err(|e| Error::write(path, e))?;
    file.commit()
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let mut from = std::fs::File::open(source).map_err(|e| Error::read(source, e))?;
    let mut file = AtomicFile::create(target)?;
    std::io::copy(&mut from, &mut file).map_err(|e| Error::write(target, e))?;
    file.commit()
}
