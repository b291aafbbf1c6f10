//! Queries, keys and values between rows of tokens and the order of attention: per-head norm, turn, scale
//! and place in one pass, a plane for each head of each token.

use burn::tensor::{DType, Tensor as Burn};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::super::heads::{PaddedHeads, PaddedQkv, norm_of};
use super::head_kernels::{norm_gradient_kernel, pack_kernel, unpack_kernel};
use super::launch::{by_column, by_row};
use super::tensors::{element, factor, fresh, given, taken};
use crate::model::ops::{HeadNorms, HeadPart, HeadShape};

/// Tokens whose share of a norm's gradient one thread sums.
const STRIP: usize = 16;

/// One of the three parts of the rows, as its kernels take it.
struct Part<'a> {
    heads: &'a PaddedHeads<'a>,
    shape: HeadShape,
    part: HeadPart,
    cos: CubeTensor,
    sin: CubeTensor,
    /// The weight of its norm, where it has one.
    norm: Option<CubeTensor>,
    /// What it is multiplied with at last.
    scale: f32,
}

impl<'a> Part<'a> {
    fn new(heads: &'a PaddedHeads<'a>, norms: HeadNorms<&Burn<2>>, index: usize) -> Option<Self> {
        let (layout, [cos, sin]) = (heads.heads(), heads.angles());
        let norm = norm_of(norms, index).map(given);
        if matches!(norm, Some(None)) {
            return None;
        }
        Some(Self {
            heads,
            shape: layout.shape,
            part: layout.parts()[index],
            cos: given(cos)?,
            sin: given(sin)?,
            norm: norm.flatten(),
            scale: if index == 0 { layout.scale() as f32 } else { 1.0 },
        })
    }

    /// The weight of its norm, or a tensor that is not read.
    fn weight(&self) -> CubeTensor {
        self.norm.as_ref().unwrap_or(&self.cos).clone()
    }

    fn eps(&self) -> f32 {
        self.heads.heads().eps as f32
    }

    /// Its first head of a row.
    fn first(&self) -> usize {
        self.part.offset / self.shape.width
    }

    /// Heads of a row, with those of the other parts.
    fn all(&self) -> usize {
        self.shape.row() / self.shape.width
    }

    /// A plane for each of its heads.
    fn planes(&self) -> (CubeCount, CubeDim) {
        by_row(self.heads.tokens() * self.shape.kv_heads * self.part.per_key)
    }

    fn pack(&self, qkv: &CubeTensor, half: bool) -> Burn<3> {
        let (kv, length) = (self.shape.kv_heads, self.heads.width());
        let pairs = self.heads.tokens() / length * kv;
        let packed = fresh(qkv, [pairs, length * self.part.per_key, self.shape.width], factor(half));
        let ((count, dim), elements) = (self.planes(), [element(qkv), element(&packed)]);
        pack_kernel::launch(
            &packed.client,
            count,
            dim,
            qkv.clone().into_tensor_arg(),
            self.cos.clone().into_tensor_arg(),
            self.sin.clone().into_tensor_arg(),
            self.weight().into_tensor_arg(),
            packed.clone().into_tensor_arg(),
            self.heads.tokens(),
            length,
            kv,
            self.part.per_key,
            self.first(),
            self.all(),
            self.shape.width / 2,
            self.eps(),
            self.scale,
            self.norm.is_some(),
            self.part.turned,
            elements,
        );
        taken(packed)
    }

    /// Writes its columns of the rows' gradient, and what its norm divided by.
    fn unpack(&self, gradient: &CubeTensor, qkv: &CubeTensor, [d, scales]: [&CubeTensor; 2]) {
        let (count, dim) = self.planes();
        unpack_kernel::launch(
            &d.client,
            count,
            dim,
            gradient.clone().into_tensor_arg(),
            qkv.clone().into_tensor_arg(),
            self.cos.clone().into_tensor_arg(),
            self.sin.clone().into_tensor_arg(),
            self.weight().into_tensor_arg(),
            d.clone().into_tensor_arg(),
            scales.clone().into_tensor_arg(),
            self.heads.tokens(),
            self.heads.width(),
            self.shape.kv_heads,
            self.part.per_key,
            self.first(),
            self.all(),
            self.shape.width / 2,
            self.eps(),
            self.scale,
            self.norm.is_some(),
            self.part.turned,
            [element(qkv), element(d)],
        );
    }

    /// The gradient of its norm's weight.
    fn norm_gradient(&self, gradient: &CubeTensor, qkv: &CubeTensor, scales: &CubeTensor) -> Burn<2> {
        let (tokens, width) = (self.heads.tokens(), self.shape.width);
        let strips = tokens.div_ceil(STRIP);
        let sums = fresh(qkv, [strips, width], DType::F32);
        let (count, dim) = by_column(strips, width);
        norm_gradient_kernel::launch(
            &sums.client,
            count,
            dim,
            gradient.clone().into_tensor_arg(),
            qkv.clone().into_tensor_arg(),
            self.cos.clone().into_tensor_arg(),
            self.sin.clone().into_tensor_arg(),
            scales.clone().into_tensor_arg(),
            sums.clone().into_tensor_arg(),
            tokens,
            self.heads.width(),
            self.shape.kv_heads,
            self.part.per_key,
            self.first(),
            self.all(),
            width / 2,
            self.scale,
            STRIP,
            element(qkv),
        );
        taken::<2>(sums).sum_dim(0)
    }
}

/// Normalises, turns, scales and packs; the parts are factors.
pub fn pack(
    heads: &PaddedHeads<'_>,
    qkv: &Burn<2>,
    norms: HeadNorms<&Burn<2>>,
    half: bool,
) -> Option<PaddedQkv> {
    let qkv = given(qkv)?;
    let part = |index: usize| Some(Part::new(heads, norms, index)?.pack(&qkv, half));
    Some(PaddedQkv { q: part(0)?, k: part(1)?, v: part(2)? })
}

/// Gradient of packed heads with respect to the rows, as a factor, and to the per-head norms.
pub fn pack_backward(
    heads: &PaddedHeads<'_>,
    gradient: &PaddedQkv,
    qkv: &Burn<2>,
    norms: HeadNorms<&Burn<2>>,
    half: bool,
) -> Option<(Burn<2>, HeadNorms<Burn<2>>)> {
    let qkv = given(qkv)?;
    let (row, width) = (heads.heads().shape.row(), heads.heads().shape.width);
    let d = fresh(&qkv, [heads.tokens(), row], factor(half));
    let scales = fresh(&qkv, [heads.tokens(), row / width], DType::F32);
    let mut d_norms = vec![];
    for (index, gradient) in [&gradient.q, &gradient.k, &gradient.v].into_iter().enumerate() {
        let (part, gradient) = (Part::new(heads, norms, index)?, given(gradient)?);
        part.unpack(&gradient, &qkv, [&d, &scales]);
        if part.norm.is_some() {
            d_norms.push(part.norm_gradient(&gradient, &qkv, &scales));
        }
    }
    let mut d_norms = d_norms.into_iter();
    Some((taken(d), d_norms.next().zip(d_norms.next())))
}
