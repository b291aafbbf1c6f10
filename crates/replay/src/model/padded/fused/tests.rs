//! Every kernel against the tensor operations it stands for, which the processor computes. Without a CUDA
//! device there is nothing to test.

use std::cell::RefCell;

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::super::super::config::ModelConfig;
use super::super::super::host_values::host_values;
use super::super::super::ops::{AdamRule, Heads};
use super::super::attention::Blocks;
use super::super::heads::{PaddedHeads, PaddedQkv};
use super::super::products::Products;
use super::super::{mlp, norm, update};
use crate::device::parse_device;
use stapo_base::stats::random::Random;

thread_local! {
    static DRAWS: RefCell<Random> = RefCell::new(Random::new(1, 0));
}

fn random<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|_| DRAWS.with_borrow_mut(Random::normal) as f32);
    Tensor::from_data(TensorData::new(values.collect::<Vec<_>>(), shape), &Device::flex())
}

fn on<const D: usize>(tensor: &Tensor<D>, device: &Device) -> Tensor<D> {
    Tensor::from_data(tensor.to_data(), device)
}

fn near<const D: usize>(what: &str, host: &Tensor<D>, card: &Tensor<D>, tolerance: f32) {
    let (host, card) = on_host(what, host, card);
    all_near(what, &host, &card, tolerance);
}

/// Each number by itself: the largest difference would not be that of a number that is none.
fn all_near(what: &str, host: &[f32], card: &[f32], tolerance: f32) {
    assert_eq!(host.len(), card.len(), "{what}");
    for (i, (a, b)) in host.iter().zip(card).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{what}, {i}: {a} and {b}");
    }
}

/// ‖a − b‖ / ‖a‖: single numbers of a product may be sums that cancel.
fn near_as_whole<const D: usize>(what: &str, host: &Tensor<D>, card: &Tensor<D>, tolerance: f32) {
    let (host, card) = on_host(what, host, card);
    let norm =
        |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt();
    let off = norm(&mut host.iter().zip(&card).map(|(a, b)| a - b)) / norm(&mut host.iter().copied());
    assert!(off <= f64::from(tolerance), "{what}: {off}");
}

fn on_host<const D: usize>(what: &str, host: &Tensor<D>, card: &Tensor<D>) -> (Vec<f32>, Vec<f32>) {
    assert_eq!(host.dims(), card.dims(), "{what}");
    let card = host_values(&card.clone().cast(burn::tensor::FloatDType::F32));
    let host = host_values(host);
    assert!(card.len() == host.len() && card.iter().all(|v| v.is_finite()), "{what}");
    (host, card)
}

fn card() -> Option<Device> {
    parse_device("cuda").ok()
}

fn products(half: bool) -> Products {
    Products::of(vec![], half)
}

/// Whether factors are rounded to bfloat16; what a pass without products may be off by then; and what
/// attention may be as a whole: three times what rounding to 2⁻¹⁷ (to 2⁻⁹) gives in scores, in what is
/// attended and in their gradients.
const WAYS: [(bool, f32, f32); 2] = [(false, 1e-5, 3e-5), (true, 1e-2, 1.5e-2)];

fn config() -> ModelConfig {
    let json = serde_json::json!({
        "model_type": "qwen3", "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 1,
        "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 18, "vocab_size": 37,
    });
    ModelConfig::parse(std::path::Path::new("config.json"), &json).unwrap()
}

#[test]
fn norms() {
    let Some(card) = card() else { return };
    let (x, dy, w, residual) = (random([131, 77]), random([131, 77]), random([1, 77]), random([131, 77]));
    let [cx, cdy, cresidual] = [&x, &dy, &residual].map(|t| on(t, &card));
    let cw = on(&w, &card);
    near("norm", &norm::forward(x.clone(), &w, 1e-5), &norm::forward(cx.clone(), &cw, 1e-5), 1e-5);
    let rounded = norm::as_factor(&products(true), cx.clone(), &cw, 1e-5);
    near("rounded norm", &norm::forward(x.clone(), &w, 1e-5), &rounded, 1e-2);
    for residual in [None, Some((residual, cresidual))] {
        let (host, gpu) = residual.unzip();
        let (dx, dw) = norm::backward(dy.clone(), x.clone(), &w, 1e-5, host);
        let (cdx, cdw) = norm::backward(cdy.clone(), cx.clone(), &cw, 1e-5, gpu);
        near("norm's gradient", &dx, &cdx, 1e-5);
        near("norm's weight", &dw, &cdw, 1e-4);
    }
}

#[test]
fn gates() {
    let Some(card) = card() else { return };
    let (gate_up, d) = (random([37, 90]) * 4.0, random([37, 45]));
    let (cgate_up, cd) = (on(&gate_up, &card), on(&d, &card));
    for (half, tolerance, _) in WAYS {
        near("gate", &mlp::forward(&gate_up), &mlp::as_factor(&products(half), &cgate_up), tolerance);
        let (act, gradient) = mlp::backward_with_act(&products(half), &cgate_up, cd.clone());
        near("gate again", &mlp::forward(&gate_up), &act, tolerance);
        near("gate's gradient", &mlp::backward(&gate_up, d.clone()), &gradient, tolerance);
    }
}

#[test]
fn heads_and_attention() {
    let Some(card) = card() else { return };
    let config = config();
    let (rows, width) = (3, 70);
    let heads = Heads::new(&config, width);
    let [host, gpu] = [Device::flex(), card.clone()].map(|d| PaddedHeads::new(&d, &heads, rows, width));
    let qkv = random([rows * width, config.qkv_width()]);
    let cqkv = on(&qkv, &card);
    let norms = [random([1, 18]), random([1, 18])];
    let cnorms = [on(&norms[0], &card), on(&norms[1], &card)];
    let plain = products(false);
    for (half, passed, tolerance) in WAYS {
        let products = products(half);
        for normed in [false, true] {
            let norms = normed.then_some((&norms[0], &norms[1]));
            let cnorms = normed.then_some((&cnorms[0], &cnorms[1]));
            let (packed, cpacked) = (host.pack(&plain, &qkv, norms), gpu.pack(&products, &cqkv, cnorms));
            near("queries", &packed.q, &cpacked.q, passed);
            near("keys", &packed.k, &cpacked.k, passed);
            near("values", &packed.v, &cpacked.v, passed);
            let d = PaddedQkv {
                q: random(packed.q.dims()),
                k: random(packed.k.dims()),
                v: random(packed.v.dims()),
            };
            let cd = PaddedQkv { q: on(&d.q, &card), k: on(&d.k, &card), v: on(&d.v, &card) };
            let (dx, dn) = host.pack_backward(&plain, d, &qkv, norms);
            let (cdx, cdn) = gpu.pack_backward(&products, cd, &cqkv, cnorms);
            near("heads' gradient", &dx, &cdx, passed);
            if let (Some((q, k)), Some((cq, ck))) = (dn, cdn) {
                near("query norm's gradient", &q, &cq, 1e-3);
                near("key norm's gradient", &k, &ck, 1e-3);
            }
        }
        for size in [512, 32] {
            let (packed, cpacked) = (host.pack(&plain, &qkv, None), gpu.pack(&products, &cqkv, None));
            let blocks = Blocks::of_size(&Device::flex(), &host, size);
            let cblocks = Blocks::of_size(&card, &gpu, size);
            let (out, cout) = (blocks.forward(&plain, &packed), cblocks.forward(&products, &cpacked));
            near_as_whole("attention", &out.out, &cout.out, tolerance);
            let (joined, cjoined) =
                (host.join(out.out.clone()), gpu.join_as_factor(&products, cout.out.clone()));
            near_as_whole("joined heads", &joined, &cjoined, tolerance);
            let d = random(joined.dims());
            let (dots, d_heads) = host.dot_and_split(&plain, d.clone(), joined);
            let (cdots, cd_heads) = gpu.dot_and_split(&products, on(&d, &card), cjoined);
            near_as_whole("dots", &dots, &cdots, tolerance);
            near_as_whole("split gradient", &d_heads, &cd_heads, tolerance);
            let gradient = blocks.backward(&plain, &packed, out.log_sums, &d_heads, &dots);
            let cgradient = cblocks.backward(&products, &cpacked, cout.log_sums, &cd_heads, &cdots);
            near_as_whole("queries' gradient", &gradient.q, &cgradient.q, tolerance);
            near_as_whole("keys' gradient", &gradient.k, &cgradient.k, tolerance);
            near_as_whole("values' gradient", &gradient.v, &cgradient.v, tolerance);
        }
    }
}

#[test]
fn distributions() {
    let Some(card) = card() else { return };
    let logits = random([6, 1037]) * 3.0;
    let targets = [0, 36, 5, 5, 1036, 33];
    let c = [1.0, -0.5, 0.0, 2.0, -3.0, 0.25];
    let host = super::super::super::ops::Compute::new(&Device::flex());
    let (pi, stats) = host.kernels.distributions(logits.clone(), &targets.map(|t| t as u32));
    let gradient = host.kernels.logit_gradient(pi, &targets.map(|t| t as u32), &c);
    let clogits = on(&logits, &card);
    let ctargets: Tensor<2, Int> = Tensor::from_data(TensorData::new(targets.to_vec(), [6, 1]), &card);
    let cc: Tensor<2> = Tensor::from_data(TensorData::new(c.to_vec(), [6, 1]), &card);
    let (table, log_sum, others) = super::measure(&clogits, &ctargets).unwrap();
    let table = super::super::output::stats(&host_values(&table), 6);
    for (what, a, b) in [
        ("ln pi", &stats.logprob, &table.logprob),
        ("entropy", &stats.entropy, &table.entropy),
        ("sum pi^2", &stats.sum_pi_sq, &table.sum_pi_sq),
        ("sum pi^2 ln pi", &stats.sum_pi_sq_log_pi, &table.sum_pi_sq_log_pi),
        ("logit gradient", &stats.logit_grad_sq, &table.logit_grad_sq),
    ] {
        all_near(what, a, b, 1e-5);
    }
    for (half, tolerance) in [(false, 1e-5), (true, 1e-2)] {
        let d = super::logit_gradient(&ctargets, [&clogits, &log_sum, &others, &cc], half).unwrap();
        near("gradient of logits", &gradient, &d, tolerance);
    }
}

#[test]
fn products_of_float32() {
    let Some(card) = card() else { return };
    // Rows that the copy engine can read and such that it cannot; both factors as they lie and turned.
    for (m, n, k) in [(9, 11, 200), (72, 40, 64), (5, 3, 7)] {
        let (a, b) = (random([2, m, k]), random([2, k, n]));
        let exact = a.clone().matmul(b.clone());
        let turned = |x: &Tensor<3>| on(&x.clone().swap_dims(1, 2), &card).swap_dims(1, 2);
        for a in [on(&a, &card), turned(&a)] {
            for b in [on(&b, &card), turned(&b)] {
                near_as_whole("product", &exact, &super::product(&a, &b).unwrap(), 3e-5);
            }
        }
    }
}

#[test]
fn updates_and_sums() {
    let Some(card) = card() else { return };
    let (w, g, m, v) = (random([3, 210]), random([3, 210]), random([3, 210]), random([3, 210]).square());
    let rule =
        AdamRule { keep: 0.99, gain1: 0.1, beta2: 0.999, gain2: 0.001, step: 0.01, root: 0.05, eps: 1e-8 };
    let [cw, cg, cm, cv] = [&w, &g, &m, &v].map(|t| on(t, &card));
    let squares = super::super::super::sums::sums_of_squares(&[&cw, &cg]);
    let expected = [&w, &g].map(|t| host_values(&t.clone().square().sum())[0]);
    assert!(squares.iter().zip(expected).all(|(a, b)| (a - f64::from(b)).abs() < 1e-3 * a), "{squares:?}");
    let ours = update::adamw(cw, cg, cm, cv, rule);
    update::adamw(w, g, m, v, rule).iter().zip(&ours).for_each(|(a, b)| near("update", a, b, 1e-5));

    let (matrix, rows) = (random([9, 40]), random([5, 40]));
    let ints = |v: Vec<i32>| {
        let n = v.len();
        Tensor::<1, Int>::from_data(TensorData::new(v, [n]), &card)
    };
    let places = super::RowsOfTokens {
        ids: ints(vec![2, 7]),
        starts: ints(vec![0, 3, 5]),
        order: ints(vec![0, 3, 4, 1, 2]),
    };
    let sum = super::add_rows(&on(&matrix, &card), &places, &on(&rows, &card)).unwrap();
    let mut expected = host_values(&matrix);
    for (row, values) in host_values(&rows).chunks(40).enumerate() {
        let to = if [0, 3, 4].contains(&row) { 2 } else { 7 };
        expected[to * 40..][..40].iter_mut().zip(values).for_each(|(a, b)| *a += b);
    }
    near("rows", &Tensor::from_data(TensorData::new(expected, [9, 40]), &Device::flex()), &sum, 1e-5);
}
