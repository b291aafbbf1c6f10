//! exp, 1 − exp and ln without branches or tables, so that loops over slices vectorise.
//!
//! The standard library calls the platform's libm once per element. These are straight-line
//! arithmetic with plain multiplications and additions: the same bits on every machine, with or
//! without fused multiply-add.

/// Arguments of [`exp_pair`] and [`exp`] are clamped to ±this; e^{−700} ≈ 1e−304.
pub const EXP_LIMIT: f64 = 700.0;

/// Adding and subtracting it rounds a small f64 to an integer kept in its low mantissa bits.
const ROUND_TO_INTEGER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const EXPONENT_ONE: u64 = 0x3ff0_0000_0000_0000;

/// (e^x, 1 − e^x) for x ≤ 0: the probability of a token and of all others.
///
/// Relative error of both at most 3e-14 on [−700, 0]; x > 0 counts as 0.
#[inline(always)]
#[must_use]
pub fn exp_pair(x: f64) -> (f64, f64) {
    let x = if x < 0.0 { x } else { 0.0 };
    let (scale, reduced) = exp_reduced(if x > -EXP_LIMIT { x } else { -EXP_LIMIT });
    let scaled = scale * reduced;
    (scale + scaled, (1.0 - scale) - scaled)
}

/// e^x with a relative error of at most 2e-14, x clamped to ±[`EXP_LIMIT`].
#[inline(always)]
#[must_use]
pub fn exp(x: f64) -> f64 {
    let x = if x < EXP_LIMIT { x } else { EXP_LIMIT };
    let (scale, reduced) = exp_reduced(if x > -EXP_LIMIT { x } else { -EXP_LIMIT });
    scale + scale * reduced
}

/// 2^k and e^r − 1 with x = k ln 2 + r, |r| ≤ ln 2 / 2.
#[inline(always)]
fn exp_reduced(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::LOG2_E + ROUND_TO_INTEGER;
    let k = shifted - ROUND_TO_INTEGER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(EXPONENT_ONE));
    // Taylor to r^11, paired (Estrin) to shorten the chain; the next term is below 2e-14·|r|.
    let r2 = r * r;
    let r4 = r2 * r2;
    let c23 = 1.0 / 2.0 + r * (1.0 / 6.0);
    let c45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let c67 = 1.0 / 720.0 + r * (1.0 / 5_040.0);
    let c89 = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let c1011 = 1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0);
    let high = (c67 + r2 * c89) + r4 * c1011;
    let tail = (c23 + r2 * c45) + r4 * high;
    (scale, r + r2 * tail)
}

/// ln x of a positive normal f32, with an absolute error of at most 1.5e-7·(1 + |ln x|).
///
/// Other arguments give a meaningless finite value; callers keep them away.
#[inline(always)]
#[must_use]
pub fn ln_f32(x: f32) -> f32 {
    // Shifts √½ to a power of two, so that the mantissa that is left lies in [√½, √2).
    const SQRT_HALF: u32 = 0x3f35_04f3;
    const ONE: u32 = 0x3f80_0000;
    const TWO_TO_23: u32 = 0x4b00_0000;
    const TWO_TO_23_PLUS_BIAS: f32 = 8_388_608.0 + 127.0;
    let bits = x.to_bits().wrapping_add(ONE - SQRT_HALF);
    let exponent = f32::from_bits((bits >> 23) | TWO_TO_23) - TWO_TO_23_PLUS_BIAS;
    let f = f32::from_bits((bits & 0x007f_ffff).wrapping_add(SQRT_HALF)) - 1.0;
    // The minimax polynomial of Cephes' logf, evaluated in pairs.
    let f2 = f * f;
    let f4 = f2 * f2;
    let low = (3.333_333e-1 - 2.499_999_4e-1 * f) + f2 * (2.000_071_5e-1 - 1.666_805_8e-1 * f);
    let high = (1.424_932_3e-1 - 1.242_014_1e-1 * f) + f2 * (1.167_699_9e-1 - 1.151_461e-1 * f);
    let polynomial = low + f4 * (high + f4 * 7.037_683_6e-2);
    let rest = f * f2 * polynomial - 0.5 * f2 - 2.121_944_4e-4 * exponent;
    (f + rest) + 0.693_359_4 * exponent
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn relative(a: f64, b: f64) -> f64 {
        if a == b { 0.0 } else { ((a - b) / b).abs() }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(exp_pair(0.0), (1.0, 0.0));
        assert_eq!(exp_pair(-0.0), (1.0, 0.0));
        assert_eq!(exp_pair(3.0), (1.0, 0.0));
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(1e9).is_finite());
        assert!(exp(-1e9) > 0.0);
        assert_eq!(ln_f32(1.0), 0.0);
        let tiny = f64::from(-f32::MIN_POSITIVE);
        assert!(relative(exp_pair(tiny).1, -tiny) < 1e-15);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 5_000, ..ProptestConfig::default() })]
        #[test]
        fn exp_agrees_with_std(x in -700.0..700.0_f64) {
            prop_assert!(relative(exp(x), x.exp()) < 2e-14);
        }

        #[test]
        fn exp_pair_agrees_with_std(size in -30.0..6.5_f64) {
            let x = -size.exp();
            let (p, q) = exp_pair(x);
            prop_assert!(relative(p, x.exp()) < 2e-14);
            prop_assert!(relative(q, -x.exp_m1()) < 3e-14);
        }

        #[test]
        fn ln_agrees_with_std(exponent in -37.0..37.0_f32, near_one in 0.4..2.5_f32) {
            for x in [10.0_f32.powf(exponent), near_one] {
                let exact = f64::from(x).ln();
                let error = (f64::from(ln_f32(x)) - exact).abs();
                prop_assert!(error <= 1.5e-7 * (1.0 + exact.abs()), "{x} {error}");
            }
        }
    }
}
