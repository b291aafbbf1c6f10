//! What is trained and its optimizer in one file, bit for bit, so that a run that was stopped continues as if it
//! had not been.

use std::collections::HashMap;
use std::path::Path;

use burn::tensor::{Tensor, TensorData};

use super::adamw::{AdamW, AdamWSettings};
use super::checkpoint::{TensorFile, write_tensors};
use super::host_values::host_values;
use super::policy::Policy;
use stapo_base::error::{Error, Result};

const FORMAT: &str = "stapo-analyze replay state 1";

/// Writes what is trained of a policy and the moments of its optimizer.
pub fn save_state(path: &Path, policy: &Policy, optimizer: &AdamW) -> Result<()> {
    let mut values = vec![];
    for (index, weight) in policy.trained().iter().enumerate() {
        values.push((format!("weight.{index}"), weight.dims().to_vec(), host_values(weight)));
    }
    for (index, moments) in optimizer.moments.iter().enumerate() {
        for (kind, moment) in ["first", "second"].iter().zip(moments) {
            values.push((format!("{kind}.{index}"), moment.dims().to_vec(), host_values(moment)));
        }
    }
    let tensors: Vec<_> = values.iter().map(|(n, s, v)| (n.clone(), s.clone(), v.as_slice())).collect();
    let text = HashMap::from([
        ("format".to_owned(), FORMAT.to_owned()),
        ("steps".to_owned(), optimizer.steps.to_string()),
    ]);
    write_tensors(path, text, &tensors)
}

/// Reads what [`save_state`] wrote, for the same model: `policy` says which.
pub fn load_state(path: &Path, policy: &Policy, settings: AdamWSettings) -> Result<(Policy, AdamW)> {
    let mut file = TensorFile::open(path)?;
    let bad = |message: &str| Error::Corrupt {
        path: path.to_owned(),
        place: "state of a replay".into(),
        message: message.into(),
    };
    if file.text("format") != Some(FORMAT) {
        return Err(bad("not written by this program, or by another version"));
    }
    let steps: u64 = file.text("steps").and_then(|s| s.parse().ok()).ok_or_else(|| bad("no steps"))?;
    let device = policy.device();
    let mut read = |name: String, like: &Tensor<2>| -> Result<Tensor<2>> {
        let shape = like.dims();
        let mut values = Vec::new();
        file.read_into(&name, &shape, &mut values)?;
        Ok(Tensor::from_data(TensorData::new(values, shape), &device))
    };
    let mut parameters = vec![];
    let mut moments = vec![];
    for (index, weight) in policy.trained().iter().enumerate() {
        parameters.push(read(format!("weight.{index}"), weight)?);
        if steps > 0 {
            moments.push([read(format!("first.{index}"), weight)?, read(format!("second.{index}"), weight)?]);
        }
    }
    Ok((policy.with_parameters(parameters)?, AdamW { settings, steps, moments }))
}
