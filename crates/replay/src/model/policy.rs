//! A policy: a decoder's parameters on a device.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;

use super::checkpoint;
use super::config::ModelConfig;
use super::host_values::host_values;
use super::layout::{Layout, Parameter};
use stapo_base::error::{Error, Result};
use stapo_base::stats::random::Random;

/// A decoder with its parameters. Copies share them until one is trained.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(super) config: Arc<ModelConfig>,
    pub(super) layout: Arc<Layout>,
    /// In the order of the layout; vectors are one row.
    pub(super) parameters: Vec<Tensor<2>>,
    pub(super) origin: Arc<Origin>,
}

/// Where a policy came from, for saving it as it was.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) config_json: Value,
    pub(super) folder: Option<PathBuf>,
}

impl Policy {
    /// Loads a Hugging Face checkpoint: `config.json` with `model.safetensors`, or shards with
    /// `model.safetensors.index.json`.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        let (config, config_json) = checkpoint::read_config(folder)?;
        let layout = Layout::new(&config);
        let mut parameters = Vec::with_capacity(layout.parameters.len());
        checkpoint::read_tensors(folder, &layout, |p, values| parameters.push(tensor(p, values, device)))?;
        let origin = Arc::new(Origin { config_json, folder: Some(folder.to_owned()) });
        Ok(Self { config: Arc::new(config), layout: Arc::new(layout), parameters, origin })
    }

    /// A model that knows nothing yet, the same for a seed everywhere: normal weights of deviation
    /// 0.02 (smaller where they write into the residual stream), norms of one, no biases.
    pub fn random(config: ModelConfig, seed: u64, device: &Device) -> Self {
        let layout = Layout::new(&config);
        let mut random = Random::splitmix(seed);
        let mut normals = std::iter::repeat_with(move || random.normal_pair()).flatten();
        let into_residual = 0.02 / (2.0 * config.layers as f64).sqrt();
        let values = layout.parameters.iter().map(|parameter| {
            let size = parameter.rows * parameter.columns;
            let name = parameter.pieces.first().map_or("", |p| p.name.as_str());
            if name.ends_with("norm.weight") {
                vec![1.0; size]
            } else if name.ends_with(".bias") {
                vec![0.0; size]
            } else {
                let writes = name.contains("o_proj") || name.contains("down_proj");
                let deviation = if writes { into_residual } else { 0.02 };
                normals.by_ref().take(size).map(|n| (n * deviation) as f32).collect()
            }
        });
        let parameters = layout.parameters.iter().zip(values).map(|(p, v)| tensor(p, v, device)).collect();
        let origin = Arc::new(Origin { config_json: config.to_json(), folder: None });
        Self { config: Arc::new(config), layout: Arc::new(layout), parameters, origin }
    }

    /// Writes a checkpoint that Hugging Face transformers loads (float32), with the tokenizer of the
    /// folder the policy was loaded from; or the adapter alone, where it has one.
    pub fn save(&self, folder: &Path) -> Result<()> {
        if let Some(lora) = self.lora() {
            return self.save_adapter(folder, lora);
        }
        let values: Vec<Vec<f32>> = self.parameters.iter().map(host_values).collect();
        let Origin { config_json, folder: origin } = &*self.origin;
        checkpoint::write(folder, &self.layout, &values, config_json, origin.as_deref())
    }

    /// Shape of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Numbers of the model, without those of an adapter.
    pub fn parameter_count(&self) -> usize {
        self.layout.model_len()
    }

    /// Numbers that are trained: the model's, or its adapter's.
    pub fn trained_count(&self) -> usize {
        self.layout.trained_len()
    }

    /// What is trained.
    pub(super) fn trained(&self) -> &[Tensor<2>] {
        &self.parameters[self.layout.frozen..]
    }

    /// Where its parameters are.
    pub fn device(&self) -> Device {
        self.parameters.first().map(Tensor::device).unwrap_or_default()
    }

    /// Replaces all that is trained; the shapes have to be the same.
    pub(super) fn with_parameters(&self, parameters: Vec<Tensor<2>>) -> Result<Self> {
        let fits = parameters.len() == self.trained().len()
            && parameters.iter().zip(self.trained()).all(|(a, b)| a.dims() == b.dims());
        if !fits {
            return Err(Error::Usage {
                message: "saved parameters do not fit the model".into(),
                hint: "resume with the model the run was started with".into(),
            });
        }
        let frozen = self.parameters[..self.layout.frozen].iter().cloned();
        Ok(Self { parameters: frozen.chain(parameters).collect(), ..self.clone() })
    }
}

pub(super) fn tensor(parameter: &Parameter, values: Vec<f32>, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, [parameter.rows, parameter.columns]), device)
}
