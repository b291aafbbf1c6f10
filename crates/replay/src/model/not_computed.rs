//! Settings of a checkpoint that change its forward pass and that this program does not follow: they
//! are refused by name, because wrong log-probabilities look like right ones.

use std::path::Path;

use serde_json::{Map, Value};

use super::shorten::shorten;
use stapo_base::error::{Error, Result};

/// Factors and shares that change nothing at 1 (Granite, MiniCPM, Cohere, partial rotary encoding).
const NEUTRAL_AT_ONE: [&str; 10] = [
    "partial_rotary_factor",
    "rotary_pct",
    "logits_scaling",
    "logit_scale",
    "embedding_multiplier",
    "residual_multiplier",
    "scale_emb",
    "scale_depth",
    "lm_head_multiplier",
    "normalizer_multiplier",
];

/// Features that are off where they are absent, null, false, zero or an empty list.
const NEUTRAL_IF_OFF: [&str; 23] = [
    "use_sliding_window",
    "attention_multiplier",
    "query_pre_attn_scalar",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "clip_qkv",
    "attention_chunk_size",
    "attn_temperature_tuning",
    "no_rope_layers",
    "no_rope_layer_interval",
    "use_qk_norm",
    "qk_layernorm",
    "use_mrope",
    "rotary_dim",
    "alibi",
    "parallel_attn",
    "use_parallel_residual",
    "dim_model_base",
    "num_experts",
    "num_local_experts",
    "kv_lora_rank",
    "quantization_config",
    "is_encoder_decoder",
];

/// Fails where the configuration asks for something that is not computed.
pub fn refuse_what_is_not_computed(path: &Path, map: &Map<String, Value>) -> Result<()> {
    let refuse = |key: &str, message: String| {
        Err(Error::ModelConfig { path: path.to_owned(), key: key.into(), message })
    };
    match map.get("hidden_act").and_then(Value::as_str) {
        None | Some("silu" | "swish") => {}
        Some(other) => return refuse("hidden_act", format!("`{}`, only silu is known", shorten(other))),
    }
    let sliding = |kinds: &Vec<Value>| kinds.iter().any(|k| k.as_str() != Some("full_attention"));
    if map.get("layer_types").and_then(Value::as_array).is_some_and(sliding) {
        return refuse("layer_types", "only full_attention is computed".into());
    }
    let rope = ["rope_parameters", "rope_scaling"].iter().filter_map(|key| map.get(*key)?.as_object());
    for (key, value) in rope.chain([map]).flat_map(|map| map.iter()) {
        let shown = shorten(&value.to_string());
        if NEUTRAL_AT_ONE.contains(&key.as_str()) && !is_one(value) {
            return refuse(key, format!("{shown} is not computed, only 1 is"));
        }
        if NEUTRAL_IF_OFF.contains(&key.as_str()) && !is_off(value) {
            return refuse(key, format!("{shown} is not computed"));
        }
        if key == "mrope_section" {
            return refuse(key, "positions of images are not computed".into());
        }
    }
    Ok(())
}

fn is_one(value: &Value) -> bool {
    value.is_null() || value.as_f64() == Some(1.0)
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(config: &Value) -> Option<String> {
        let map = config.as_object()?;
        refuse_what_is_not_computed(Path::new("config.json"), map).err().map(|e| e.to_string())
    }

    #[test]
    fn what_would_change_the_numbers_is_refused_by_name() {
        for (key, value) in [
            ("partial_rotary_factor", json!(0.5)),
            ("logits_scaling", json!(8.0)),
            ("embedding_multiplier", json!(12.0)),
            ("residual_multiplier", json!(0.22)),
            ("attention_multiplier", json!(0.0078125)),
            ("final_logit_softcapping", json!(30.0)),
            ("use_sliding_window", json!(true)),
            ("num_experts", json!(64)),
            ("no_rope_layers", json!([1, 0])),
            ("quantization_config", json!({"bits": 4})),
            ("hidden_act", json!("gelu")),
            ("layer_types", json!(["full_attention", "sliding_attention"])),
        ] {
            let message = refused(&json!({ key: value })).unwrap_or_default();
            assert!(message.contains(key), "{key}: {message:?}");
        }
        let nested = json!({ "rope_parameters": { "rope_type": "default", "partial_rotary_factor": 0.25 } });
        assert!(refused(&nested).unwrap_or_default().contains("partial_rotary_factor"));
    }

    #[test]
    fn neutral_values_pass() {
        let config = json!({
            "partial_rotary_factor": 1.0, "logits_scaling": 1, "embedding_multiplier": null,
            "use_sliding_window": false, "sliding_window": 4096, "quantization_config": null,
            "pretraining_tp": 2, "num_experts": 0, "layer_types": ["full_attention"],
            "attention_dropout": 0.1, "rope_parameters": { "rope_theta": 1e6, "rope_type": "default" },
        });
        assert_eq!(refused(&config), None);
    }
}
