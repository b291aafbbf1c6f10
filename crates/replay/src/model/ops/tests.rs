//! What is special to the fused loops; `padded/tests.rs` holds them against tensor operations.

use burn::tensor::{Device, Tensor, TensorData};

use super::super::host_values::host_values;
use super::Compute;

#[test]
fn certain_tokens_keep_their_digits() {
    // One token holds all but e⁻²⁰ of the mass: 1 − π has no digits left in single precision.
    let host = Compute::new(&Device::flex());
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
    let host = Compute::new(&Device::flex());
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
