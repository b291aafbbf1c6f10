//! An adapter's folder: `adapter_config.json` and `adapter_model.safetensors`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::super::checkpoint::{TensorFile, read_json, write_json, write_tensors};
use super::super::layout::{Layout, Parameter};
use super::super::shorten::shorten;
use super::config;
use super::lora::{Lora, PREFIX, Target};
use stapo_base::error::{Error, Result};

const CONFIG: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";

/// The shape of a saved adapter.
pub fn read_lora(folder: &Path) -> Result<Lora> {
    let lora = config::parse(&folder.join(CONFIG), &read_json(&found(folder, CONFIG)?)?)?;
    let file = TensorFile::open(&found(folder, WEIGHTS)?)?;
    let mut targets = BTreeSet::new();
    for name in file.names() {
        let target = module(&name).and_then(|module| Target::of(module.rsplit('.').next()?));
        let Some(target) = target else {
            let message =
                format!("tensor `{}` is of no layer that an adapter is computed on", shorten(&name));
            let known = Target::ALL.map(Target::name).join(", ");
            return Err(refused(file.path(), &message, &format!("computed are {known}")));
        };
        targets.insert(target);
    }
    if targets.is_empty() {
        return Err(refused(file.path(), "holds no tensors", "save the adapter again"));
    }
    Ok(Lora { targets: targets.into_iter().collect(), ..lora })
}

/// Hands over the numbers of every parameter of a saved adapter, in the order of the layout.
pub fn read_numbers(
    folder: &Path,
    layout: &Layout,
    mut take: impl FnMut(&Parameter, Vec<f32>),
) -> Result<()> {
    let of_model = "give the adapter that was trained on the model that --model names";
    let mut file = TensorFile::open(&found(folder, WEIGHTS)?)?;
    let known: BTreeSet<&str> =
        layout.trained().iter().flat_map(|p| p.pieces.iter().map(|piece| piece.name.as_str())).collect();
    if let Some(other) = file.names().into_iter().find(|name| !known.contains(name.as_str())) {
        let message = format!("the model has no place for tensor `{}`", shorten(&other));
        return Err(refused(file.path(), &message, of_model));
    }
    for parameter in layout.trained() {
        let mut numbers = Vec::with_capacity(parameter.rows * parameter.columns);
        for piece in &parameter.pieces {
            file.read_into(&piece.name, &piece.shape, &mut numbers).map_err(|error| match error {
                Error::ModelTensor { path, tensor, message } => {
                    let message = message.replace("the configuration needs", "the model needs");
                    refused(&path, &format!("tensor `{tensor}` {message}"), of_model)
                }
                other => other,
            })?;
        }
        if let Some(bad) = numbers.iter().find(|v| !v.is_finite()) {
            return Err(refused(file.path(), &format!("holds {bad}"), "save the adapter again"));
        }
        take(parameter, numbers);
    }
    Ok(())
}

/// Writes an adapter that PEFT loads on the model of folder `base`.
pub fn write(
    folder: &Path,
    layout: &Layout,
    lora: &Lora,
    values: &[Vec<f32>],
    base: Option<&Path>,
) -> Result<()> {
    let pieces = layout.trained().iter().zip(values).flat_map(|(parameter, numbers)| {
        parameter.pieces.iter().map(|piece| (piece.name.clone(), piece.shape.clone(), numbers.as_slice()))
    });
    let text = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    write_tensors(&folder.join(WEIGHTS), text, &pieces.collect::<Vec<_>>())?;
    write_json(&folder.join(CONFIG), &config::to_json(lora, base))
}

/// The module that a tensor of an adapter belongs to.
fn module(tensor: &str) -> Option<&str> {
    let rest = tensor.strip_prefix(PREFIX)?;
    rest.strip_suffix(".lora_A.weight").or_else(|| rest.strip_suffix(".lora_B.weight"))
}

fn found(folder: &Path, name: &str) -> Result<std::path::PathBuf> {
    if !folder.is_dir() {
        return Err(Error::NotFound { path: folder.to_owned() });
    }
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("{name} is not in this folder");
    Err(refused(folder, &message, "give the folder that PEFT's save_pretrained wrote, or replay --save"))
}

fn refused(path: &Path, message: &str, hint: &str) -> Error {
    Error::Usage { message: format!("{}: {message}", path.display()), hint: hint.into() }
}
