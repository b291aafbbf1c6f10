//! Rotary position encoding as Hugging Face models have it: a head's first half turns with its second.

use serde_json::{Map, Value};

/// How rotary frequencies are stretched beyond the length a model was pre-trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// Every frequency divided by the factor.
    Linear {
        /// The divisor.
        factor: f64,
    },
    /// Llama 3.1: long waves divided by the factor, short ones kept, a ramp between.
    Llama3 {
        /// The divisor of long waves.
        factor: f64,
        /// Waves longer than the original length over this are long.
        low_freq_factor: f64,
        /// Waves shorter than the original length over this are short.
        high_freq_factor: f64,
        /// Length of the pre-training.
        original_length: f64,
    },
}

impl RopeScaling {
    /// Writes the keys that `config.json` has for it.
    pub(super) fn describe(&self, into: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| into.insert(key.into(), value);
        match *self {
            Self::None => {
                put("rope_type", "default".into());
            }
            Self::Linear { factor } => {
                put("rope_type", "linear".into());
                put("factor", factor.into());
            }
            Self::Llama3 { factor, low_freq_factor, high_freq_factor, original_length } => {
                put("rope_type", "llama3".into());
                put("factor", factor.into());
                put("low_freq_factor", low_freq_factor.into());
                put("high_freq_factor", high_freq_factor.into());
                put("original_max_position_embeddings", (original_length as u64).into());
            }
        }
    }

    fn stretch(&self, frequency: f64) -> f64 {
        match *self {
            Self::None => frequency,
            Self::Linear { factor } => frequency / factor,
            Self::Llama3 { factor, low_freq_factor, high_freq_factor, original_length } => {
                let turns = original_length * frequency / std::f64::consts::TAU;
                if turns < low_freq_factor {
                    frequency / factor
                } else if turns > high_freq_factor {
                    frequency
                } else {
                    let share = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
                    (1.0 - share) * frequency / factor + share * frequency
                }
            }
        }
    }
}

/// cos and sin of every position and pair, row by row: [positions × head_dim / 2].
#[derive(Debug, Clone)]
pub(super) struct RotaryTable {
    pub(super) half: usize,
    pub(super) cos: Vec<f32>,
    pub(super) sin: Vec<f32>,
}

impl RotaryTable {
    pub(super) fn new(head_dim: usize, theta: f64, scaling: &RopeScaling, positions: usize) -> Self {
        let half = head_dim / 2;
        // As PyTorch computes it: frequencies and angles in single precision.
        let frequencies: Vec<f32> = (0..half)
            .map(|j| {
                let exponent = (2 * j) as f32 / head_dim as f32;
                let wave = theta.powf(f64::from(exponent)) as f32;
                scaling.stretch(f64::from(1.0 / wave)) as f32
            })
            .collect();
        let angles = (0..positions).flat_map(|p| frequencies.iter().map(move |f| f64::from(p as f32 * f)));
        let (sin, cos) = angles.map(|a| (a.sin() as f32, a.cos() as f32)).unzip();
        Self { half, cos, sin }
    }
}
