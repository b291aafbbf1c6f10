//! Queries, keys and values between rows of tokens and the order of attention.

use burn::tensor::{Device, Tensor, TensorData};

use super::super::ops::{HeadNorms, HeadPart, HeadShape, Heads};
#[cfg(feature = "cuda")]
use super::fused;
use super::norm;
use super::products::Products;

/// Queries (already scaled), keys and values: [sequence × key head, token × head, width].
#[derive(Debug, Clone)]
pub struct PaddedQkv {
    pub q: Tensor<3>,
    pub k: Tensor<3>,
    pub v: Tensor<3>,
}

/// The head layout of a model for rectangles of one width, with the angles of positions on the device.
#[derive(Debug)]
pub struct PaddedHeads<'a> {
    heads: &'a Heads,
    rows: usize,
    width: usize,
    /// cos of every position, for both halves of a head: [1, token, 1, width].
    cos: Tensor<4>,
    /// −sin for the first half, sin for the second.
    sin: Tensor<4>,
}

impl<'a> PaddedHeads<'a> {
    /// For `rows` sequences of `width` tokens.
    pub fn new(device: &Device, heads: &'a Heads, rows: usize, width: usize) -> Self {
        let half = heads.shape.width / 2;
        let (cos, sin) = heads.angles(0, width);
        let twice = |values: &[f32], first: f32| -> Tensor<4> {
            let both = values
                .chunks(half)
                .flat_map(|row| row.iter().map(move |v| v * first).chain(row.iter().copied()));
            Tensor::from_data(TensorData::new(both.collect::<Vec<f32>>(), [1, width, 1, 2 * half]), device)
        };
        Self { heads, rows, width, cos: twice(cos, 1.0), sin: twice(sin, -1.0) }
    }

    /// Query heads per key head.
    pub fn group(&self) -> usize {
        self.heads.group()
    }

    /// Tokens of a sequence.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The head layout of the model.
    #[cfg(feature = "cuda")]
    pub fn heads(&self) -> &Heads {
        self.heads
    }

    /// cos, and sin with its sign, of every position for both halves of a head.
    #[cfg(feature = "cuda")]
    pub fn angles(&self) -> [&Tensor<4>; 2] {
        [&self.cos, &self.sin]
    }

    /// Normalises, turns, scales and packs.
    pub fn pack(&self, products: &Products, qkv: &Tensor<2>, norms: HeadNorms<&Tensor<2>>) -> PaddedQkv {
        #[cfg(feature = "cuda")]
        if let Some(packed) = fused::pack(self, qkv, norms, products.rounds()) {
            return packed;
        }
        #[cfg(not(feature = "cuda"))]
        let _ = products;
        let part = |index: usize| {
            let HeadPart { turned, per_key, .. } = self.heads.parts()[index];
            let (mut x, weight) = (self.part(qkv, index), norm_of(norms, index));
            if let Some(weight) = weight {
                x = norm::forward(x, weight, self.heads.eps);
            }
            let mut x = self.by_position(x, per_key);
            if turned {
                x = self.turn(x, 1.0);
            }
            self.packed(if index == 0 { x.mul_scalar(self.heads.scale()) } else { x }, per_key)
        };
        PaddedQkv { q: part(0), k: part(1), v: part(2) }
    }

    /// Gradient of packed heads with respect to the rows, and to the per-head norms.
    pub fn pack_backward(
        &self,
        products: &Products,
        gradient: PaddedQkv,
        qkv: &Tensor<2>,
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, HeadNorms<Tensor<2>>) {
        #[cfg(feature = "cuda")]
        if let Some(gradients) = fused::pack_backward(self, &gradient, qkv, norms, products.rounds()) {
            return gradients;
        }
        let PaddedQkv { q, k, v } = gradient;
        let (mut columns, mut d_norms) = (vec![], vec![]);
        for (index, d) in [q.mul_scalar(self.heads.scale()), k, v].into_iter().enumerate() {
            let HeadPart { turned, per_key, .. } = self.heads.parts()[index];
            let d = self.unpacked(d, per_key);
            let d = if turned { self.turn(d, -1.0) } else { d };
            let (count, width) = (self.heads.shape.kv_heads * per_key, self.heads.shape.width);
            let mut d: Tensor<2> = d.reshape([self.tokens() * count, width]);
            if let Some(weight) = norm_of(norms, index) {
                let (dx, dw) = norm::backward(d, self.part(qkv, index), weight, self.heads.eps, None);
                d = dx;
                d_norms.push(dw);
            }
            columns.push(d.reshape([self.tokens(), count * width]));
        }
        let mut d_norms = d_norms.into_iter();
        (products.factor(Tensor::cat(columns, 1)), d_norms.next().zip(d_norms.next()))
    }

    /// Rows of heads [token, head × width] → [sequence × key head, token × head, width].
    pub fn split(&self, rows: Tensor<2>) -> Tensor<3> {
        self.packed(self.by_position(rows, self.heads.group()), self.heads.group())
    }

    /// The way back of [`PaddedHeads::split`].
    pub fn join(&self, packed: Tensor<3>) -> Tensor<2> {
        let HeadShape { kv_heads, group, width } = self.heads.shape;
        self.unpacked(packed, group).reshape([self.tokens(), kv_heads * group * width])
    }

    /// Likewise, as a factor of products.
    pub fn join_as_factor(&self, products: &Products, packed: Tensor<3>) -> Tensor<2> {
        #[cfg(feature = "cuda")]
        if let Some(rows) = fused::join(self, &packed, products.rounds()) {
            return rows;
        }
        products.factor(self.join(packed))
    }

    /// D = Σ dO · O of every packed row, and dO packed, from the rows of dO and the factor O.
    pub fn dot_and_split(
        &self,
        products: &Products,
        d: Tensor<2>,
        attended: Tensor<2>,
    ) -> (Tensor<3>, Tensor<3>) {
        #[cfg(feature = "cuda")]
        if let Some(both) = fused::dot_and_split(self, &d, &attended, products.rounds()) {
            return both;
        }
        (self.dot(d.clone(), products.whole(attended)), self.split(d))
    }

    /// Σ over a head's width of two tensors' product, for every packed row.
    fn dot(&self, a: Tensor<2>, b: Tensor<2>) -> Tensor<3> {
        let HeadShape { kv_heads, group, width } = self.heads.shape;
        let sums = (a * b).reshape([self.tokens() * kv_heads * group, width]).sum_dim(1);
        let sums: Tensor<4> = sums.reshape([self.rows, self.width, kv_heads, group]);
        sums.swap_dims(1, 2).reshape([self.rows * kv_heads, self.width * group, 1])
    }

    /// Tokens of the rectangle.
    pub fn tokens(&self) -> usize {
        self.rows * self.width
    }

    /// One of the three parts of the rows, a head a row.
    fn part(&self, qkv: &Tensor<2>, index: usize) -> Tensor<2> {
        let HeadPart { offset, per_key, .. } = self.heads.parts()[index];
        let count = self.heads.shape.kv_heads * per_key;
        let columns = count * self.heads.shape.width;
        let part = qkv.clone().slice([0..self.tokens(), offset..offset + columns]);
        part.reshape([self.tokens() * count, self.heads.shape.width])
    }

    fn by_position(&self, x: Tensor<2>, per_key: usize) -> Tensor<4> {
        x.reshape([self.rows, self.width, self.heads.shape.kv_heads * per_key, self.heads.shape.width])
    }

    fn packed(&self, x: Tensor<4>, per_key: usize) -> Tensor<3> {
        let HeadShape { kv_heads, width, .. } = self.heads.shape;
        let x: Tensor<4> = x.reshape([self.rows, self.width, kv_heads, per_key * width]);
        x.swap_dims(1, 2).reshape([self.rows * kv_heads, self.width * per_key, width])
    }

    fn unpacked(&self, x: Tensor<3>, per_key: usize) -> Tensor<4> {
        let HeadShape { kv_heads, width, .. } = self.heads.shape;
        let x: Tensor<4> = x.reshape([self.rows, kv_heads, self.width, per_key * width]);
        x.swap_dims(1, 2).reshape([self.rows, self.width, kv_heads * per_key, width])
    }

    /// Turns heads by their positions, or back (−1).
    fn turn(&self, x: Tensor<4>, direction: f64) -> Tensor<4> {
        let [rows, tokens, count, width] = x.dims();
        let half = width / 2;
        let first = x.clone().slice([0..rows, 0..tokens, 0..count, 0..half]);
        let second = x.clone().slice([0..rows, 0..tokens, 0..count, half..width]);
        let other = Tensor::cat(vec![second, first], 3);
        x * self.cos.clone() + other * self.sin.clone().mul_scalar(direction)
    }
}

/// The norm of one of the three parts, where it has one.
pub fn norm_of(norms: HeadNorms<&Tensor<2>>, index: usize) -> Option<&Tensor<2>> {
    norms.and_then(|(q, k)| [Some(q), Some(k), None].into_iter().nth(index).flatten())
}
