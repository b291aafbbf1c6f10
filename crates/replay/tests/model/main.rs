//! The replay's model against values that PyTorch and transformers computed (see
//! examples/replay/reference_values.py), and against itself.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod adapter;
mod support;

use stapo_replay::device::shares_host_memory;
use stapo_replay::model::{
    AdamW, AdamWSettings, Architecture, EngineSettings, ModelConfig, Policy, RopeScaling, Sequence,
    TokenStats, load_state, save_state,
};

use support::{
    MODELS, close, coarseness, device, engine, floats, gradients, learning_curve, paired, practised,
    reference, ways,
};

#[test]
fn forward_passes_match_transformers() {
    for (name, padded) in MODELS.into_iter().flat_map(|name| ways().into_iter().map(move |way| (name, way))) {
        let r = reference(name);
        let stats = engine(padded, |_| {}).measure(&r.policy, &r.sequences).unwrap();
        for (stats, theirs) in paired(&stats, &r.values["values"]) {
            for (key, ours) in [
                ("logprob", &stats.logprob),
                ("entropy", &stats.entropy),
                ("sum_pi_sq", &stats.sum_pi_sq),
                ("sum_pi_sq_log_pi", &stats.sum_pi_sq_log_pi),
                ("logit_grad_sq", &stats.logit_grad_sq),
            ] {
                close(ours, &floats(&theirs[key]), 5e-6 * coarseness(), &format!("{name} {key}"));
            }
        }
    }
}

#[test]
fn gradients_match_pytorch() {
    let allowed = 1e-5 * coarseness();
    for (name, padded) in MODELS.into_iter().flat_map(|name| ways().into_iter().map(move |way| (name, way))) {
        let r = reference(name);
        let (_, gradients) = gradients(&engine(padded, |_| {}), &r);
        let ours = gradients.by_name(&r.policy);
        let theirs = r.values["gradients"].as_object().unwrap();
        let mut total = 0.0;
        for (key, theirs) in theirs {
            let ours = &ours[key];
            let norm = ours.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let expected = theirs["norm"].as_f64().unwrap();
            assert!(
                (norm / expected - 1.0).abs() < f64::from(allowed),
                "{name} {key}: {norm} and {expected}"
            );
            close(&ours[..4], &floats(&theirs["first"]), allowed * expected as f32, &format!("{name} {key}"));
            total += expected * expected;
        }
        assert_eq!(ours.len(), theirs.len(), "{name}");
        assert!((gradients.norms().global / total.sqrt() - 1.0).abs() < f64::from(allowed));
        let head = if theirs.contains_key("lm_head.weight") {
            "lm_head.weight"
        } else {
            "model.embed_tokens.weight"
        };
        let head = theirs[head]["norm"].as_f64().unwrap();
        assert!((gradients.norms().lm_head / head - 1.0).abs() < f64::from(allowed));
    }
}

#[test]
fn updates_match_torch_adamw_with_decay() {
    for (name, padded) in MODELS.into_iter().flat_map(|name| ways().into_iter().map(move |way| (name, way))) {
        let mut r = reference(name);
        let engine = engine(padded, |_| {});
        let adamw = &r.values["adamw"];
        let number = |key: &str| adamw[key].as_f64().unwrap();
        let settings = AdamWSettings { weight_decay: number("weight_decay"), ..AdamWSettings::default() };
        let mut optimizer = AdamW::new(settings);
        let (steps, lr) = (number("steps") as usize, number("lr"));
        for _ in 0..steps {
            let (_, gradients) = gradients(&engine, &r);
            r.policy = optimizer.step(r.policy, gradients, lr);
        }
        let after = engine.measure(&r.policy, &r.sequences).unwrap();
        for (ours, theirs) in paired(&after, &r.values["adamw"]["logprob_after"]) {
            close(&ours.logprob, &floats(theirs), 2e-5 * coarseness(), name);
        }
    }
}

#[test]
fn the_result_does_not_depend_on_how_it_is_computed() {
    ways().into_iter().for_each(does_not_depend_on_how_it_is_computed);
}

fn does_not_depend_on_how_it_is_computed(padded: bool) {
    let r = reference("qwen3");
    let (stats, plain) = gradients(&engine(padded, |s| s.tokens_per_microbatch = Some(40)), &r);
    let plain = plain.by_name(&r.policy);
    type Change = fn(&mut EngineSettings);
    let same: [(&str, Change); 3] = [
        ("one thread", |s| s.threads = 1),
        ("checkpointing", |s| s.gradient_checkpointing = true),
        ("no tapes kept", |s| s.tape_bytes = Some(0)),
    ];
    for (what, change) in same {
        let engine = engine(padded, |s| {
            s.tokens_per_microbatch = Some(40);
            change(s);
        });
        let (again, gradients) = gradients(&engine, &r);
        assert_eq!(stats, again, "{what}");
        assert_eq!(plain, gradients.by_name(&r.policy), "{what}");
    }
    let (_, whole) = gradients(&engine(padded, |s| s.tokens_per_microbatch = Some(10_000)), &r);
    for (name, values) in whole.by_name(&r.policy) {
        let largest = values.iter().fold(0.0f32, |a, b| a.max(b.abs()));
        close(&values, &plain[&name], 1e-5 * largest, &name);
    }
}

#[test]
fn products_in_bfloat16_are_near() {
    let r = reference("qwen3");
    for padded in ways() {
        let (stats, plain) = gradients(&engine(padded, |_| {}), &r);
        let (half_stats, half) = gradients(&engine(padded, |s| s.half_products = true), &r);
        let differences = stats.iter().zip(&half_stats).flat_map(|(a, b)| a.logprob.iter().zip(&b.logprob));
        let differences: Vec<f32> = differences.map(|(a, b)| (a - b).abs()).collect();
        assert!(differences.iter().all(|d| *d < 0.2), "{differences:?}");
        assert!(differences.iter().any(|d| *d >= 1e-6), "no product was taken in bfloat16");
        assert!((half.norms().global / plain.norms().global - 1.0).abs() < 0.03);
    }
}

#[test]
fn the_gradient_is_the_slope_of_the_sum() {
    // Along the gradient, Σ c ln π has to grow by its squared norm.
    let r = reference("llama");
    let engine = engine(!shares_host_memory(&device()), |_| {});
    let (_, gradients) = gradients(&engine, &r);
    let norm = gradients.norms().global;
    let sum = |policy: &Policy| -> f64 {
        let stats = engine.measure(policy, &r.sequences).unwrap();
        let pairs = stats.iter().zip(&r.weights);
        pairs.flat_map(|(s, w)| s.logprob.iter().zip(w).map(|(l, c)| f64::from(l * c))).sum()
    };
    // Plain steps up and down: AdamW without moments and with a huge ε is gradient descent.
    let flat = AdamWSettings { betas: (0.0, 0.0), eps: 1e6, weight_decay: 0.0 };
    let moved = |distance: f64| {
        let policy = AdamW::new(flat).step(r.policy.clone(), gradients.clone(), -distance / norm * 1e6);
        sum(&policy)
    };
    let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
    // A difference of sums that are rounded: its noise grows with what rounding leaves.
    let allowed = 2e-3 * f64::from(coarseness()).sqrt();
    assert!((slope / norm - 1.0).abs() < allowed, "{slope} and {norm}");
}

#[test]
fn saved_checkpoints_load_again_bit_for_bit() {
    for name in MODELS {
        let r = reference(name);
        let target = tempfile::tempdir().unwrap();
        r.policy.save(target.path()).unwrap();
        let again = Policy::load(target.path(), &r.policy.device()).unwrap();
        let engine = engine(!shares_host_memory(&device()), |_| {});
        assert_eq!(
            engine.measure(&r.policy, &r.sequences).unwrap(),
            engine.measure(&again, &r.sequences).unwrap()
        );
        assert_eq!(r.policy.config(), again.config());
    }
}

#[test]
fn a_stopped_run_continues_bit_for_bit() {
    let r = reference("qwen2");
    let engine = engine(!shares_host_memory(&device()), |_| {});
    let settings = AdamWSettings { weight_decay: 0.01, ..AdamWSettings::default() };
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("state.safetensors");
    let step = |policy: Policy, optimizer: &mut AdamW| {
        let (_, gradients) = engine.differentiate(&policy, &r.sequences, |_| Ok(r.weights.clone())).unwrap();
        optimizer.step(policy, gradients, 1e-2)
    };
    let mut optimizer = AdamW::new(settings);
    let policy = step(r.policy.clone(), &mut optimizer);
    save_state(&path, &policy, &optimizer).unwrap();
    let through = step(policy, &mut optimizer);
    let (policy, mut optimizer) = load_state(&path, &r.policy, settings).unwrap();
    assert_eq!(optimizer.steps(), 1);
    let resumed = step(policy, &mut optimizer);
    assert_eq!(
        engine.measure(&through, &r.sequences).unwrap(),
        engine.measure(&resumed, &r.sequences).unwrap()
    );
    let other = reference("llama");
    assert!(load_state(&path, &other.policy, settings).unwrap_err().to_string().contains("tensor `weight."));
}

#[test]
fn alternatives_are_the_likeliest_tokens() {
    let r = reference("qwen3");
    let engine = engine(!shares_host_memory(&device()), |_| {});
    let sequence = &r.sequences[1];
    let stats = &engine.measure(&r.policy, &r.sequences).unwrap()[1];
    for position in [0, 77, 139] {
        let all = engine.top_alternatives(&r.policy, sequence, position, 96).unwrap();
        let total: f32 = all.iter().map(|(_, p)| p).sum();
        assert!((total - 1.0).abs() < 1e-5);
        assert!(all.windows(2).all(|w| w[0].1 >= w[1].1));
        let chosen = all.iter().find(|(id, _)| *id == sequence.response()[position]).unwrap().1;
        assert!((chosen.ln() - stats.logprob[position]).abs() < 1e-5);
        assert_eq!(engine.top_alternatives(&r.policy, sequence, position, 5).unwrap(), all[..5]);
    }
    assert!(engine.top_alternatives(&r.policy, sequence, 140, 5).is_err());
}

#[test]
fn a_random_policy_learns_a_sequence() {
    let config = ModelConfig {
        architecture: Architecture::Qwen3,
        hidden_size: 32,
        intermediate_size: 64,
        layers: 2,
        heads: 4,
        kv_heads: 2,
        head_dim: 8,
        vocab_size: 50,
        rms_norm_eps: 1e-6,
        rope_theta: 10_000.0,
        rope_scaling: RopeScaling::None,
        tied: true,
        qkv_bias: false,
        output_bias: false,
        mlp_bias: false,
    };
    let device = device();
    let policy = Policy::random(config.clone(), 3, &device);
    let batch = [practised(config.vocab_size)];
    let engine = engine(!shares_host_memory(&device), |_| {});
    assert_eq!(
        engine.measure(&policy, &batch).unwrap(),
        engine.measure(&Policy::random(config, 3, &device), &batch).unwrap()
    );
    let means = learning_curve(&engine, policy);
    assert!((means[0] + 50f32.ln()).abs() < 0.3, "{}", means[0]);
    assert!(means[59] > -0.05, "{}", means[59]);
}

#[test]
fn sequences_that_cannot_be_predicted_are_refused() {
    let r = reference("qwen2");
    let engine = engine(!shares_host_memory(&device()), |_| {});
    for (tokens, response_start, part) in
        [(vec![1, 2], 0, "no prompt"), (vec![1, 2], 3, "no prompt"), (vec![1, 96, 2], 1, "token 96")]
    {
        let error = engine.measure(&r.policy, &[Sequence { tokens, response_start }]).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    // A response without tokens is no error: there is nothing to say about it.
    let empty = Sequence { tokens: vec![5], response_start: 1 };
    let stats = engine.measure(&r.policy, &[empty.clone(), r.sequences[0].clone(), empty]).unwrap();
    assert_eq!(stats.iter().map(TokenStats::len).collect::<Vec<_>>(), [0, 9, 0]);
}
