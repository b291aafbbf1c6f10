//! What the three policies of a token say of each other: sums from which differences between them
//! are told apart.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use crate::collect::columns::Columns;
use crate::collect::questions::difference::{FAR, far_k3};
use stapo_base::simd::{LANES, Work, sums_of_lanes, widest};
use stapo_framework::fast_math;

/// Differences beyond this count as this: e^40 is far outside of any correction.
const LARGEST_DIFFERENCE: f64 = 40.0;
/// Tokens that a temperature hardly moves are left out of the slope.
const NEARLY_CERTAIN: f32 = -0.051_293_3; // ln 0.95

/// k3 of a log-ratio d: e^d − 1 − d, never negative.
pub fn k3(difference: f64) -> f64 {
    let d = difference.clamp(-LARGEST_DIFFERENCE, LARGEST_DIFFERENCE);
    fast_math::exp(d) - 1.0 - d
}

/// Sums over a response's tokens of the sampler's log-probability against the trainer's.
///
/// With y = ln μ − ln π, a sampler of temperature T has y = b ln π − ln Σ π^{1+b}, b = 1/T − 1.
/// The normaliser's logarithm is 0 at b = 0 with the slope −H, and ln Σ π² at b = 1; the parabola
/// through these gives y ≈ b x − b² z with x = ln π + H and z = ln Σ π² + H.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GapSums {
    /// Tokens.
    pub tokens: f64,
    /// Σ k3 of ln π − ln μ.
    pub k3: f64,
    /// The same of differences cut at ± ln 10.
    pub bounded_k3: f64,
    /// Σ y.
    pub y: f64,
    /// Σ |y|.
    pub absolute: f64,
    /// Σ y².
    pub yy: f64,
    /// Σ y² where y < 0.
    pub below: f64,
    /// Tokens that the trainer finds ten times less likely than the sampler did, and their Σ y².
    pub far: [f64; 2],
    /// Σ xy, Σ zy, Σ x², Σ xz, Σ z².
    pub moments: [f64; 5],
    /// Of tokens with π < 0.95: number, Σ ln π, Σ ln μ, Σ (ln π)², Σ ln π ln μ.
    pub slope: [f64; 5],
}

impl GapSums {
    /// The sums of a response's trained tokens; `None` where the sampler's are not logged.
    pub fn of(columns: &Columns<'_>) -> Option<Self> {
        let Columns { logprob, logprob_rollout, entropy, sum_pi_sq, .. } = *columns;
        if logprob_rollout.is_empty() {
            return None;
        }
        let sums = widest(Gaps { logprob, logprob_rollout, entropy, sum_pi_sq });
        (sums.tokens > 0.0).then_some(sums)
    }

    /// All sums as bits, for an order.
    pub fn bits(&self) -> Vec<u64> {
        let Self { tokens, k3, bounded_k3, y, absolute, yy, below, far, moments, slope } = self;
        let single = [tokens, k3, bounded_k3, y, absolute, yy, below];
        single.into_iter().chain(far).chain(moments).chain(slope).map(|sum| sum.to_bits()).collect()
    }

    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.k3 += other.k3;
        self.bounded_k3 += other.bounded_k3;
        self.y += other.y;
        self.absolute += other.absolute;
        self.yy += other.yy;
        self.below += other.below;
        self.far.iter_mut().zip(other.far).for_each(|(sum, term)| *sum += term);
        self.moments.iter_mut().zip(other.moments).for_each(|(sum, term)| *sum += term);
        self.slope.iter_mut().zip(other.slope).for_each(|(sum, term)| *sum += term);
    }
}

/// Columns of a response that are added up in lanes.
struct Gaps<'a> {
    logprob: &'a [f32],
    logprob_rollout: &'a [f32],
    entropy: &'a [f32],
    sum_pi_sq: &'a [f64],
}

/// Tokens whose values are laid out side by side at a time.
const BLOCK: usize = 64;
type Values = [f64; BLOCK];

/// Values of a block, one column for each; 0 of tokens that lack one.
#[derive(Clone, Copy)]
struct GapBlock {
    known: Values,
    moved: Values,
    l: Values,
    m: Values,
    x: Values,
    y: Values,
    z: Values,
    k3: Values,
    bounded: Values,
    below: Values,
    far: Values,
}

impl Work for Gaps<'_> {
    type Output = GapSums;

    #[inline(always)]
    fn call(self) -> GapSums {
        let zero = [0.0; BLOCK];
        let mut block = GapBlock {
            known: zero,
            moved: zero,
            l: zero,
            m: zero,
            x: zero,
            y: zero,
            z: zero,
            k3: zero,
            bounded: zero,
            below: zero,
            far: zero,
        };
        let mut lanes = [[0.0; LANES]; 19];
        for first in (0..self.logprob.len()).step_by(BLOCK) {
            let end = self.logprob.len().min(first + BLOCK);
            let part = Gaps {
                logprob: &self.logprob[first..end],
                logprob_rollout: &self.logprob_rollout[first..end],
                entropy: &self.entropy[first..end],
                sum_pi_sq: self.sum_pi_sq.get(first..end).unwrap_or_default(),
            };
            part.lay_out(&mut block);
            block.add_to(&mut lanes, end - first);
        }
        let [tokens, k3, bounded_k3, y, absolute, yy, below, far, far_yy, rest @ ..] = sums_of_lanes(&lanes);
        let [xy, zy, xx, xz, zz, moved, moved_l, moved_m, moved_ll, moved_lm] = rest;
        GapSums {
            tokens,
            k3,
            bounded_k3,
            y,
            absolute,
            yy,
            below,
            far: [far, far_yy],
            moments: [xy, zy, xx, xz, zz],
            slope: [moved, moved_l, moved_m, moved_ll, moved_lm],
        }
    }
}

impl Gaps<'_> {
    /// Lays out at most [`BLOCK`] tokens, up to whole lanes. A token that lacks a value is all zeros.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn lay_out(&self, block: &mut GapBlock) {
        let n = self.logprob.len();
        let padded = n.next_multiple_of(LANES).min(BLOCK);
        let (logprob, sampler, entropy) =
            (&self.logprob[..n], &self.logprob_rollout[..n], &self.entropy[..n]);
        for column in [&mut block.known, &mut block.moved, &mut block.l, &mut block.m, &mut block.x] {
            column[n..padded].fill(0.0);
        }
        block.z[n..padded].fill(0.0);
        let (known, moved, z) = (&mut block.known[..n], &mut block.moved[..n], &mut block.z[..n]);
        let (l, m, x) = (&mut block.l[..n], &mut block.m[..n], &mut block.x[..n]);
        for i in 0..n {
            let is = logprob[i].is_finite() & sampler[i].is_finite();
            known[i] = if is { 1.0 } else { 0.0 };
            l[i] = if is { f64::from(logprob[i]) } else { 0.0 };
            m[i] = if is { f64::from(sampler[i]) } else { 0.0 };
            x[i] = if is { f64::from(logprob[i]) + f64::from(entropy[i]) } else { 0.0 };
            moved[i] = if is & (logprob[i] < NEARLY_CERTAIN) { 1.0 } else { 0.0 };
        }
        if let Some(collision) = self.sum_pi_sq.get(..n) {
            for i in 0..n {
                let normal = collision[i] > f64::from(f32::MIN_POSITIVE);
                let ln = fast_math::ln_f32(if normal { collision[i] as f32 } else { 1.0 });
                let sum = f64::from(ln) + f64::from(entropy[i]);
                z[i] = if normal & (sum > 0.0) { known[i] * sum } else { 0.0 };
            }
        }
        let (l, m, y) = (&block.l[..padded], &block.m[..padded], &mut block.y[..padded]);
        let (k3, bounded) = (&mut block.k3[..padded], &mut block.bounded[..padded]);
        let (below, far) = (&mut block.below[..padded], &mut block.far[..padded]);
        let (far_below, far_above) = (far_k3(f64::INFINITY), far_k3(f64::NEG_INFINITY));
        for i in 0..padded {
            let d = m[i] - l[i];
            let d = if d > LARGEST_DIFFERENCE { LARGEST_DIFFERENCE } else { d };
            let d = if d < -LARGEST_DIFFERENCE { -LARGEST_DIFFERENCE } else { d };
            y[i] = d;
            k3[i] = fast_math::exp(-d) - 1.0 + d;
            let cut = if d > FAR { far_above } else { k3[i] };
            bounded[i] = if d < -FAR { far_below } else { cut };
            below[i] = if d < 0.0 { d } else { 0.0 };
            far[i] = if d > FAR { 1.0 } else { 0.0 };
        }
    }
}

impl GapBlock {
    /// Adds the first `n` tokens, in the order of [`GapSums`].
    #[inline(always)]
    fn add_to(&self, lanes: &mut [[f64; LANES]; 19], n: usize) {
        let at = |column: &Values, chunk: usize| column.as_chunks::<LANES>().0[chunk];
        for chunk in 0..n.div_ceil(LANES).min(BLOCK / LANES) {
            let [known, moved, l, m] = [&self.known, &self.moved, &self.l, &self.m].map(|c| at(c, chunk));
            let [x, y, z] = [&self.x, &self.y, &self.z].map(|c| at(c, chunk));
            let [k3, bounded] = [&self.k3, &self.bounded].map(|c| at(c, chunk));
            let [below, far] = [&self.below, &self.far].map(|c| at(c, chunk));
            for lane in 0..LANES {
                lanes[0][lane] += known[lane];
                lanes[1][lane] += k3[lane];
                lanes[2][lane] += bounded[lane];
                lanes[3][lane] += y[lane];
                lanes[4][lane] += y[lane].abs();
                lanes[5][lane] += y[lane] * y[lane];
                lanes[6][lane] += below[lane] * below[lane];
                lanes[7][lane] += far[lane];
                lanes[8][lane] += far[lane] * y[lane] * y[lane];
            }
            for lane in 0..LANES {
                lanes[9][lane] += x[lane] * y[lane];
                lanes[10][lane] += z[lane] * y[lane];
                lanes[11][lane] += x[lane] * x[lane];
                lanes[12][lane] += x[lane] * z[lane];
                lanes[13][lane] += z[lane] * z[lane];
            }
            for lane in 0..LANES {
                let moved_l = moved[lane] * l[lane];
                lanes[14][lane] += moved[lane];
                lanes[15][lane] += moved_l;
                lanes[16][lane] += moved[lane] * m[lane];
                lanes[17][lane] += moved_l * l[lane];
                lanes[18][lane] += moved_l * m[lane];
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Token by token, as the sums are defined.
    #[test]
    fn lanes_add_up_to_the_definition() {
        let token = |i: u8| {
            let l = -f32::from(i % 7) / 3.0;
            let m = if i == 5 {
                f32::NAN
            } else if i == 8 || i == 10 {
                if i == 8 { l - 6.0 } else { l + 4.0 }
            } else {
                l + f32::from(i % 5) / 10.0 - 0.2
            };
            (l, m, 0.1 * f32::from(i % 4), if i == 9 { 0.0 } else { 1.0 / f64::from(1 + i % 6) })
        };
        let tokens: Vec<(f32, f32, f32, f64)> =
            (0..u16::MAX).map(|i| token((i % 251) as u8)).take(600).collect();
        let (logprob, logprob_rollout): (Vec<f32>, Vec<f32>) = tokens.iter().map(|t| (t.0, t.1)).unzip();
        let (entropy, sum_pi_sq): (Vec<f32>, Vec<f64>) = tokens.iter().map(|t| (t.2, t.3)).unzip();
        for sum_pi_sq in [&sum_pi_sq[..], &[]] {
            let found = widest(Gaps {
                logprob: &logprob,
                logprob_rollout: &logprob_rollout,
                entropy: &entropy,
                sum_pi_sq,
            });
            let mut sums = [0.0; 19];
            for (i, (l, m, h, c)) in tokens.iter().enumerate().filter(|(_, t)| t.1.is_finite()) {
                let (small, l, m, h) = (*l < NEARLY_CERTAIN, f64::from(*l), f64::from(*m), f64::from(*h));
                let (x, y) = (l + h, m - l);
                let z = if sum_pi_sq.is_empty() || i % 251 == 9 { 0.0 } else { (c.ln() + h).max(0.0) };
                let below = if y < 0.0 { y * y } else { 0.0 };
                let far = if y > FAR { [1.0, y * y] } else { [0.0; 2] };
                let single = [1.0, k3(-y), far_k3(-y), y, y.abs(), y * y, below];
                let moments = [x * y, z * y, x * x, x * z, z * z];
                let terms = single.into_iter().chain(far).chain(moments);
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                let slope = if small { [1.0, l, m, l * l, l * m] } else { [0.0; 5] };
                sums[14..].iter_mut().zip(slope).for_each(|(sum, term)| *sum += term);
            }
            let GapSums { tokens, k3, bounded_k3, y, absolute, yy, below, far, moments, slope } = found;
            let single = [tokens, k3, bounded_k3, y, absolute, yy, below];
            let found = [&single[..], &far, &moments, &slope].concat();
            for (a, b) in found.iter().zip(sums) {
                assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{found:?} {sums:?}");
            }
        }
    }
}
