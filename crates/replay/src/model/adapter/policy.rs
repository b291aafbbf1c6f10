//! Policies with an adapter.

use std::path::Path;
use std::sync::Arc;

use burn::tensor::{Device, FloatDType, Tensor};

use super::super::checkpoint;
use super::super::host_values::host_values;
use super::super::layout::Layout;
use super::super::policy::{Origin, Policy, tensor};
use super::{AdapterSettings, Lora, file};
use stapo_base::error::Result;
use stapo_base::stats::random::Random;

/// The first A of every replay is drawn from this seed.
const SEED: u64 = 1;

impl Policy {
    /// Loads a Hugging Face checkpoint that stays as it is, with an adapter to train. Where products are
    /// rounded to bfloat16 (`half`), the matrices of layers are kept so: nothing else reads them.
    pub fn load_with_adapter(
        folder: &Path,
        adapter: &AdapterSettings,
        half: bool,
        device: &Device,
    ) -> Result<Self> {
        let (config, config_json) = checkpoint::read_config(folder)?;
        let lora = adapter.lora(&config)?;
        let plain = Layout::new(&config);
        let layout = Layout::with_adapter(&config, &lora);
        let mut parameters: Vec<Tensor<2>> = Vec::with_capacity(layout.parameters.len());
        checkpoint::read_tensors(folder, &plain, |parameter, values| {
            let weight = tensor(parameter, values, device);
            let rounded = half && plain.matrices().any(|slot| slot == parameters.len());
            parameters.push(if rounded { weight.cast(FloatDType::BF16) } else { weight });
        })?;
        match adapter {
            AdapterSettings::New { .. } => parameters.extend(blank(&layout, device)),
            AdapterSettings::Saved(saved) => {
                file::read_numbers(saved, &layout, |p, values| parameters.push(tensor(p, values, device)))?;
            }
        }
        let origin = Arc::new(Origin { config_json, folder: Some(folder.to_owned()) });
        Ok(Self { config: Arc::new(config), layout: Arc::new(layout), parameters, origin })
    }

    /// The shape of its adapter, where it has one.
    pub fn lora(&self) -> Option<&Lora> {
        self.layout.lora.as_ref()
    }

    /// Writes the adapter alone, as PEFT does.
    pub fn save_adapter(&self, folder: &Path, lora: &Lora) -> Result<()> {
        let values: Vec<Vec<f32>> = self.trained().iter().map(host_values).collect();
        file::write(folder, &self.layout, lora, &values, self.origin.folder.as_deref())
    }
}

/// An adapter that changes nothing yet: A uniform within 1 / √columns, which is PEFT's Kaiming draw with
/// a = √5, and B zero.
fn blank<'a>(layout: &'a Layout, device: &'a Device) -> impl Iterator<Item = Tensor<2>> + 'a {
    let mut random = Random::splitmix(SEED);
    layout.trained().iter().map(move |parameter| {
        let size = parameter.rows * parameter.columns;
        let is_a = parameter.pieces.iter().any(|piece| piece.name.ends_with("lora_A.weight"));
        let bound = 1.0 / (parameter.columns as f64).sqrt();
        let mut draw = || ((2.0 * random.unit() - 1.0) * bound) as f32;
        let values = (0..size).map(|_| if is_a { draw() } else { 0.0 }).collect();
        tensor(parameter, values, device)
    })
}
