//! Products of the layers' matrices: in float32 as the device multiplies it (on CUDA in parts that keep 17
//! bits), or with both factors rounded to bfloat16, as PyTorch's autocast does. A factor is rounded once,
//! wherever it is used.

use burn::tensor::{DType, FloatDType, Tensor};

use super::super::adapter::Multiply;
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
        let layout = &policy.layout;
        let adapter = layout.lora.iter().flat_map(|_| layout.frozen..weights.len());
        let factors: Vec<usize> = layout.matrices().chain([layout.head]).chain(adapter).collect();
        for slot in factors.into_iter().filter(|_| half) {
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

    /// Its gradient with respect to the input, dy W, of a factor.
    pub fn input_gradient(&self, dy: &Tensor<2>, weight: usize) -> Tensor<2> {
        self.product(dy.clone(), self.weights[weight].clone())
    }
}

impl Multiply for Products {
    fn factor(&self, x: Tensor<2>) -> Tensor<2> {
        self.factor(x)
    }

    fn product(&self, a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
        self.product(a, b)
    }

    fn parameter(&self, slot: usize) -> Tensor<2> {
        self.weights[slot].clone()
    }
}

fn bfloat<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    if x.dtype() == DType::BF16 { x } else { x.cast(FloatDType::BF16) }
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
