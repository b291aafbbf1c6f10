//! Adapters against values that PEFT computed (see examples/replay/adapter_values.py).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use serde_json::{Value, json};
use stapo_replay::device::shares_host_memory;
use stapo_replay::model::{
    AdamW, AdamWSettings, AdapterSettings, Lora, ModelConfig, Policy, load_state, save_state,
};

use super::support::{
    MODELS, Reference, close, coarseness, device, engine, floats, folder, gradients, learning_curve, paired,
    reference, ways,
};

/// The model's own reference with PEFT's adapter on it, and PEFT's values.
fn adapted(name: &str) -> (Reference, Value) {
    let mut r = reference(name);
    let saved = folder(name).join("adapter");
    r.policy = load(name, &saved).unwrap();
    (r, serde_json::from_slice(&std::fs::read(saved.join("values.json")).unwrap()).unwrap())
}

fn load(name: &str, adapter: &Path) -> Result<Policy, String> {
    let saved = AdapterSettings::Saved(adapter.to_owned());
    Policy::load_with_adapter(&folder(name), &saved, false, &device()).map_err(|e| e.to_string())
}

fn blank(rank: usize, half: bool) -> Result<Policy, String> {
    let new = AdapterSettings::New { rank, alpha: 2.0 * rank as f64 };
    Policy::load_with_adapter(&folder("qwen3"), &new, half, &device()).map_err(|e| e.to_string())
}

/// The tensors of a safetensors file by name.
fn tensors(path: &Path) -> BTreeMap<String, Vec<f32>> {
    let bytes = std::fs::read(path).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..start]).unwrap();
    let named = header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__");
    let numbers = |info: &Value| {
        let at = |i: usize| start + info["data_offsets"][i].as_u64().unwrap() as usize;
        bytes[at(0)..at(1)].as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    };
    named.map(|(name, info)| (name.clone(), numbers(info))).collect()
}

#[test]
fn log_probabilities_and_gradients_are_those_of_peft() {
    for (name, padded) in MODELS.into_iter().flat_map(|name| ways().into_iter().map(move |way| (name, way))) {
        let (r, values) = adapted(name);
        let engine = engine(padded, |_| {});
        let stats = engine.measure(&r.policy, &r.sequences).unwrap();
        let mut loss = 0.0;
        for ((ours, theirs), weights) in
            stats.iter().zip(values["logprob"].as_array().unwrap()).zip(&r.weights)
        {
            close(&ours.logprob, &floats(theirs), 5e-6 * coarseness(), name);
            loss += ours.logprob.iter().zip(weights).map(|(l, c)| f64::from(l * c)).sum::<f64>();
        }
        let expected = values["loss"].as_f64().unwrap();
        let off = (loss / expected - 1.0).abs();
        assert!(off < 2e-6 * f64::from(coarseness()), "{name}: {loss} and {expected}");

        let allowed = 1e-5 * coarseness();
        let (_, gradients) = gradients(&engine, &r);
        let ours = gradients.by_name(&r.policy);
        let theirs = values["gradients"].as_object().unwrap();
        // The same names, and so none of the model's own.
        assert!(ours.keys().eq(theirs.keys()), "{name}: {:?}", ours.keys());
        let mut total = 0.0;
        for (key, theirs) in theirs {
            let norm = ours[key].iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let expected = theirs["norm"].as_f64().unwrap();
            let off = (norm / expected - 1.0).abs();
            assert!(off < f64::from(allowed), "{name} {key}: {norm} and {expected}");
            close(&ours[key][..4], &floats(&theirs["first"]), allowed * expected as f32, key);
            total += expected * expected;
        }
        let norms = gradients.norms();
        assert!((norms.global / total.sqrt() - 1.0).abs() < f64::from(allowed), "{name}");
        assert_eq!(norms.lm_head, 0.0);
    }
}

#[test]
fn updates_are_those_of_peft_and_its_files_are_ours() {
    for (name, padded) in MODELS.into_iter().flat_map(|name| ways().into_iter().map(move |way| (name, way))) {
        let (mut r, values) = adapted(name);
        let adamw = r.values["adamw"].clone();
        let number = |key: &str| adamw[key].as_f64().unwrap();
        let settings = AdamWSettings { weight_decay: number("weight_decay"), ..AdamWSettings::default() };
        let engine = engine(padded, |_| {});
        let mut optimizer = AdamW::new(settings);
        for _ in 0..number("steps") as usize {
            let (_, gradients) = gradients(&engine, &r);
            r.policy = optimizer.step(r.policy, gradients, number("lr"));
        }
        let after = engine.measure(&r.policy, &r.sequences).unwrap();
        for (ours, theirs) in paired(&after, &values["logprob_after"]) {
            close(&ours.logprob, &floats(theirs), 2e-5 * coarseness(), name);
        }
        let target = tempfile::tempdir().unwrap();
        r.policy.save(target.path()).unwrap();
        let ours = tensors(&target.path().join("adapter_model.safetensors"));
        let theirs = tensors(&folder(name).join("adapter/after.safetensors"));
        assert!(ours.keys().eq(theirs.keys()), "{name}: {:?}", ours.keys());
        for (key, theirs) in theirs {
            // A step is at most the learning rate, 1e-3, whatever the size of the gradient.
            close(&ours[&key], &theirs, 2e-6 * coarseness(), &format!("{name} {key}"));
        }
        // What was written is read again, bit for bit.
        let again = load(name, target.path()).unwrap();
        assert_eq!(after, engine.measure(&again, &r.sequences).unwrap(), "{name}");
        assert_eq!(r.policy.lora(), again.lora());
    }
}

#[test]
fn a_new_adapter_changes_nothing_yet() {
    let plain = reference("qwen3");
    for padded in ways() {
        for half in [false, true] {
            let policy = blank(4, half).unwrap();
            let engine = engine(padded, |s| s.half_products = half);
            let adapted = engine.measure(&policy, &plain.sequences).unwrap();
            // Not a bit, also where the frozen matrices are kept in bfloat16.
            assert_eq!(adapted, engine.measure(&plain.policy, &plain.sequences).unwrap(), "{padded} {half}");
        }
    }
    let policy = blank(4, false).unwrap();
    // Four numbers for every row and column of the seven matrices, in both layers.
    assert_eq!(policy.trained_count(), 2 * 4 * (96 + 64 + 64 + 96 + 3 * 80));
    assert_eq!(policy.parameter_count(), plain.policy.parameter_count());
    let folder = tempfile::tempdir().unwrap();
    policy.save(folder.path()).unwrap();
    let mut drawn = 0;
    for (name, values) in tensors(&folder.path().join("adapter_model.safetensors")) {
        if name.ends_with("lora_B.weight") {
            assert!(values.iter().all(|v| *v == 0.0));
            continue;
        }
        // Uniform within 1 / √columns: its mean square is a third of the bound's.
        let bound = 1.0 / ((values.len() / 4) as f32).sqrt();
        assert!(values.iter().all(|v| v.abs() <= bound), "{name}");
        let square = values.iter().map(|v| v * v).sum::<f32>() / values.len() as f32;
        assert!((square / (bound * bound / 3.0) - 1.0).abs() < 0.35, "{name}: {square}");
        drawn += values.len();
    }
    assert_eq!(drawn, 2 * 4 * (6 * 32 + 64 + 48 - 32));
}

#[test]
fn an_adapter_learns_and_the_model_stays() {
    let r = reference("qwen3");
    for (padded, half) in ways().into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let engine = engine(padded, |s| s.half_products = half);
        let start = blank(8, half).unwrap();
        let at_start = engine.measure(&start, &r.sequences).unwrap();
        let means = learning_curve(&engine, start.clone());
        assert!(means[0] < -4.0 && means[59] > -0.3, "{padded} {half}: {means:?}");
        assert_eq!(at_start, engine.measure(&start, &r.sequences).unwrap());
    }
}

#[test]
fn a_stopped_run_of_an_adapter_continues_bit_for_bit() {
    let (r, _) = adapted("qwen2");
    let engine = engine(!shares_host_memory(&device()), |_| {});
    let settings = AdamWSettings::default();
    let mut optimizer = AdamW::new(settings);
    let policy = optimizer.step(r.policy.clone(), gradients(&engine, &r).1, 1e-2);
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("state.safetensors");
    save_state(&path, &policy, &optimizer).unwrap();
    let kept = std::fs::metadata(&path).unwrap().len();
    assert!(kept < 12 * r.policy.trained_count() as u64 + 4096, "{kept} bytes: more than the adapter");
    let (again, mut resumed) = load_state(&path, &r.policy, settings).unwrap();
    let step = |policy: Policy, optimizer: &mut AdamW| {
        let r = Reference { policy, ..reference("qwen2") };
        let (_, gradients) = gradients(&engine, &r);
        engine.measure(&optimizer.step(r.policy, gradients, 1e-2), &r.sequences).unwrap()
    };
    assert_eq!(step(policy, &mut optimizer), step(again, &mut resumed));
}

#[test]
fn an_adapter_takes_a_fraction_of_the_memory() {
    let config = Policy::load(&folder("qwen3"), &Device::flex()).unwrap().config().clone();
    for (padded, half) in [(false, false), (false, true), (true, false), (true, true)] {
        let engine = engine(padded, |s| {
            (s.half_products, s.device, s.memory) = (half, Device::flex(), Some(24_000_000_000));
        });
        let (whole, lora) = (engine.memory_plan(&config, None, 0), Lora::on_all(1, 2.0));
        let plan = engine.memory_plan(&config, Some(&lora), 0);
        assert_eq!((plan.model, whole.trained), (whole.model, whole.model));
        assert!(plan.trained < whole.trained / 10);
        assert_eq!(plan.optimizer, 8 * plan.trained);
        assert!(plan.gradients < whole.gradients / 10);
        // The model once instead of twice, and its layers' matrices in half the bytes.
        let frozen = plan.parameters - 8 * plan.trained;
        let matrices = 2 * 32 * (96 + 32 + 64 + 3 * 48) as u64;
        let head = 96 * 32;
        let expected = match (padded, half) {
            (_, false) => 4 * plan.model,
            (false, true) => 4 * plan.model - 2 * matrices,
            (true, true) => 4 * plan.model - 2 * matrices + 2 * plan.trained + 2 * head,
        };
        assert_eq!(frozen, expected, "{padded} {half}");
        assert_eq!(plan.device, padded.then_some(24_000_000_000));
    }
}

/// The least that an adapter of rank 16 takes with rounded products: 4B trains on a card of 24 GB, 8B on one
/// of 40, of which nine tenths are planned with.
#[test]
fn adapters_of_large_models_fit_small_cards() {
    let config = |hidden: usize, inner: usize, tied: bool| {
        let json = json!({
            "model_type": "qwen3", "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 36,
            "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151_936,
            "tie_word_embeddings": tied,
        });
        ModelConfig::parse(Path::new("config.json"), &json).unwrap()
    };
    let engine = engine(true, |s| (s.device, s.half_products) = (Device::flex(), true));
    let least = |config: &ModelConfig, lora: Option<&Lora>| {
        let plan = engine.memory_plan(config, lora, 0);
        (plan.model as f64 / 1e9, plan.total() as f64 / 0.9e9)
    };
    let lora = Lora::on_all(16, 32.0);
    let (four, eight) = (config(2560, 9728, true), config(4096, 12288, false));
    let (size, card) = least(&four, Some(&lora));
    assert!((size - 4.0).abs() < 0.1 && (20.0..24.0).contains(&card), "{size} {card}");
    let (size, card) = least(&eight, Some(&lora));
    assert!((size - 8.2).abs() < 0.1 && (24.0..40.0).contains(&card), "{size} {card}");
    // All of it, for comparison: 8B does not fit the largest card.
    let (_, card) = least(&eight, None);
    assert!(card > 150.0, "{card}");
}

#[test]
fn adapters_that_do_not_fit_are_refused() {
    let refused = |rank| blank(rank, false).unwrap_err();
    assert!(refused(0).contains("--lora 0") && refused(33).contains("has rank 32"), "{}", refused(33));
    let own = |name: &str| folder(name).join("adapter");
    let error = load("qwen2", &own("qwen3")).unwrap_err();
    let expected = "layers.0.self_attn.q_proj.lora_B.weight` has shape [64, 4], the model needs [32, 4]";
    assert!(error.contains(expected), "{error}");
    assert!(load("qwen2", &folder("qwen2")).unwrap_err().contains("adapter_config.json"));
    assert!(load("qwen2", Path::new("nowhere")).unwrap_err().contains("nowhere"));

    // One setting changed at a time.
    let copy = tempfile::tempdir().unwrap();
    let write = |change: Value| -> PathBuf {
        let mut config: Value =
            serde_json::from_slice(&std::fs::read(own("qwen2").join("adapter_config.json")).unwrap())
                .unwrap();
        config.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        std::fs::write(copy.path().join("adapter_config.json"), config.to_string()).unwrap();
        std::fs::copy(
            own("qwen2").join("adapter_model.safetensors"),
            copy.path().join("adapter_model.safetensors"),
        )
        .unwrap();
        copy.path().to_owned()
    };
    for (key, value) in [
        ("peft_type", json!("ADALORA")),
        ("use_dora", json!(true)),
        ("bias", json!("all")),
        ("modules_to_save", json!(["lm_head"])),
        ("rank_pattern", json!({ "q_proj": 2 })),
        ("layers_to_transform", json!([0])),
        ("init_lora_weights", json!("pissa_niter_4")),
        ("r", json!(0)),
        ("lora_alpha", json!("x")),
    ] {
        let error = load("qwen2", &write(json!({ key: value }))).unwrap_err();
        assert!(error.contains(&format!("`{key}`")), "{key}: {error}");
    }
    let error = load("qwen2", &write(json!({ "r": 4 }))).unwrap_err();
    assert!(error.contains("has shape [3, 32], the model needs [4, 32]"), "{error}");
    // Dropout is how it was trained, not what it says.
    load("qwen2", &write(json!({ "lora_dropout": 0.05, "init_lora_weights": "gaussian" }))).unwrap();
}
