//! Every fused loop against the tensor operations it stands for, and both against autodiff.

use std::cell::RefCell;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::super::config::ModelConfig;
use super::super::host_values::host_values;
use super::{AdamRule, Block, Compute, Heads, Span};
use crate::stats::random::Random;

/// Fused loops, and tensor operations.
fn both() -> (Compute, Compute) {
    let device = Device::flex();
    (Compute::new(&device), Compute::by_tensors(&device))
}

thread_local! {
    /// A test is a thread: every run draws the same.
    static DRAWS: RefCell<Random> = RefCell::new(Random::new(1, 0));
}

fn random<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|_| DRAWS.with_borrow_mut(Random::normal) as f32);
    Tensor::from_data(TensorData::new(values.collect::<Vec<_>>(), shape), &Device::flex())
}

fn same<const D: usize>(a: &Tensor<D>, b: &Tensor<D>) {
    assert_eq!(a.dims(), b.dims());
    for (i, (a, b)) in host_values(a).iter().zip(host_values(b)).enumerate() {
        assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{i}: {a} and {b}");
    }
}

fn all_same<const D: usize>(a: &[Tensor<D>], b: &[Tensor<D>]) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| same(a, b));
}

fn config() -> ModelConfig {
    let json = serde_json::json!({
        "model_type": "qwen3", "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 1,
        "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 18, "vocab_size": 37,
    });
    ModelConfig::parse(std::path::Path::new("config.json"), &json).unwrap()
}

#[test]
fn norm_with_gradient() {
    let (host, tensors) = both();
    let (x, dy, w, residual) = (random([5, 37]), random([5, 37]), random([1, 37]), random([5, 37]));
    let (kept, h) = host.kernels.norm(x.clone(), &w, 1e-5);
    same(&kept, &x);
    same(&h, &tensors.kernels.norm(x.clone(), &w, 1e-5).1);
    for residual in [None, Some(residual)] {
        let (dx, dw) = host.kernels.norm_backward(dy.clone(), x.clone(), &w, 1e-5, residual.clone());
        let (dx_again, dw_again) = tensors.kernels.norm_backward(dy.clone(), x.clone(), &w, 1e-5, residual);
        same(&dx, &dx_again);
        same(&dw, &dw_again);
    }
    let graph = Device::flex().autodiff();
    let leaf = Tensor::<2>::from_data(x.to_data(), &graph).require_grad();
    let weight = Tensor::<2>::from_data(w.to_data(), &graph).require_grad();
    let (_, h) = tensors.kernels.norm(leaf.clone(), &weight, 1e-5);
    let gradients = (h * Tensor::from_data(dy.to_data(), &graph)).sum().backward();
    let (dx, dw) = host.kernels.norm_backward(dy, x, &w, 1e-5, None);
    same(&leaf.grad(&gradients).unwrap().inner(), &dx);
    same(&weight.grad(&gradients).unwrap().inner(), &dw);
}

#[test]
fn gate_with_gradient() {
    let (host, tensors) = both();
    let (gate_up, d) = (random([7, 38]) * 4.0, random([7, 19]));
    let (kept, act) = host.kernels.gate(gate_up.clone());
    same(&kept, &gate_up);
    same(&act, &tensors.kernels.gate(gate_up.clone()).1);
    let (again, gradient) = host.kernels.gate_backward(gate_up.clone(), d.clone());
    let by_tensors = tensors.kernels.gate_backward(gate_up.clone(), d.clone());
    same(&again, &act);
    same(&by_tensors.0, &act);
    same(&gradient, &by_tensors.1);
    let graph = Device::flex().autodiff();
    let leaf = Tensor::<2>::from_data(gate_up.to_data(), &graph).require_grad();
    let loss = (tensors.kernels.gate(leaf.clone()).1 * Tensor::from_data(d.to_data(), &graph)).sum();
    same(&leaf.grad(&loss.backward()).unwrap().inner(), &gradient);
}

#[test]
fn heads_with_gradient() {
    let (host, tensors) = both();
    let config = config();
    let spans = [Span { row: 0, tokens: 70 }, Span { row: 70, tokens: 3 }];
    let heads = Heads::new(&config, 70);
    let (qkv, norms) = (random([73, config.qkv_width()]), (random([1, 18]), random([1, 18])));
    for norms in [None, Some((&norms.0, &norms.1))] {
        let (kept, packed) = host.kernels.pack_heads(qkv.clone(), &heads, &spans, norms);
        same(&kept, &qkv);
        let (_, again) = tensors.kernels.pack_heads(qkv.clone(), &heads, &spans, norms);
        all_same(&packed.q, &again.q);
        all_same(&packed.k, &again.k);
        all_same(&packed.v, &again.v);
        // Something of the right shape, not the same as the forward values.
        let gradient = || {
            let mut d = packed.clone();
            for list in [&mut d.q, &mut d.k, &mut d.v] {
                list.iter_mut().for_each(|t| t.inplace(|t| t.sin() + 0.3));
            }
            d
        };
        let (d, dn) = host.kernels.pack_heads_backward(gradient(), qkv.clone(), &heads, &spans, norms);
        let (d_again, dn_again) =
            tensors.kernels.pack_heads_backward(gradient(), qkv.clone(), &heads, &spans, norms);
        same(&d, &d_again);
        assert_eq!(dn.is_some(), norms.is_some());
        if let (Some((q, k)), Some((q_again, k_again))) = (dn, dn_again) {
            same(&q, &q_again);
            same(&k, &k_again);
        }
    }
    let rows = random([73, 6 * 18]);
    let blocks = host.kernels.split_heads(rows.clone(), &heads, &spans);
    all_same(&blocks, &tensors.kernels.split_heads(rows.clone(), &heads, &spans));
    same(&host.kernels.join_heads(blocks.clone(), &heads), &rows);
    same(&tensors.kernels.join_heads(blocks, &heads), &rows);
}

#[test]
fn attention_with_gradient() {
    let (host, tensors) = both();
    let (q, k, v, d) = (random([2, 15, 8]), random([2, 9, 8]), random([2, 9, 8]), random([2, 15, 8]));
    let block = Block { q: &q, k: &k, v: &v, queries: 3..8, group: 3, scale: 0.35 };
    let p = host.probabilities(&block);
    same(&p, &tensors.probabilities(&block));
    let by_host = host.attend_backward(&block, p.clone(), d.clone());
    all_same(&by_host, &tensors.attend_backward(&block, p.clone(), d.clone()));
    let (sum, part) = (random([2, 9, 8]), random([2, 8, 8]));
    same(&host.add_seen(Some(sum.clone()), part.clone()), &tensors.add_seen(Some(sum), part));

    let graph = Device::flex().autodiff();
    let leaf = |t: &Tensor<3>| Tensor::<3>::from_data(t.to_data(), &graph).require_grad();
    let leaves = [leaf(&q), leaf(&k), leaf(&v)];
    let block = Block { q: &leaves[0], k: &leaves[1], v: &leaves[2], ..block };
    let compute = Compute::by_tensors(&graph);
    let out = compute.attend(&block, compute.probabilities(&block));
    let gradients = (out * Tensor::from_data(d.to_data(), &graph)).sum().backward();
    for (index, (leaf, ours)) in leaves.iter().zip(by_host).enumerate() {
        let theirs = leaf.grad(&gradients).unwrap().inner();
        // Keys and values beyond the block are not seen by it.
        let theirs = if index == 0 { theirs } else { theirs.slice([0..2, 0..8, 0..8]) };
        same(&ours, &theirs);
    }
}

#[test]
fn distributions_with_gradient_and_closed_form_norms() {
    let (host, tensors) = both();
    let logits = random([6, 37]) * 3.0;
    let (targets, c) = ([0, 36, 5, 5, 20, 33], [1.0, -0.5, 0.0, 2.0, -3.0, 0.25]);
    let (pi, stats) = host.kernels.distributions(logits.clone(), &targets);
    let (pi_again, stats_again) = tensors.kernels.distributions(logits.clone(), &targets);
    same(&pi, &pi_again);
    for (a, b) in [
        (&stats.logprob, &stats_again.logprob),
        (&stats.entropy, &stats_again.entropy),
        (&stats.sum_pi_sq, &stats_again.sum_pi_sq),
        (&stats.sum_pi_sq_log_pi, &stats_again.sum_pi_sq_log_pi),
        (&stats.logit_grad_sq, &stats_again.logit_grad_sq),
    ] {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-6), "{a:?} {b:?}");
    }
    let gradient = host.kernels.logit_gradient(pi.clone(), &targets, &c);
    same(&gradient, &tensors.kernels.logit_gradient(pi, &targets, &c));

    let graph = Device::flex().autodiff();
    let differentiate = |weights: &[f32]| {
        let leaf = Tensor::<2>::from_data(logits.to_data(), &graph).require_grad();
        let indices = TensorData::new(targets.map(i64::from).to_vec(), [6, 1]);
        let chosen = log_softmax(leaf.clone(), 1).gather(1, Tensor::<2, Int>::from_data(indices, &graph));
        let weights = Tensor::<2>::from_data(TensorData::new(weights.to_vec(), [6, 1]), &graph);
        leaf.grad(&(chosen * weights).sum().backward()).unwrap().inner()
    };
    same(&differentiate(&c), &gradient);
    let norms = host_values(&differentiate(&[1.0; 6]).square().sum_dim(1));
    assert!(norms.iter().zip(&stats.logit_grad_sq).all(|(a, b)| (a - b).abs() < 1e-6), "{norms:?}");
}

#[test]
fn certain_tokens_keep_their_digits() {
    // One token holds all but e⁻²⁰ of the mass: 1 − π has no digits left in single precision.
    let (host, _) = both();
    let mut row = vec![-20.0f32; 3];
    row[1] = 0.0;
    let logits = Tensor::<2>::from_data(TensorData::new(row, [1, 3]), &host.device);
    let (pi, stats) = host.kernels.distributions(logits, &[1]);
    let rest = (-20f64).exp();
    let near =
        |ours: f32, exact: f64| assert!((f64::from(ours) / exact - 1.0).abs() < 1e-5, "{ours} {exact}");
    near(stats.logprob[0], -(2.0 * rest).ln_1p());
    near(stats.logit_grad_sq[0], 6.0 * rest * rest);
    near(stats.entropy[0], 2.0 * rest * 20.0 + 2.0 * rest);
    let gradient = host_values(&host.kernels.logit_gradient(pi, &[1], &[1.0]));
    near(gradient[1], 2.0 * rest);
}

#[test]
fn not_a_number_stays_visible() {
    let (host, _) = both();
    let logits = Tensor::<2>::from_data(TensorData::new(vec![0.0, f32::NAN, 1.0], [1, 3]), &host.device);
    assert!(host.kernels.distributions(logits, &[0]).1.logprob[0].is_nan());
    let x = Tensor::<2>::from_data(TensorData::new(vec![1.0, f32::NAN], [1, 2]), &host.device);
    assert!(
        host_values(&host.kernels.norm(x.clone(), &Tensor::ones([1, 2], &host.device), 1e-6).1)
            .iter()
            .all(|v| v.is_nan())
    );
    let swapped = Tensor::cat(vec![x.clone(), x], 1);
    assert!(host_values(&host.kernels.gate(swapped).1)[1].is_nan());
}

#[test]
fn optimizer_step() {
    let (host, tensors) = both();
    let (w, g, m, v) = (random([3, 21]), random([3, 21]), random([3, 21]), random([3, 21]).square());
    let rule =
        AdamRule { keep: 0.99, gain1: 0.1, beta2: 0.999, gain2: 0.001, step: 0.01, root: 0.05, eps: 1e-8 };
    let ours = host.kernels.adamw(w.clone(), g.clone(), m.clone(), v.clone(), rule);
    all_same(&ours, &tensors.kernels.adamw(w, g, m, v, rule));
}
