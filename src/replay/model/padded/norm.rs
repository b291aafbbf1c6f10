//! Root-mean-square norm: h = x / √(mean x² + ε) · w.

use burn::tensor::Tensor;

/// The normalised rows.
pub fn forward(x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> Tensor<2> {
    x.clone() * inverse_rms(x, eps) * weight.clone()
}

/// Gradients with respect to input (with the `residual`'s added) and weight.
pub fn backward(
    dy: Tensor<2>,
    x: Tensor<2>,
    weight: &Tensor<2>,
    eps: f64,
    residual: Option<Tensor<2>>,
) -> (Tensor<2>, Tensor<2>) {
    let scale = inverse_rms(x.clone(), eps);
    let unit = x * scale.clone();
    let weight_gradient = (dy.clone() * unit.clone()).sum_dim(0);
    let inner = dy * weight.clone();
    let along = (inner.clone() * unit.clone()).mean_dim(1);
    let dx = (inner - unit * along) * scale;
    (if let Some(residual) = residual { dx + residual } else { dx }, weight_gradient)
}

fn inverse_rms(x: Tensor<2>, eps: f64) -> Tensor<2> {
    x.square().mean_dim(1).add_scalar(eps).sqrt().recip()
}
