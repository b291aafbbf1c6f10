//! What `config.json` of a Hugging Face checkpoint says about a model, checked before anything is
//! allocated.

use std::path::Path;

use serde_json::{Map, Value};

use super::not_computed::refuse_what_is_not_computed;
use super::rope::RopeScaling;
use super::shorten::shorten;
use stapo_base::error::{Error, Result};

/// The families of decoders that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Qwen3: queries and keys are normalised per head.
    Qwen3,
    /// Qwen2: biases on queries, keys and values.
    Qwen2,
    /// Llama: biases where the configuration says so.
    Llama,
}

/// The shape of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// Family.
    pub architecture: Architecture,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward part.
    pub intermediate_size: usize,
    /// Number of layers.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; every one serves `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Size of the vocabulary.
    pub vocab_size: usize,
    /// ε of the root-mean-square norms.
    pub rms_norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// How the rotary frequencies are stretched.
    pub rope_scaling: RopeScaling,
    /// Whether the output matrix is the embedding.
    pub tied: bool,
    /// Biases of queries, keys and values.
    pub qkv_bias: bool,
    /// Bias of the attention's output.
    pub output_bias: bool,
    /// Biases of the feed-forward part.
    pub mlp_bias: bool,
}

/// No real decoder is larger than this in any direction; beyond it a number is a mistake.
const LARGEST: u64 = 1 << 24;

/// Names are made for every layer before a file is opened.
const MOST_LAYERS: usize = 1 << 12;

impl ModelConfig {
    /// Reads and checks a `config.json`.
    pub fn parse(path: &Path, json: &Value) -> Result<Self> {
        let keys = Keys {
            path,
            map: json.as_object().ok_or_else(|| Error::ModelConfig {
                path: path.to_owned(),
                key: "(file)".into(),
                message: "not a JSON object".into(),
            })?,
        };
        let architecture = keys.architecture()?;
        refuse_what_is_not_computed(path, keys.map)?;
        let hidden_size = keys.size("hidden_size")?;
        let heads = keys.size("num_attention_heads")?;
        let kv_heads = keys.size_or("num_key_value_heads", heads)?;
        if !heads.is_multiple_of(kv_heads) {
            return Err(keys.bad("num_key_value_heads", format!("{kv_heads} does not divide {heads} heads")));
        }
        if keys.map.get("head_dim").is_none_or(Value::is_null) && !hidden_size.is_multiple_of(heads) {
            return Err(keys.bad("num_attention_heads", format!("{heads} does not divide {hidden_size}")));
        }
        let head_dim = keys.size_or("head_dim", hidden_size / heads)?;
        if !head_dim.is_multiple_of(2) {
            return Err(keys.bad("head_dim", format!("{head_dim} is odd, rotary encoding turns pairs")));
        }
        let attention_bias = keys.flag("attention_bias")?.unwrap_or(false);
        let rope = keys.rope()?;
        Ok(Self {
            architecture,
            hidden_size,
            intermediate_size: keys.size("intermediate_size")?,
            layers: keys.layers()?,
            heads,
            kv_heads,
            head_dim,
            vocab_size: keys.size("vocab_size")?,
            rms_norm_eps: keys.positive_or("rms_norm_eps", keys.map, 1e-6)?,
            rope_theta: rope.0,
            rope_scaling: rope.1,
            tied: keys.flag("tie_word_embeddings")?.unwrap_or(false),
            qkv_bias: attention_bias || architecture == Architecture::Qwen2,
            output_bias: attention_bias && architecture != Architecture::Qwen2,
            mlp_bias: architecture == Architecture::Llama && keys.flag("mlp_bias")?.unwrap_or(false),
        })
    }

    /// The configuration as Hugging Face writes it, for a model that was not loaded from one.
    pub fn to_json(&self) -> Value {
        let (kind, class) = match self.architecture {
            Architecture::Qwen3 => ("qwen3", "Qwen3ForCausalLM"),
            Architecture::Qwen2 => ("qwen2", "Qwen2ForCausalLM"),
            Architecture::Llama => ("llama", "LlamaForCausalLM"),
        };
        let mut rope = Map::new();
        rope.insert("rope_theta".into(), self.rope_theta.into());
        self.rope_scaling.describe(&mut rope);
        serde_json::json!({
            "architectures": [class],
            "model_type": kind,
            "hidden_act": "silu",
            "hidden_size": self.hidden_size,
            "intermediate_size": self.intermediate_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "vocab_size": self.vocab_size,
            "rms_norm_eps": self.rms_norm_eps,
            "rope_theta": self.rope_theta,
            "rope_parameters": rope,
            "tie_word_embeddings": self.tied,
            "attention_bias": self.qkv_bias && self.architecture != Architecture::Qwen2,
            "mlp_bias": self.mlp_bias,
            "dtype": "float32",
        })
    }

    /// Width of the concatenated queries, keys and values of a token.
    pub(crate) fn qkv_width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head_dim
    }

    /// Query heads that share a key and value head.
    pub(crate) fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// Whether queries and keys are normalised per head.
    pub(crate) fn qk_norm(&self) -> bool {
        self.architecture == Architecture::Qwen3
    }
}

/// The keys of one `config.json`, with errors that name them.
struct Keys<'a> {
    path: &'a Path,
    map: &'a Map<String, Value>,
}

impl Keys<'_> {
    fn bad(&self, key: &str, message: impl Into<String>) -> Error {
        Error::ModelConfig { path: self.path.to_owned(), key: key.into(), message: message.into() }
    }

    fn architecture(&self) -> Result<Architecture> {
        match self.map.get("model_type").and_then(Value::as_str) {
            Some("qwen3") => Ok(Architecture::Qwen3),
            Some("qwen2") => Ok(Architecture::Qwen2),
            Some("llama") => Ok(Architecture::Llama),
            Some(other) => Err(self.bad("model_type", format!("`{}` is not known", shorten(other)))),
            None => Err(self.bad("model_type", "missing")),
        }
    }

    fn size(&self, key: &str) -> Result<usize> {
        let Some(value) = self.map.get(key) else { return Err(self.bad(key, "missing")) };
        match value.as_u64() {
            Some(n) if (1..=LARGEST).contains(&n) => Ok(n as usize),
            _ => Err(self.bad(key, format!("{} is not a size", shorten(&value.to_string())))),
        }
    }

    fn layers(&self) -> Result<usize> {
        let layers = self.size("num_hidden_layers")?;
        if layers > MOST_LAYERS {
            return Err(self.bad("num_hidden_layers", format!("{layers} is more than any model has")));
        }
        Ok(layers)
    }

    fn size_or(&self, key: &str, default: usize) -> Result<usize> {
        if self.map.get(key).is_none_or(Value::is_null) { Ok(default) } else { self.size(key) }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => {
                Err(self.bad(key, format!("{} is not true or false", shorten(&other.to_string()))))
            }
        }
    }

    fn positive_or(&self, key: &str, map: &Map<String, Value>, default: f64) -> Result<f64> {
        match map.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => match value.as_f64() {
                Some(number) if number.is_finite() && number > 0.0 => Ok(number),
                _ => Err(self.bad(key, format!("{} is not a positive number", shorten(&value.to_string())))),
            },
        }
    }

    /// Base and stretching, from `rope_parameters` (new) or `rope_theta` and `rope_scaling` (old).
    fn rope(&self) -> Result<(f64, RopeScaling)> {
        let outer = self.positive_or("rope_theta", self.map, 10_000.0)?;
        let parameters = ["rope_parameters", "rope_scaling"]
            .iter()
            .find_map(|key| self.map.get(*key).filter(|v| !v.is_null()).map(|v| (*key, v)));
        let Some((key, value)) = parameters else { return Ok((outer, RopeScaling::None)) };
        let Some(map) = value.as_object() else { return Err(self.bad(key, "not a JSON object")) };
        let theta = self.positive_or("rope_theta", map, outer)?;
        let kind = map.get("rope_type").or_else(|| map.get("type")).and_then(Value::as_str);
        let number = |name: &str| match map.get(name) {
            None => Err(self.bad(key, format!("`{name}` is missing"))),
            Some(_) => self.positive_or(name, map, 1.0),
        };
        let scaling = match kind.unwrap_or("default") {
            "default" => RopeScaling::None,
            "linear" => RopeScaling::Linear { factor: number("factor")? },
            "llama3" => RopeScaling::Llama3 {
                factor: number("factor")?,
                low_freq_factor: number("low_freq_factor")?,
                high_freq_factor: number("high_freq_factor")?,
                original_length: number("original_max_position_embeddings")?,
            },
            other => return Err(self.bad(key, format!("rope_type `{}` is not known", shorten(other)))),
        };
        Ok((theta, scaling))
    }
}
