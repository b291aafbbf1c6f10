//! Root-mean-square norm: h = x / √(mean x² + ε) · w.

use burn::tensor::Tensor;

#[cfg(feature = "cuda")]
use super::fused;
use super::products::Products;

/// The normalised rows.
pub fn forward(x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> Tensor<2> {
    #[cfg(feature = "cuda")]
    if let Some(normed) = fused::norm(&x, weight, eps, false) {
        return normed;
    }
    x.clone() * inverse_rms(x, eps) * weight.clone()
}

/// The normalised rows as a factor of products.
pub fn as_factor(products: &Products, x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> Tensor<2> {
    #[cfg(feature = "cuda")]
    if let Some(normed) = fused::norm(&x, weight, eps, products.rounds()) {
        return normed;
    }
    products.factor(forward(x, weight, eps))
}

/// Gradients with respect to input (with the `residual`'s added) and weight.
pub fn backward(
    dy: Tensor<2>,
    x: Tensor<2>,
    weight: &Tensor<2>,
    eps: f64,
    residual: Option<Tensor<2>>,
) -> (Tensor<2>, Tensor<2>) {
    #[cfg(feature = "cuda")]
    if let Some(gradients) = fused::norm_backward(&dy, &x, weight, eps, residual.as_ref()) {
        return gradients;
    }
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
