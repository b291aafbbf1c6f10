//! How one logit step on one token changes the entropy at its position.
//!
//! The step δa = ηw(e_k − π) changes H, to first order, by ηw·D with
//! D = G − p(ln p + H), G = Σ π²(ln π + H) ≥ 0. D is exact where Σ π² and Σ π² ln π are logged;
//! otherwise (p, H, V) often certify its sign and always confine it to an interval.

use super::collision::CollisionBounds;
use super::feasible::ConditionalState;

/// Which way one gradient step on a token moves the entropy at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntropyDirection {
    /// No gradient (w = 0), or a token that was certain.
    Unchanged = 0,
    /// Certainly not down.
    Up = 1,
    /// Certainly not up.
    Down = 2,
    /// p and H do not decide it.
    Ambiguous = 3,
}

const UP: f64 = EntropyDirection::Up as u8 as f64;
const DOWN: f64 = EntropyDirection::Down as u8 as f64;
const AMBIGUOUS: f64 = EntropyDirection::Ambiguous as u8 as f64;

impl EntropyDirection {
    /// All directions, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Unchanged, Self::Up, Self::Down, Self::Ambiguous];

    /// Lower-case name for tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Up => "up",
            Self::Down => "down",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// An interval of D = ΔH/(ηw).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl ChangeInterval {
    /// The interval of w·D.
    #[inline(always)]
    #[must_use]
    pub fn times_weight(self, weight: f64) -> Self {
        let (a, b) = (self.low * weight, self.high * weight);
        Self { low: if a < b { a } else { b }, high: if a < b { b } else { a } }
    }
}

/// D from logged Σ π² and Σ π² ln π: S + H·C − p(ln p + H).
#[inline(always)]
#[must_use]
pub fn exact_change(logprob: f64, p: f64, entropy: f64, sum_pi_sq: f64, sum_pi_sq_log_pi: f64) -> f64 {
    sum_pi_sq_log_pi + entropy * sum_pi_sq - p * (logprob + entropy)
}

/// The paper's lemma (arXiv 2602.15620): −p(ln p + H)(A − Ā). It leaves out G and centres A.
#[inline(always)]
#[must_use]
pub fn lemma_change(logprob: f64, p: f64, entropy: f64, advantage: f64, mean_advantage: f64) -> f64 {
    -p * (logprob + entropy) * (advantage - mean_advantage)
}

/// The certified direction of w·D from p, H and ln(q·x_max), the most another token can have.
///
/// p ≤ e^{−H} makes both terms of D non-negative. A token that must be the mode (p ≥ ½ or
/// p ≥ q·x_max) has D ≤ 0, because t(ln t + H) is convex and largest at the mode.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn certified_direction(
    logprob: f64,
    entropy: f64,
    ln_heaviest_mass: f64,
    weight: f64,
) -> EntropyDirection {
    EntropyDirection::ALL[direction_code(logprob, entropy, ln_heaviest_mass, weight) as usize]
}

/// The code of [`certified_direction`], by selection instead of branches.
#[inline(always)]
pub(super) fn direction_code(logprob: f64, entropy: f64, ln_heaviest_mass: f64, weight: f64) -> f64 {
    let raises = logprob <= -entropy;
    let is_mode = (logprob >= -std::f64::consts::LN_2) | (logprob >= ln_heaviest_mass);
    let [up, down] = if weight > 0.0 { [UP, DOWN] } else { [DOWN, UP] };
    let of_the_rest = if is_mode { down } else { AMBIGUOUS };
    let moving = if raises { up } else { of_the_rest };
    if (weight == 0.0) | (logprob >= 0.0) { 0.0 } else { moving }
}

/// A rigorous interval of D from p and H. `logprob` must be that of `state`.
///
/// With R the other tokens' part of G: R ≥ q²·s·C', s = ln q + H − H' = p(ln q − ln p − H')
/// (a covariance is not negative), and R ≤ q²·u·C', u = ln(q·x_max) + H. The ends leave room for
/// the rounding of H' (C' falls by at most 1 a nat).
#[inline(always)]
#[must_use]
pub fn change_interval(logprob: f64, state: &ConditionalState, bounds: &CollisionBounds) -> ChangeInterval {
    let ln_p = if logprob < 0.0 { logprob } else { 0.0 };
    let ConditionalState { probability: p, complement: q, ln_complement: ln_q, .. } = *state;
    let h = state.conditional_entropy;
    let entropy = state.clamped_entropy(ln_p);
    let own = p * (ln_p + entropy);
    let s = p * (ln_q - ln_p - h);
    let u = ln_q + bounds.ln_heaviest + entropy;
    let rounding = q * q * state.rounding;
    let own_rounding = p * (4.0 * f64::EPSILON * (entropy - ln_p) + 2.0 * q * state.rounding);
    let low = q * q * s * if s >= 0.0 { bounds.min } else { bounds.max } - q * own;
    let low = low - rounding * 2.0 * (p + s.abs()) - own_rounding;
    let high = q * q * u * if u >= 0.0 { bounds.max } else { bounds.min } - q * own;
    let high = high + rounding * (3.0 + 2.0 * u.abs()) + own_rounding;
    let least = -own - own_rounding;
    ChangeInterval { low: if low > least { low } else { least }, high }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::super::collision::collision_bounds;
    use super::super::collision_table::CollisionTable;
    use super::super::test_distributions::sampled_token;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weight_flips_direction_and_interval() {
        let direction = |logprob, weight| certified_direction(logprob, 1.0, -0.9, weight);
        assert_eq!(direction(-1.5, 1.0), EntropyDirection::Up);
        assert_eq!(direction(-1.5, -1.0), EntropyDirection::Down);
        assert_eq!(direction(-0.5, 1.0), EntropyDirection::Down);
        assert_eq!(direction(-0.8, -2.0), EntropyDirection::Up);
        assert_eq!(direction(-0.95, -1.0), EntropyDirection::Ambiguous);
        assert_eq!(direction(-1.5, 0.0), EntropyDirection::Unchanged);
        assert_eq!(direction(0.0, 1.0), EntropyDirection::Unchanged);
        let flipped = ChangeInterval { low: -1.0, high: 3.0 }.times_weight(-2.0);
        assert_eq!(flipped, ChangeInterval { low: -6.0, high: 2.0 });
    }

    #[test]
    fn codes_follow_the_order() {
        for (code, direction) in EntropyDirection::ALL.into_iter().enumerate() {
            assert_eq!(direction as usize, code);
        }
    }

    #[test]
    fn the_first_order_change_matches_a_finite_step() {
        let logits = [1.0, 0.3, -0.7, -2.0_f64];
        let softmax = |logits: &[f64]| {
            let total: f64 = logits.iter().map(|l| l.exp()).sum();
            logits.iter().map(|l| l.exp() / total).collect::<Vec<_>>()
        };
        let entropy = |pi: &[f64]| -pi.iter().map(|p| p * p.ln()).sum::<f64>();
        let pi = softmax(&logits);
        for k in 0..4 {
            let eta = 1e-6;
            let step: Vec<f64> =
                (0..4).map(|v| logits[v] + eta * (f64::from(u8::from(v == k)) - pi[v])).collect();
            let measured = (entropy(&softmax(&step)) - entropy(&pi)) / eta;
            let c = pi.iter().map(|p| p * p).sum();
            let s = pi.iter().map(|p| p * p * p.ln()).sum();
            let predicted = exact_change(pi[k].ln(), pi[k], entropy(&pi), c, s);
            assert!((measured - predicted).abs() < 1e-5, "{k}: {measured} {predicted}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]
        #[test]
        fn certificates_and_intervals_hold(token in sampled_token()) {
            let n = token.vocab_size - 1;
            let state = ConditionalState::new(token.logprob, token.entropy, f64::from(n).ln());
            let exact = exact_change(
                token.logprob, state.probability, token.entropy, token.sum_pi_sq, token.sum_pi_sq_log_pi,
            );
            // `exact` itself cancels: its own rounding, not that of the interval.
            let noise = 1e-14 * (1.0 + token.entropy);
            for bounds in [
                collision_bounds(state.conditional_entropy, n),
                CollisionTable::new(token.vocab_size).bounds(state.conditional_entropy),
            ] {
                let interval = change_interval(token.logprob, &state, &bounds);
                prop_assert!(interval.low <= exact + noise, "{token:?} {exact} {interval:?}");
                prop_assert!(interval.high >= exact - noise, "{token:?} {exact} {interval:?}");
                let ln_mass = state.ln_complement + bounds.ln_heaviest;
                match certified_direction(token.logprob, token.entropy, ln_mass, 1.0) {
                    EntropyDirection::Up => prop_assert!(exact >= -noise, "{token:?} {exact}"),
                    EntropyDirection::Down => prop_assert!(exact <= noise, "{token:?} {exact}"),
                    EntropyDirection::Unchanged => prop_assert!(exact.abs() <= noise),
                    EntropyDirection::Ambiguous => {}
                }
            }
        }
    }
}
