//! What the three policies of a token say of each other: sums from which differences between them
//! are told apart.

use crate::analyze::collect::columns::Columns;
use crate::framework::fast_math;

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
    /// Σ y.
    pub y: f64,
    /// Σ |y|.
    pub absolute: f64,
    /// Σ y².
    pub yy: f64,
    /// Σ y² where y < 0.
    pub below: f64,
    /// Σ xy, Σ zy, Σ x², Σ xz, Σ z².
    pub moments: [f64; 5],
    /// Of tokens with π < 0.95: number, Σ ln π, Σ ln μ, Σ (ln π)², Σ ln π ln μ.
    pub slope: [f64; 5],
}

impl GapSums {
    /// The sums of a response's trained tokens; `None` where the sampler's are not logged.
    pub fn of(columns: &Columns<'_>) -> Option<Self> {
        let mut sums = Self::default();
        for (t, (trainer, sampler)) in columns.logprob.iter().zip(columns.logprob_rollout).enumerate() {
            let (l, m) = (f64::from(*trainer), f64::from(*sampler));
            let y = (m - l).clamp(-LARGEST_DIFFERENCE, LARGEST_DIFFERENCE);
            if !(m.is_finite() && l.is_finite()) {
                continue;
            }
            let h = f64::from(columns.entropy[t]);
            let collision = columns.sum_pi_sq.get(t).copied().filter(|c| *c > 0.0);
            let (x, z) = (l + h, collision.map_or(0.0, |c| (c.ln() + h).max(0.0)));
            sums.tokens += 1.0;
            sums.k3 += k3(-y);
            sums.y += y;
            sums.absolute += y.abs();
            sums.yy += y * y;
            sums.below += if y < 0.0 { y * y } else { 0.0 };
            let moments = [x * y, z * y, x * x, x * z, z * z];
            sums.moments.iter_mut().zip(moments).for_each(|(sum, term)| *sum += term);
            if *trainer < NEARLY_CERTAIN {
                let terms = [1.0, l, m, l * l, l * m];
                sums.slope.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
        }
        (sums.tokens > 0.0).then_some(sums)
    }

    /// All sums as bits, for an order.
    pub fn bits(&self) -> Vec<u64> {
        let Self { tokens, k3, y, absolute, yy, below, moments, slope } = self;
        let single = [tokens, k3, y, absolute, yy, below];
        single.into_iter().chain(moments).chain(slope).map(|sum| sum.to_bits()).collect()
    }

    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.k3 += other.k3;
        self.y += other.y;
        self.absolute += other.absolute;
        self.yy += other.yy;
        self.below += other.below;
        self.moments.iter_mut().zip(other.moments).for_each(|(sum, term)| *sum += term);
        self.slope.iter_mut().zip(other.slope).for_each(|(sum, term)| *sum += term);
    }
}
