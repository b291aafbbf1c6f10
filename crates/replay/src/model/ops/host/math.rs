//! Sums and exponentials that a compiler can turn into vector instructions. Sums have a fixed number
//! of partial sums, so that they give the same bits for every vector width.

/// Partial sums: a vector of AVX-512.
pub(super) const LANES: usize = 16;

/// Runs a loop compiled for the widest vectors of this processor. What it calls has to be inlined.
#[inline]
pub(super) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    stapo_base::simd::widest(work)
}

/// Σ over lanes, always in the same order.
#[inline(always)]
pub(super) fn fold(lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    let mut lanes = lanes;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// Σ a·b.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            lanes[i] = a[i].mul_add(b[i], lanes[i]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    fold(lanes) + rest
}

/// Σ a.
#[inline(always)]
pub(super) fn total(a: &[f32]) -> f32 {
    let (chunks, rest) = a.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for a in chunks {
        for i in 0..LANES {
            lanes[i] += a[i];
        }
    }
    fold(lanes) + rest.iter().sum::<f32>()
}

/// The largest value; of numbers that are not, nothing is said.
#[inline(always)]
pub(super) fn largest(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a })
}

/// values ← e^(values·scale − shift); returns their sum.
#[inline(always)]
pub(super) fn exp_in_place(values: &mut [f32], scale: f32, shift: f32) -> f32 {
    let (chunks, rest) = values.as_chunks_mut::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            chunk[i] = exp(chunk[i].mul_add(scale, -shift));
            lanes[i] += chunk[i];
        }
    }
    let mut sum = 0.0;
    for value in rest {
        *value = exp(value.mul_add(scale, -shift));
        sum += *value;
    }
    fold(lanes) + sum
}

/// e^x within two units of the last place for −87 ≤ x ≤ 88; clamped beyond, and not a number stays so.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding 1.5·2²³ rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // ln 2 in two parts, so that the difference is exact.
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let p = 1.987_569_1e-4_f32;
    let p = p.mul_add(r, 1.398_199_9e-3);
    let p = p.mul_add(r, 8.333_452e-3);
    let p = p.mul_add(r, 4.166_579_6e-2);
    let p = p.mul_add(r, 1.666_666_5e-1);
    let p = p.mul_add(r, 0.5);
    let y = p.mul_add(r * r, r) + 1.0;
    y * f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// 1 / (1 + e^−x).
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_two_units_of_the_last_place() {
        for i in -870_000..880_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 2.5e-7, "{x}: {error}");
        }
        assert!(exp(f32::NAN).is_nan() && exp(-1e9) < 2e-38 && exp(1e9) > 1e38);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn sums_do_not_depend_on_where_the_rest_starts() {
        let a: Vec<f32> = (0..37).map(|i| i as f32 * 0.25).collect();
        let exact: f32 = a.iter().map(|x| x * x).sum();
        assert_eq!(dot(&a, &a), exact);
        assert_eq!(largest(&a), 9.0);
        assert_eq!(largest(&a[..3]), 0.5);
    }
}
