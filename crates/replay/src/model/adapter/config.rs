//! `adapter_config.json` of PEFT.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::super::shorten::shorten;
use super::Lora;
use stapo_base::error::{Error, Result};

/// Settings that change what an adapter computes, and that are off where they are absent, null, false,
/// zero or empty: they are refused by name, because wrong log-probabilities look like right ones. Dropout is not
/// among them: it is part of how an adapter was trained, not of what it says.
const OFF: [&str; 17] = [
    "alora_invocation_tokens",
    "alpha_pattern",
    "arrow_config",
    "fan_in_fan_out",
    "kasa_config",
    "layer_replication",
    "layers_pattern",
    "layers_to_transform",
    "lora_bias",
    "modules_to_save",
    "monteclora_config",
    "rank_pattern",
    "target_parameters",
    "trainable_token_indices",
    "use_bdlora",
    "use_dora",
    "use_qalora",
];

/// Ways to begin that change the model's own matrices, so that an adapter does not fit the checkpoint.
const CHANGES_THE_BASE: [&str; 5] = ["pissa", "olora", "corda", "loftq", "lora_ga"];

/// Rank and scale of an adapter; which layers have one is what its file says.
pub fn parse(path: &Path, json: &Value) -> Result<Lora> {
    let bad = |key: &str, message: String| Error::Usage {
        message: format!("{}: `{key}` {message}", path.display()),
        hint: "give a plain LoRA adapter as PEFT saves it, or train a new one with --lora RANK".into(),
    };
    let map = json.as_object().ok_or_else(|| bad("(file)", "is not a JSON object".into()))?;
    let shown = |value: &Value| shorten(&value.to_string());
    match map.get("peft_type").and_then(Value::as_str) {
        Some("LORA") => {}
        Some(other) => return Err(bad("peft_type", format!("is {}; only LORA is computed", shorten(other)))),
        None => return Err(bad("peft_type", "is missing".into())),
    }
    for key in OFF {
        if let Some(value) = map.get(key).filter(|value| !is_off(value)) {
            return Err(bad(key, format!("is {}, which is not computed", shown(value))));
        }
    }
    if let Some(value) = map.get("bias").filter(|v| !v.is_null() && v.as_str() != Some("none")) {
        return Err(bad("bias", format!("is {}; only \"none\" is computed", shown(value))));
    }
    if let Some(way) = map.get("init_lora_weights").and_then(Value::as_str)
        && CHANGES_THE_BASE.iter().any(|name| way.to_ascii_lowercase().starts_with(name))
    {
        let message = format!("is {}, which changes the model's own matrices", shorten(way));
        return Err(bad("init_lora_weights", message));
    }
    let rank = match map.get("r").and_then(Value::as_u64) {
        Some(rank) if (1..=1 << 20).contains(&rank) => rank as usize,
        _ => return Err(bad("r", "is not a rank of 1 or more".into())),
    };
    let alpha = match map.get("lora_alpha").and_then(Value::as_f64) {
        Some(alpha) if alpha.is_finite() => alpha,
        _ => return Err(bad("lora_alpha", "is not a number".into())),
    };
    let by_root = map.get("use_rslora").is_some_and(|value| !is_off(value));
    Ok(Lora { rank, alpha, by_root, targets: Vec::new() })
}

/// What PEFT loads an adapter by.
pub fn to_json(lora: &Lora, base: Option<&Path>) -> Value {
    let targets: Vec<&str> = lora.targets.iter().map(|target| target.name()).collect();
    // PEFT annotates a whole number; others are as good.
    let alpha = match lora.alpha.fract() == 0.0 && lora.alpha.abs() < 1e15 {
        true => json!(lora.alpha as i64),
        false => json!(lora.alpha),
    };
    let mut map = Map::new();
    for (key, value) in [
        ("base_model_name_or_path", json!(base.map(|folder| folder.display().to_string()))),
        ("bias", json!("none")),
        ("fan_in_fan_out", json!(false)),
        ("inference_mode", json!(true)),
        ("init_lora_weights", json!(true)),
        ("lora_alpha", alpha),
        ("lora_dropout", json!(0.0)),
        ("modules_to_save", Value::Null),
        ("peft_type", json!("LORA")),
        ("r", json!(lora.rank)),
        ("target_modules", json!(targets)),
        ("task_type", json!("CAUSAL_LM")),
        ("use_dora", json!(false)),
        ("use_rslora", json!(lora.by_root)),
    ] {
        map.insert(key.into(), value);
    }
    Value::Object(map)
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
