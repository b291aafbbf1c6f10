//! Tight bounds on the collision probability of a distribution of known entropy.
//!
//! Let r be the distribution of the tokens that were *not* sampled, on n = V − 1 outcomes, with
//! entropy H'. Its collision probability C' = Σ r² is largest when one outcome is heavy and the
//! others share the rest equally, and smallest when k outcomes are equal, one is lighter and the
//! others are empty. Both extremes are attained, so nothing tighter follows from (H', n). The
//! paper (arXiv 2602.15620) bounds the whole Σ π² by e^{−H} and 1 − c_V H² instead.
//!
//! Along both curves dC'/dH' = −2·L(x, y), L the logarithmic mean of the heavy and the light
//! mass; `collision_table` relies on it.

/// Bounds on the conditional collision probability C' at one conditional entropy H'.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionBounds {
    /// Smallest C' any distribution of this entropy has.
    pub min: f64,
    /// Largest C' any distribution of this entropy on n outcomes has.
    pub max: f64,
    /// ln of the heaviest outcome any distribution of this entropy on n outcomes has.
    pub ln_heaviest: f64,
}

/// One extremal distribution: its collision probability and its two distinct masses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extreme {
    pub collision: f64,
    pub heavy: f64,
    pub light: f64,
}

impl Extreme {
    /// dC'/dH' along the curve of extremes.
    pub fn slope(&self) -> f64 {
        -2.0 * logarithmic_mean(self.heavy, self.light)
    }
}

/// Exact bounds (to about 1e-12) by root finding, for `outcomes` = V − 1.
///
/// `entropy` is clamped to [0, ln outcomes]. Slow (about a microsecond); hot loops use
/// [`CollisionTable`](super::collision_table::CollisionTable).
#[must_use]
pub fn collision_bounds(entropy: f64, outcomes: u32) -> CollisionBounds {
    let most = most_concentrated(entropy, outcomes);
    CollisionBounds {
        min: least_concentrated(entropy, outcomes).collision.min(most.collision),
        max: most.collision,
        ln_heaviest: most.heavy.ln(),
    }
}

/// The distribution of the largest C': one mass x, the other n − 1 equal.
pub(super) fn most_concentrated(entropy: f64, outcomes: u32) -> Extreme {
    if outcomes <= 1 {
        return Extreme { collision: 1.0, heavy: 1.0, light: 0.0 };
    }
    let others = f64::from(outcomes - 1);
    let entropy = entropy.clamp(0.0, f64::from(outcomes).ln());
    let rest = mass_of_tilted_entropy(others.ln(), entropy);
    let (heavy, light) = (1.0 - rest, rest / others);
    Extreme { collision: heavy * heavy + rest * light, heavy, light }
}

/// The distribution of the smallest C': k equal masses x, one y ≤ x, the others empty.
pub(super) fn least_concentrated(entropy: f64, outcomes: u32) -> Extreme {
    let outcomes = f64::from(outcomes.max(1));
    let entropy = entropy.clamp(0.0, outcomes.ln());
    let equal = entropy.exp().floor().clamp(1.0, outcomes);
    if equal >= outcomes {
        return Extreme { collision: 1.0 / outcomes, heavy: 1.0 / outcomes, light: 0.0 };
    }
    let light = mass_of_tilted_entropy(-equal.ln(), (entropy - equal.ln()).max(0.0));
    let heavy = (1.0 - light) / equal;
    Extreme { collision: (1.0 - light) * heavy + light * light, heavy, light }
}

/// (H', dC'/dH') where the curve of the largest C' is steepest: its slope falls up to there and
/// rises after it.
pub(super) fn steepest_most_concentrated(outcomes: u32) -> (f64, f64) {
    const STEPS: usize = 200;
    if outcomes <= 1 {
        return (0.0, 0.0);
    }
    let others = f64::from(outcomes - 1);
    let slope = |rest: f64| -2.0 * logarithmic_mean(1.0 - rest, rest / others);
    let (mut low, mut high) = (0.0, others / f64::from(outcomes));
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if slope(low + third) <= slope(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let rest = 0.5 * (low + high);
    let entropy = -rest * rest.ln() - (1.0 - rest) * (-rest).ln_1p() + rest * others.ln();
    (entropy, slope(rest))
}

/// The smaller z with h_b(z) + z·tilt = target: both extremes reduce to this equation.
///
/// The left side rises and is concave on [0, e^tilt/(1 + e^tilt)], so Newton's method started on
/// the left never overshoots; near the peak it is merely slow, and bisection takes over.
fn mass_of_tilted_entropy(tilt: f64, target: f64) -> f64 {
    const STEPS: usize = 120;
    let mut low = 0.0_f64;
    let mut high = 1.0 / (1.0 + (-tilt).exp());
    let excess = |z: f64| -z * z.ln() - (1.0 - z) * (-z).ln_1p() + z * tilt - target;
    if target <= 0.0 {
        return 0.0;
    }
    if excess(high) <= 0.0 {
        return high;
    }
    let mut z = 0.5 * high * (target / (excess(high) + target)).min(1.0);
    for _ in 0..STEPS {
        let gap = excess(z);
        if gap <= 0.0 {
            low = low.max(z);
        } else {
            high = high.min(z);
        }
        if high - low <= 2.0 * f64::EPSILON * high {
            break;
        }
        let newton = z - gap / (((1.0 - z) / z).ln() + tilt);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - z).abs() <= f64::EPSILON * z {
            return next;
        }
        z = next;
    }
    z
}

/// (x − y)/ln(x/y), continued to x where they meet and to 0 where one vanishes.
fn logarithmic_mean(x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return 0.0;
    }
    let difference = (x - y) / y;
    if difference.abs() < 1e-9 { 0.5 * (x + y) } else { (x - y) / difference.ln_1p() }
}
