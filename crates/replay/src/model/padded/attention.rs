//! Causal attention of a rectangle in blocks of queries. A block meets only the keys up to its end, and
//! its probabilities are not kept: with the logarithm L of its softmax's denominator a row's
//! probabilities are exp(s − L) on the way back, and with D = Σ dO · O the gradient of its scores is
//! p (dP − D) (the streaming form of Dao 2023), so that memory grows linearly with length.

use std::cell::OnceCell;
use std::ops::Range;

use burn::tensor::{Device, Tensor};

#[cfg(feature = "cuda")]
use super::fused;
use super::heads::{PaddedHeads, PaddedQkv};
use super::products::Products;

/// Queries of a block at most, of a sequence.
const LONGEST_BLOCK: usize = 512;
/// Scores that exist at one time, about (a gibibyte).
const SCORES: usize = 1 << 28;
/// What is added to a score that a query may not see.
const HIDDEN: f64 = -1e30;

/// Blocks of queries with their masks.
pub struct Blocks {
    device: Device,
    /// Queries per row of the heads' group.
    group: usize,
    /// A mask is made on the device once for all layers, where one is needed.
    blocks: Vec<(Range<usize>, OnceCell<Tensor<3>>)>,
}

/// What attention gives, and what its way back needs.
pub struct Attended {
    /// [sequence × key head, token × head, width].
    pub out: Tensor<3>,
    /// L of every block.
    pub log_sums: Vec<Tensor<3>>,
}

impl Blocks {
    /// For `pairs` sequences × key heads.
    pub fn new(device: &Device, heads: &PaddedHeads<'_>, pairs: usize) -> Self {
        let fitting = SCORES / (pairs * heads.group() * heads.width()).max(1) / 64 * 64;
        Self::of_size(device, heads, fitting.clamp(64, LONGEST_BLOCK))
    }

    /// With blocks of `size` queries.
    pub fn of_size(device: &Device, heads: &PaddedHeads<'_>, size: usize) -> Self {
        let (width, group) = (heads.width(), heads.group());
        let block = |first: usize| (first..(first + size).min(width), OnceCell::new());
        Self { device: device.clone(), group, blocks: (0..width).step_by(size).map(block).collect() }
    }

    /// softmax(q kᵀ) v of queries that are scaled already.
    pub fn forward(&self, products: &Products, packed: &PaddedQkv) -> Attended {
        let (mut out, mut log_sums) = (vec![], vec![]);
        let v = products.factor(packed.v.clone());
        for (queries, mask) in &self.blocks {
            let scores = self.scores(products, packed, queries);
            #[cfg(feature = "cuda")]
            if let Some((p, log_sum)) =
                fused::probabilities(&scores, queries.start, self.group, products.rounds())
            {
                out.push(products.product(p, seen(&v, queries)));
                log_sums.push(log_sum);
                continue;
            }
            let scores = scores + self.mask(queries, mask);
            let largest = scores.clone().max_dim(2);
            let e = (scores - largest.clone()).exp();
            let sum = e.clone().sum_dim(2);
            let values = products.product(products.factor(e), seen(&v, queries));
            out.push(values / sum.clone());
            log_sums.push(largest + sum.log());
        }
        Attended { out: joined(out), log_sums }
    }

    /// Gradients with respect to queries, keys and values, from that of the output and D.
    pub fn backward(
        &self,
        products: &Products,
        packed: &PaddedQkv,
        log_sums: Vec<Tensor<3>>,
        d_out: &Tensor<3>,
        dots: &Tensor<3>,
    ) -> PaddedQkv {
        let [q, k] = [&packed.q, &packed.k].map(|t| products.factor(t.clone()));
        let (mut dq, mut dk, mut dv) = (vec![], None, None);
        // From the last block, which saw all keys, to the first.
        for ((queries, mask), log_sum) in self.blocks.iter().zip(log_sums).rev() {
            let rows = self.rows(queries);
            let scores = self.scores(products, packed, queries);
            let (d, dots) = (cut(d_out, &rows), cut(dots, &rows));
            let dp = products.product(d.clone(), seen(&packed.v, queries).swap_dims(1, 2));
            let mask = || self.mask(queries, mask);
            let (p, ds) = self.score_gradient(products, queries.start, [scores, dp, log_sum, dots], mask);
            dv = Some(add_seen(dv, products.product(p.swap_dims(1, 2), products.factor(d))));
            dq.push(products.product(ds.clone(), seen(&k, queries)));
            dk = Some(add_seen(dk, products.product(ds.swap_dims(1, 2), cut(&q, &rows))));
        }
        dq.reverse();
        let none = || packed.k.zeros_like();
        PaddedQkv { q: joined(dq), k: dk.unwrap_or_else(none), v: dv.unwrap_or_else(none) }
    }

    /// Probabilities and the gradient of the scores, as factors.
    fn score_gradient(
        &self,
        products: &Products,
        first: usize,
        [scores, dp, log_sum, dots]: [Tensor<3>; 4],
        mask: impl Fn() -> Tensor<3>,
    ) -> (Tensor<3>, Tensor<3>) {
        #[cfg(feature = "cuda")]
        if let Some(both) =
            fused::score_gradient([&scores, &dp, &log_sum, &dots], first, self.group, products.rounds())
        {
            return both;
        }
        #[cfg(not(feature = "cuda"))]
        let _ = first;
        let p = (scores + mask() - log_sum).exp();
        (products.factor(p.clone()), products.factor(p * (dp - dots)))
    }

    fn mask(&self, queries: &Range<usize>, made: &OnceCell<Tensor<3>>) -> Tensor<3> {
        made.get_or_init(|| mask(&self.device, queries.clone(), self.group)).clone()
    }

    #[cfg(test)]
    pub fn masks(self) -> Vec<Tensor<3>> {
        self.blocks.iter().map(|(queries, made)| self.mask(queries, made)).collect()
    }

    /// Scores of a block, also of keys that a query may not see.
    fn scores(&self, products: &Products, packed: &PaddedQkv, queries: &Range<usize>) -> Tensor<3> {
        products.product(cut(&packed.q, &self.rows(queries)), seen(&packed.k, queries).swap_dims(1, 2))
    }

    fn rows(&self, queries: &Range<usize>) -> Range<usize> {
        queries.start * self.group..queries.end * self.group
    }
}

/// 0 where a query sees a key, else −∞ for all that matters: [1, query × head, key].
fn mask(device: &Device, queries: Range<usize>, group: usize) -> Tensor<3> {
    let positions = |range: Range<usize>| {
        Tensor::<1, burn::tensor::Int>::arange(range.start as i64..range.end as i64, device).float()
    };
    let (count, keys) = (queries.len(), queries.end);
    let query: Tensor<3> =
        positions(queries).reshape([count, 1, 1]).repeat_dim(1, group).reshape([1, count * group, 1]);
    let key: Tensor<3> = positions(0..keys).reshape([1, 1, keys]);
    (key - query).greater_elem(0.0).float().mul_scalar(HIDDEN)
}

fn seen(all: &Tensor<3>, queries: &Range<usize>) -> Tensor<3> {
    cut(all, &(0..queries.end))
}

fn cut(all: &Tensor<3>, rows: &Range<usize>) -> Tensor<3> {
    let [pairs, total, width] = all.dims();
    if *rows == (0..total) { all.clone() } else { all.clone().slice([0..pairs, rows.clone(), 0..width]) }
}

fn add_seen(sum: Option<Tensor<3>>, part: Tensor<3>) -> Tensor<3> {
    let Some(sum) = sum else { return part };
    let [pairs, tokens, width] = part.dims();
    let seen = [0..pairs, 0..tokens, 0..width];
    let added = sum.clone().slice(seen.clone()) + part;
    sum.slice_assign(seen, added)
}

fn joined(mut parts: Vec<Tensor<3>>) -> Tensor<3> {
    if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 1) }
}
