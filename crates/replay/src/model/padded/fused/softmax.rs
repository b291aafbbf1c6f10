//! Causal softmax of a block of scores, and the gradient of its scores.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::launch::{LANES, by_row};
use super::places::row_of_plane;
use super::tensors::{element, factor, fresh, given, taken};

/// Probabilities of scores [pair, query × head, key], whose first query is at position `first`, as
/// factors; and L, the logarithm of each row's sum.
pub fn probabilities(scores: &Burn<3>, first: usize, group: usize, half: bool) -> Option<(Burn<3>, Burn<3>)> {
    let [pairs, height, keys] = scores.dims();
    let scores = given(scores)?;
    let p = fresh(&scores, [pairs, height, keys], factor(half));
    let log_sums = fresh(&scores, [pairs, height, 1], DType::F32);
    let (count, dim) = by_row(pairs * height);
    probabilities_kernel::launch(
        &p.client,
        count,
        dim,
        scores.into_tensor_arg(),
        p.clone().into_tensor_arg(),
        log_sums.clone().into_tensor_arg(),
        pairs * height,
        height,
        keys,
        first,
        group,
        element(&p),
    );
    Some((taken(p), taken(log_sums)))
}

#[cube(launch)]
fn probabilities_kernel<O: Float>(
    scores: &Tensor<f32>,
    p: &mut Tensor<O>,
    log_sums: &mut Tensor<f32>,
    rows: usize,
    height: usize,
    keys: usize,
    first: usize,
    group: usize,
    #[define(O)] _out: ElemType,
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let lane = UNIT_POS_X as usize;
    let start = row * keys;
    let seen = keys_seen(row, height, first, group);
    let mut largest = f32::new(-1.0e30);
    let mut sum = f32::new(0.0);
    let mut i = lane;
    while i < seen {
        let v = scores[start + i];
        if v > largest {
            sum = sum * (largest - v).exp() + f32::new(1.0);
            largest = v;
        } else {
            sum += (v - largest).exp();
        }
        i += LANES;
    }
    let of_all = plane_max(largest);
    let log_sum = of_all + plane_sum(sum * (largest - of_all).exp()).ln();
    let mut i = lane;
    while i < keys {
        let mut v = f32::new(0.0);
        if i < seen {
            v = (scores[start + i] - log_sum).exp();
        }
        p[start + i] = O::cast_from(v);
        i += LANES;
    }
    if lane == 0 {
        log_sums[row] = log_sum;
    }
}

/// How many keys a row's query sees: those up to its own position.
#[cube]
fn keys_seen(row: usize, height: usize, first: usize, group: usize) -> usize {
    first + row % height / group + 1
}

/// Probabilities again and the gradient of the scores, p (dP − D), both as factors.
pub fn score_gradient(
    [scores, dp, log_sums, dots]: [&Burn<3>; 4],
    first: usize,
    group: usize,
    half: bool,
) -> Option<(Burn<3>, Burn<3>)> {
    let [pairs, height, keys] = scores.dims();
    let (scores, dp, log_sums, dots) = (given(scores)?, given(dp)?, given(log_sums)?, given(dots)?);
    let p = fresh(&scores, [pairs, height, keys], factor(half));
    let ds = fresh(&scores, [pairs, height, keys], factor(half));
    let (count, dim) = by_row(pairs * height);
    score_gradient_kernel::launch(
        &p.client,
        count,
        dim,
        scores.into_tensor_arg(),
        dp.into_tensor_arg(),
        log_sums.into_tensor_arg(),
        dots.into_tensor_arg(),
        p.clone().into_tensor_arg(),
        ds.clone().into_tensor_arg(),
        pairs * height,
        height,
        keys,
        first,
        group,
        element(&p),
    );
    Some((taken(p), taken(ds)))
}

#[cube(launch)]
fn score_gradient_kernel<O: Float>(
    scores: &Tensor<f32>,
    dp: &Tensor<f32>,
    log_sums: &Tensor<f32>,
    dots: &Tensor<f32>,
    p: &mut Tensor<O>,
    ds: &mut Tensor<O>,
    rows: usize,
    height: usize,
    keys: usize,
    first: usize,
    group: usize,
    #[define(O)] _out: ElemType,
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let start = row * keys;
    let seen = keys_seen(row, height, first, group);
    let log_sum = log_sums[row];
    let dot = dots[row];
    let mut i = UNIT_POS_X as usize;
    while i < keys {
        let mut v = f32::new(0.0);
        let mut d = f32::new(0.0);
        if i < seen {
            v = (scores[start + i] - log_sum).exp();
            d = v * (dp[start + i] - dot);
        }
        p[start + i] = O::cast_from(v);
        ds[start + i] = O::cast_from(d);
        i += LANES;
    }
}
