//! Rows of logits: their distributions, what is measured of them, and their gradient.

use super::super::super::sequence::TokenStats;
use super::math::{LANES, exp_in_place, fold, largest, total, vectorized};

/// logits ← π, and what is measured for the tokens that were chosen.
pub fn forward(logits: &mut [f32], vocabulary: usize, targets: &[u32]) -> TokenStats {
    let mut stats = TokenStats::default();
    let mut scratch = vec![0.0; vocabulary];
    vectorized(
        #[inline(always)]
        || {
            for (row, target) in logits.chunks_exact_mut(vocabulary).zip(targets) {
                measure_row(row, &mut scratch, *target as usize, &mut stats);
            }
        },
    );
    stats
}

/// π ← c (onehot − π), the gradient of Σ c ln π.
pub fn backward(pi: &mut [f32], vocabulary: usize, targets: &[u32], coefficients: &[f32]) {
    vectorized(
        #[inline(always)]
        || {
            for ((row, target), c) in pi.chunks_exact_mut(vocabulary).zip(targets).zip(coefficients) {
                // Where π ≈ 1, c − c·π would lose the digits of what the others have.
                let target = *target as usize;
                row[target] = 0.0;
                let others = total(row);
                for p in row.iter_mut() {
                    *p *= -c;
                }
                row[target] = c * others;
            }
        },
    );
}

#[inline(always)]
fn measure_row(row: &mut [f32], weights: &mut [f32], target: usize, stats: &mut TokenStats) {
    let top = largest(row);
    let chosen = f64::from(row[target]) - f64::from(top);
    weights.copy_from_slice(row);
    let sum = exp_in_place(weights, 1.0, top);
    let log_sum = f64::from(sum).ln();
    let inverse = 1.0 / sum;
    let probability = weights[target] * inverse;
    // The others are summed without the token: next to it their digits would be lost.
    weights[target] = 0.0;
    let others = sums(row, weights, inverse, (f64::from(top) + log_sum) as f32);
    let logprob =
        if chosen == 0.0 { -f64::from(others.mass / probability).ln_1p() } else { chosen - log_sum } as f32;
    row[target] = probability;
    stats.logprob.push(logprob);
    stats.entropy.push(others.entropy - probability * logprob);
    stats.sum_pi_sq.push(others.squares + probability * probability);
    stats.sum_pi_sq_log_pi.push(others.weighted + probability * probability * logprob);
    stats.logit_grad_sq.push(others.squares + others.mass * others.mass);
}

/// Over the other tokens of a row.
struct Others {
    /// Σ π
    mass: f32,
    /// Σ π²
    squares: f32,
    /// −Σ π ln π
    entropy: f32,
    /// Σ π² ln π
    weighted: f32,
}

/// logits ← π = weights · inverse, where ln π = logits − log_sum.
#[inline(always)]
fn sums(logits: &mut [f32], weights: &[f32], inverse: f32, log_sum: f32) -> Others {
    let mut lanes = [[0.0; LANES]; 4];
    let ((z, z_rest), (w, w_rest)) = (logits.as_chunks_mut::<LANES>(), weights.as_chunks::<LANES>());
    for (z, w) in z.iter_mut().zip(w) {
        for i in 0..LANES {
            add(&mut lanes, i, &mut z[i], w[i] * inverse, log_sum);
        }
    }
    for (i, (z, w)) in z_rest.iter_mut().zip(w_rest).enumerate() {
        add(&mut lanes, i, z, w * inverse, log_sum);
    }
    let [mass, squares, entropy, weighted] = lanes.map(fold);
    Others { mass, squares, entropy, weighted }
}

#[inline(always)]
fn add(lanes: &mut [[f32; LANES]; 4], lane: usize, logit: &mut f32, p: f32, log_sum: f32) {
    let log = *logit - log_sum;
    let [mass, squares, entropy, weighted] = lanes;
    mass[lane] += p;
    squares[lane] = p.mul_add(p, squares[lane]);
    entropy[lane] = p.mul_add(-log, entropy[lane]);
    weighted[lane] = (p * p).mul_add(log, weighted[lane]);
    *logit = p;
}
