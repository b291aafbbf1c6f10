//! Reading a checkpoint: what the configuration needs, no more and no less, from one file or shards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use serde_json::Value;

use super::super::config::ModelConfig;
use super::super::layout::{Layout, Parameter};
use super::super::shorten::shorten;
use super::safetensors_file::TensorFile;
use stapo_base::error::{Error, Result};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// JSON files of real checkpoints stay far below.
const LARGEST_JSON: u64 = 64 << 20;

/// `config.json` of a folder, checked and as it is.
pub fn read_config(folder: &Path) -> Result<(ModelConfig, Value)> {
    if !folder.is_dir() {
        return Err(Error::NotFound { path: folder.to_owned() });
    }
    let path = folder.join("config.json");
    if !path.exists() {
        return Err(Error::ModelConfig {
            path: folder.to_owned(),
            key: "config.json".into(),
            message: "not in this folder".into(),
        });
    }
    let json = read_json(&path)?;
    Ok((ModelConfig::parse(&path, &json)?, json))
}

/// Hands over the numbers of every parameter, one after another in the order of the layout: no more than
/// one of them is held here.
pub fn read_tensors(
    folder: &Path,
    layout: &Layout,
    mut take: impl FnMut(&Parameter, Vec<f32>),
) -> Result<()> {
    let mut files = open_files(folder)?;
    let mut holder = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for name in file.names() {
            if holder.insert(name.clone(), index).is_some() {
                return Err(tensor_error(file.path(), &name, "is in two files"));
            }
        }
    }
    let needed: BTreeSet<&str> =
        layout.parameters.iter().flat_map(|p| p.pieces.iter().map(|piece| piece.name.as_str())).collect();
    for (name, index) in &holder {
        // A tied output matrix may be written out all the same: it is the embedding again.
        let tied_copy = name == "lm_head.weight" && layout.head == layout.embedding;
        let computed = name.ends_with("rotary_emb.inv_freq");
        if !needed.contains(name.as_str()) && !tied_copy && !computed {
            return Err(tensor_error(files[*index].path(), name, "is not part of this architecture"));
        }
    }
    for parameter in &layout.parameters {
        let mut numbers = Vec::with_capacity(parameter.rows * parameter.columns);
        for piece in &parameter.pieces {
            let Some(index) = holder.get(&piece.name) else {
                return Err(tensor_error(folder, &piece.name, "missing"));
            };
            files[*index].read_into(&piece.name, &piece.shape, &mut numbers)?;
            if let Some(bad) = numbers.iter().rev().take(piece.len()).find(|v| !v.is_finite()) {
                return Err(tensor_error(files[*index].path(), &piece.name, &format!("holds {bad}")));
            }
        }
        take(parameter, numbers);
    }
    Ok(())
}

fn open_files(folder: &Path) -> Result<Vec<TensorFile>> {
    let single = folder.join(SINGLE);
    if single.exists() {
        return Ok(vec![TensorFile::open(&single)?]);
    }
    let index = folder.join(INDEX);
    if !index.exists() {
        let message = format!("neither {SINGLE} nor {INDEX} is in the folder");
        return Err(Error::ModelConfig { path: folder.to_owned(), key: "(weights)".into(), message });
    }
    let json = read_json(&index)?;
    let bad = |message: String| Error::ModelConfig { path: index.clone(), key: "weight_map".into(), message };
    let map = json.get("weight_map").and_then(Value::as_object).ok_or_else(|| bad("missing".into()))?;
    let mut names = BTreeSet::new();
    for value in map.values() {
        let name = value.as_str().ok_or_else(|| bad("names something that is no file".into()))?;
        let mut parts = Path::new(name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !plain || !name.ends_with(".safetensors") {
            return Err(bad(format!("`{}` is not a safetensors file of this folder", shorten(name))));
        }
        names.insert(name);
    }
    names.into_iter().map(|name| TensorFile::open(&folder.join(name))).collect()
}

/// A JSON file of a checkpoint.
pub fn read_json(path: &Path) -> Result<Value> {
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let mut text = Vec::new();
    file.take(LARGEST_JSON).read_to_end(&mut text).map_err(|e| Error::read(path, e))?;
    serde_json::from_slice(&text).map_err(|e| Error::Corrupt {
        path: path.to_owned(),
        place: String::new(),
        message: e.to_string(),
    })
}

fn tensor_error(path: &Path, tensor: &str, message: &str) -> Error {
    Error::ModelTensor { path: path.to_owned(), tensor: shorten(tensor), message: message.into() }
}
