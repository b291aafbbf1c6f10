//! Products of the layers' matrices: in float32 as the device multiplies it (on CUDA in parts that keep 17
//! bits), or with both factors rounded to bfloat16, as PyTorch's autocast does. A factor is rounded once,
//! wherever it is used.

use burn::tensor::{FloatDType, Tensor};

use super::super::policy::Policy;
#[cfg(feature = "cuda")]
use super::fused;

/// How matrices are multiplied.
#[derive(Debug)]
pub struct Products {
    half: bool,
    /// The policy's parameters as factors.
    weights: Vec<Tensor<2>>,
}

impl Products {
    /// Rounds the matrices of a policy once, where they are rounded at all.
    pub fn new(policy: &Policy, half: bool) -> Self {
        let mut weights = policy.parameters.clone();
        let layers = policy.layout.layers.iter();
        let matrices = layers.flat_map(|l| [l.qkv, l.output, l.gate_up, l.down]).chain([policy.layout.head]);
        for slot in matrices.filter(|_| half) {
            weights[slot].inplace(bfloat);
        }
        Self::of(weights, half)
    }

    /// With factors that are rounded already, where they are rounded.
    pub fn of(weights: Vec<Tensor<2>>, half: bool) -> Self {
        Self { half, weights }
    }

    /// Whether factors are rounded to bfloat16.
    pub fn rounds(&self) -> bool {
        self.half
    }

    /// A tensor as a factor of products.
    pub fn factor<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        if self.half { bfloat(x) } else { x }
    }

    /// The product of two factors.
    pub fn product<const D: usize>(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        #[cfg(feature = "cuda")]
        if let Some(product) = fused::product(&a, &b) {
            return product;
        }
        self.whole(a.matmul(b))
    }

    /// A factor as the numbers it stands for.
    pub fn whole<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        if self.half { x.cast(FloatDType::F32) } else { x }
    }

    /// x Wᵀ of a factor and the parameter at a place.
    pub fn linear(&self, x: &Tensor<2>, weight: usize) -> Tensor<2> {
        self.product(x.clone(), self.weights[weight].clone().transpose())
    }

    /// Its gradients, dy W and dyᵀ x, with respect to input and weight.
    pub fn linear_backward(&self, dy: Tensor<2>, x: Tensor<2>, weight: usize) -> (Tensor<2>, Tensor<2>) {
        let dy = self.factor(dy);
        (self.input_gradient(&dy, weight), self.product(dy.transpose(), x))
    }

    /// dy W of a factor.
    pub fn input_gradient(&self, dy: &Tensor<2>, weight: usize) -> Tensor<2> {
        self.product(dy.clone(), self.weights[weight].clone())
    }
}

fn bfloat<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.cast(FloatDType::BF16)
}

/// A matrix as the sum of two whose numbers survive rounding to few bits: products of such parts are
/// as good as float32 also where a device rounds factors to TensorFloat-32 (11 bits): 8 bits are in the
/// first part, the next 11 in the second.
#[derive(Debug, Clone)]
pub struct Split {
    high: Tensor<2>,
    low: Tensor<2>,
}

impl Split {
    /// Splits.
    pub fn new(x: Tensor<2>) -> Self {
        let high = bfloat(x.clone()).cast(FloatDType::F32);
        Self { low: x - high.clone(), high }
    }

    /// a bᵀ, the smallest products first.
    pub fn product_transposed(&self, other: &Self) -> Tensor<2> {
        let by = |a: &Tensor<2>, b: &Tensor<2>| a.clone().matmul(b.clone().transpose());
        let middle = by(&self.high, &other.low) + by(&self.low, &other.high);
        by(&self.high, &other.high) + (middle + by(&self.low, &other.low))
    }

    /// Both parts as a device rounds them.
    #[cfg(test)]
    pub fn rounded_by(self, round: fn(&Tensor<2>) -> Tensor<2>) -> Self {
        Self { high: round(&self.high), low: round(&self.low) }
    }
}
