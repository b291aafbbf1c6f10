//! Root-mean-square norm: h = x / √(mean x² + ε) · w.

use burn::tensor::Tensor;

use super::Place;
use super::host::buffer::{Buffer, wrap};
use super::host::norm as fused;

impl Place {
    /// Returns the input again, for the way back, and the normalised rows.
    pub(in super::super) fn norm(
        &self,
        x: Tensor<2>,
        weight: &Tensor<2>,
        eps: f64,
    ) -> (Tensor<2>, Tensor<2>) {
        if self.host {
            let shape = x.dims();
            let (x, weight) = (Buffer::take(x), Buffer::take(weight.clone()));
            let mut h = vec![0.0; x.len()];
            fused::forward(&x, &weight, eps as f32, &mut h);
            return (x.give(&self.device), wrap(h, shape, &self.device));
        }
        let h = x.clone() * inverse_rms(x.clone(), eps) * weight.clone();
        (x, h)
    }

    /// Gradients with respect to input (with the `residual`'s added) and weight.
    pub(in super::super) fn norm_backward(
        &self,
        dy: Tensor<2>,
        x: Tensor<2>,
        weight: &Tensor<2>,
        eps: f64,
        residual: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>) {
        if self.host {
            let (mut dy, x, weight) = (Buffer::take(dy), Buffer::take(x), Buffer::take(weight.clone()));
            let residual = residual.map(Buffer::take);
            let mut weight_gradient = vec![0.0; weight.len()];
            fused::backward(&mut dy, &x, &weight, eps as f32, residual.as_deref(), &mut weight_gradient);
            let shape = [1, weight_gradient.len()];
            return (dy.give(&self.device), wrap(weight_gradient, shape, &self.device));
        }
        let scale = inverse_rms(x.clone(), eps);
        let unit = x * scale.clone();
        let weight_gradient = (dy.clone() * unit.clone()).sum_dim(0);
        let inner = dy * weight.clone();
        let along = (inner.clone() * unit.clone()).mean_dim(1);
        let dx = (inner - unit * along) * scale;
        (if let Some(residual) = residual { dx + residual } else { dx }, weight_gradient)
    }
}

fn inverse_rms(x: Tensor<2>, eps: f64) -> Tensor<2> {
    x.square().mean_dim(1).add_scalar(eps).sqrt().recip()
}
