//! Every fused loop of the processor against the tensor operations that other devices compute with, and
//! both against autodiff.

use std::cell::RefCell;

use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::super::config::ModelConfig;
use super::super::host_values::host_values;
use super::super::ops::{AdamRule, Block, Compute, Heads, Span};
use super::attention::{Attended, Blocks};
use super::heads::{PaddedHeads, PaddedQkv};
use super::products::{Products, Split};
use super::{mlp, norm, update};
use stapo_base::stats::random::Random;

fn host() -> Compute {
    Compute::new(&Device::flex())
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

fn config() -> ModelConfig {
    let json = serde_json::json!({
        "model_type": "qwen3", "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 1,
        "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 18, "vocab_size": 37,
    });
    ModelConfig::parse(std::path::Path::new("config.json"), &json).unwrap()
}

/// The same numbers as leaves of a graph.
fn leaf<const D: usize>(tensor: &Tensor<D>) -> Tensor<D> {
    Tensor::from_data(tensor.to_data(), &Device::flex().autodiff()).require_grad()
}

/// The same numbers in a graph.
fn constant<const D: usize>(tensor: &Tensor<D>) -> Tensor<D> {
    Tensor::from_data(tensor.to_data(), &Device::flex().autodiff())
}

fn plain_products() -> Products {
    Products::of(vec![], false)
}

#[test]
fn norm_with_gradient() {
    let host = host();
    let (x, dy, w, residual) = (random([5, 37]), random([5, 37]), random([1, 37]), random([5, 37]));
    let (kept, h) = host.kernels.norm(x.clone(), &w, 1e-5);
    same(&kept, &x);
    same(&h, &norm::forward(x.clone(), &w, 1e-5));
    for residual in [None, Some(residual)] {
        let (dx, dw) = host.kernels.norm_backward(dy.clone(), x.clone(), &w, 1e-5, residual.clone());
        let (dx_again, dw_again) = norm::backward(dy.clone(), x.clone(), &w, 1e-5, residual);
        same(&dx, &dx_again);
        same(&dw, &dw_again);
    }
    let (leaf_x, leaf_w) = (leaf(&x), leaf(&w));
    let gradients = (norm::forward(leaf_x.clone(), &leaf_w, 1e-5) * constant(&dy)).sum().backward();
    let (dx, dw) = norm::backward(dy, x, &w, 1e-5, None);
    same(&leaf_x.grad(&gradients).unwrap().inner(), &dx);
    same(&leaf_w.grad(&gradients).unwrap().inner(), &dw);
}

#[test]
fn gate_with_gradient() {
    let host = host();
    let (gate_up, d) = (random([7, 38]) * 4.0, random([7, 19]));
    let (kept, act) = host.kernels.gate(gate_up.clone());
    same(&kept, &gate_up);
    same(&act, &mlp::forward(&gate_up));
    let (again, gradient) = host.kernels.gate_backward(gate_up.clone(), d.clone());
    same(&again, &act);
    same(&gradient, &mlp::backward(&gate_up, d.clone()));
    let leaf = leaf(&gate_up);
    let loss = (mlp::forward(&leaf) * constant(&d)).sum();
    same(&leaf.grad(&loss.backward()).unwrap().inner(), &gradient);
}

/// Queries of all blocks of the one sequence, one below the other.
fn joined(blocks: Vec<Tensor<3>>) -> Tensor<3> {
    Tensor::cat(blocks, 1)
}

#[test]
fn heads_with_gradient() {
    let host = host();
    let config = config();
    let spans = [Span { row: 0, tokens: 70 }];
    let heads = Heads::new(&config, 70);
    let padded = PaddedHeads::new(&host.device, &heads, 1, 70);
    let (qkv, norms) = (random([70, config.qkv_width()]), (random([1, 18]), random([1, 18])));
    for norms in [None, Some((&norms.0, &norms.1))] {
        let (kept, packed) = host.kernels.pack_heads(qkv.clone(), &heads, &spans, norms);
        same(&kept, &qkv);
        let again = padded.pack(&plain_products(), &qkv, norms);
        same(&(joined(packed.q.clone()) * heads.scale()), &again.q);
        same(&packed.k[0], &again.k);
        same(&packed.v[0], &again.v);
        // Something of the right shape, not the same as the forward values.
        let change = |t: &Tensor<3>| t.clone().sin() + 0.3;
        let mut d = packed.clone();
        for list in [&mut d.q, &mut d.k, &mut d.v] {
            list.iter_mut().for_each(|t| *t = change(t));
        }
        let d_padded =
            PaddedQkv { q: joined(d.q.clone()) / heads.scale(), k: d.k[0].clone(), v: d.v[0].clone() };
        let (d, dn) = host.kernels.pack_heads_backward(d, qkv.clone(), &heads, &spans, norms);
        let (d_again, dn_again) = padded.pack_backward(&plain_products(), d_padded, &qkv, norms);
        same(&d, &d_again);
        assert_eq!((dn.is_some(), dn_again.is_some()), (norms.is_some(), norms.is_some()));
        if let (Some((q, k)), Some((q_again, k_again))) = (dn, dn_again) {
            same(&q, &q_again);
            same(&k, &k_again);
        }
    }
    let rows = random([70, 6 * 18]);
    let blocks = host.kernels.split_heads(rows.clone(), &heads, &spans);
    same(&joined(blocks.clone()), &padded.split(rows.clone()));
    same(&host.kernels.join_heads(blocks.clone(), &heads), &rows);
    same(&padded.join(joined(blocks)), &rows);
}

#[test]
fn rows_of_a_rectangle_do_not_see_each_other() {
    let config = config();
    let heads = Heads::new(&config, 9);
    let device = Device::flex();
    let (one, both) = (PaddedHeads::new(&device, &heads, 1, 9), PaddedHeads::new(&device, &heads, 2, 9));
    let qkv = random([18, config.qkv_width()]);
    let attend = |heads: &PaddedHeads<'_>, rows: usize, qkv: &Tensor<2>| {
        let blocks = Blocks::new(&device, heads, rows * 2);
        heads.join(blocks.forward(&plain_products(), &heads.pack(&plain_products(), qkv, None)).out)
    };
    let all = attend(&both, 2, &qkv);
    for row in 0..2 {
        let part = |t: &Tensor<2>| t.clone().slice([row * 9..row * 9 + 9, 0..t.dims()[1]]);
        same(&attend(&one, 1, &part(&qkv)), &part(&all));
    }
}

#[test]
fn attention_with_gradient() {
    let host = host();
    let config = config();
    // Two blocks of the processor's, and one, two and many of the other's.
    for (tokens, size) in [(70, 512), (70, 35), (70, 9)] {
        let heads = Heads::new(&config, tokens);
        let padded = PaddedHeads::new(&host.device, &heads, 1, tokens);
        let [q, d] = [random([2, tokens * 3, 18]), random([2, tokens * 3, 18])];
        let [k, v] = [random([2, tokens, 18]), random([2, tokens, 18])];
        let (mut outs, mut dqs, mut dk, mut dv) = (vec![], vec![], None, None);
        for queries in (Span { row: 0, tokens }).blocks().rev() {
            let rows = |t: &Tensor<3>| t.clone().slice([0..2, queries.start * 3..queries.end * 3, 0..18]);
            let part = rows(&q);
            let block =
                Block { q: &part, k: &k, v: &v, queries: queries.clone(), group: 3, scale: heads.scale() };
            let p = host.probabilities(&block);
            outs.push(host.attend(&block, p.clone()));
            let [dq, dk_part, dv_part] = host.attend_backward(&block, p, rows(&d));
            dqs.push(dq);
            (dk, dv) = (Some(host.add_seen(dk, dk_part)), Some(host.add_seen(dv, dv_part)));
        }
        outs.reverse();
        dqs.reverse();
        let packed = PaddedQkv { q: q.clone() * heads.scale(), k: k.clone(), v: v.clone() };
        let blocks = Blocks::of_size(&host.device, &padded, size);
        let products = plain_products();
        let Attended { out, log_sums } = blocks.forward(&products, &packed);
        same(&out, &joined(outs));
        let dots = (out * d.clone()).sum_dim(2);
        let gradient = blocks.backward(&products, &packed, log_sums, &d, &dots);
        same(&(gradient.q.clone() * heads.scale()), &joined(dqs));
        same(&gradient.k, &dk.unwrap());
        same(&gradient.v, &dv.unwrap());

        let leaves = [leaf(&packed.q), leaf(&k), leaf(&v)];
        let mask = Blocks::of_size(&Device::flex(), &padded, tokens).masks().remove(0);
        let scores = leaves[0].clone().matmul(leaves[1].clone().swap_dims(1, 2)) + constant(&mask);
        let out = softmax(scores, 2).matmul(leaves[2].clone());
        let graph = (out * constant(&d)).sum().backward();
        for (leaf, ours) in leaves.iter().zip([gradient.q, gradient.k, gradient.v]) {
            same(&leaf.grad(&graph).unwrap().inner(), &ours);
        }
    }
}

#[test]
fn distributions_with_gradient_and_closed_form_norms() {
    let host = host();
    let logits = random([6, 37]) * 3.0;
    let (targets, c) = ([0, 36, 5, 5, 20, 33], [1.0, -0.5, 0.0, 2.0, -3.0, 0.25]);
    let (pi, stats) = host.kernels.distributions(logits.clone(), &targets);
    let gradient = host.kernels.logit_gradient(pi, &targets, &c);
    let graph = Device::flex().autodiff();
    let differentiate = |weights: &[f32]| {
        let leaf = leaf(&logits);
        let indices = TensorData::new(targets.map(i64::from).to_vec(), [6, 1]);
        let chosen = log_softmax(leaf.clone(), 1).gather(1, Tensor::<2, Int>::from_data(indices, &graph));
        let weights = Tensor::<2>::from_data(TensorData::new(weights.to_vec(), [6, 1]), &graph);
        leaf.grad(&(chosen * weights).sum().backward()).unwrap().inner()
    };
    same(&differentiate(&c), &gradient);
    let norms = host_values(&differentiate(&[1.0; 6]).square().sum_dim(1));
    assert!(norms.iter().zip(&stats.logit_grad_sq).all(|(a, b)| (a - b).abs() < 1e-6), "{norms:?}");
}

/// What a device's TensorFloat-32 does to a factor: 10 bits behind the first are left.
fn tensor_float(x: &Tensor<2>) -> Tensor<2> {
    let rounded = |v: f32| f32::from_bits((v.to_bits() + 0x1000) & !0x1fff);
    let values = host_values(x).into_iter().map(rounded).collect::<Vec<f32>>();
    Tensor::from_data(TensorData::new(values, x.dims()), &x.device())
}

#[test]
fn split_products_survive_rounding_of_their_factors() {
    let (a, b) = (random([9, 200]), random([11, 200]));
    let exact = a.clone().matmul(b.clone().transpose());
    let rounded = tensor_float(&a).matmul(tensor_float(&b).transpose());
    let split =
        Split::new(a).rounded_by(tensor_float).product_transposed(&Split::new(b).rounded_by(tensor_float));
    let off = |t: Tensor<2>| host_values(&(t - exact.clone()).abs().max())[0];
    let (plain, parts) = (off(rounded), off(split));
    assert!(plain > 1e-3 && parts < 5e-5, "{plain} {parts}");
}

#[test]
fn optimizer_step() {
    let (w, g, m, v) = (random([3, 21]), random([3, 21]), random([3, 21]), random([3, 21]).square());
    let rule =
        AdamRule { keep: 0.99, gain1: 0.1, beta2: 0.999, gain2: 0.001, step: 0.01, root: 0.05, eps: 1e-8 };
    let ours = host().kernels.adamw(w.clone(), g.clone(), m.clone(), v.clone(), rule);
    ours.iter().zip(update::adamw(w, g, m, v, rule)).for_each(|(a, b)| same(a, &b));
}
