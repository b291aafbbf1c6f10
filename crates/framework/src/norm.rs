//! The gradient norm of one token with respect to the logits.
//!
//! Exactly, ‖g‖² = w²(1 − 2p + C) = w² q² (1 + C'), where C' is the collision probability of the
//! other tokens. The second form never cancels; the first is noise in f32 once q is below 0.01.
//! Without C or a measurement, p and H confine C' to the interval of
//! [`collision`](super::collision), and a point inside it stands for the token in charts.

use super::collision::CollisionBounds;
use super::feasible::ConditionalState;

/// Where a token's gradient norm comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GradientSource {
    /// Logged by the training run.
    Measured,
    /// Computed from a logged Σ π².
    Exact,
    /// Confined to an interval by p and H; the point is a calibrated guess inside it.
    Estimated,
}

/// Where in [C'_min, C'_max] the point estimate lies.
///
/// Found on tokens whose norm is known. The GRPO sample run (V = 256, 129,988 tokens with an
/// advantage) has unbiased energy at 0.10; softmax families of V = 256 and V = 151,936 (Gaussian,
/// power-law and few-candidates logits, tokens drawn from the softmax) at 0.16 to 0.35. At 0.15:
/// median error of the norm 0.5 % on both sample runs (95th percentile 3.5 %) and 0.6–1.5 % on
/// the synthetic ones; bias of the energy +1.0 % (GRPO), +1.5 % (STAPO),
/// −0.4 to −4 % (synthetic). The midpoint is 1.9 % off in the median, with 8–9 % too much energy.
pub const POINT_FRACTION: f64 = 0.15;

/// The squared gradient norm of one token: an interval that contains it and a point inside.
/// Measured and exact norms have an interval of width 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredNorm {
    /// No distribution with this p and H has a smaller one.
    pub low: f64,
    /// The value shown in charts.
    pub point: f64,
    /// No distribution with this p and H has a larger one.
    pub high: f64,
    /// Where the point comes from.
    pub source: GradientSource,
}

impl SquaredNorm {
    /// The square of a logged norm.
    #[must_use]
    pub fn measured(norm: f64) -> Self {
        Self::known(norm * norm, GradientSource::Measured)
    }

    /// From a logged Σ π². `scale` is w²/T²; the logged value is used as far as p and H allow it.
    #[must_use]
    pub fn exact(state: &ConditionalState, bounds: &CollisionBounds, scale: f64, sum_pi_sq: f64) -> Self {
        let conditional = conditional_collision(sum_pi_sq, state.probability, state.complement);
        let conditional = clamp_into(conditional, bounds.min, bounds.max);
        Self::known(squared_norm(scale, state.complement, conditional), GradientSource::Exact)
    }

    /// From p and H alone. `scale` is w²/T².
    #[must_use]
    pub fn estimated(state: &ConditionalState, bounds: &CollisionBounds, scale: f64) -> Self {
        Self {
            low: squared_norm(scale, state.complement, bounds.min),
            point: squared_norm(scale, state.complement, point_estimate(bounds.min, bounds.max)),
            high: squared_norm(scale, state.complement, bounds.max),
            source: GradientSource::Estimated,
        }
    }

    fn known(value: f64, source: GradientSource) -> Self {
        Self { low: value, point: value, high: value, source }
    }
}

/// w²/T² · q² · (1 + C'): the gradient with respect to logits before division by T gains 1/T.
#[inline(always)]
#[must_use]
pub fn squared_norm(scale: f64, complement: f64, conditional_collision: f64) -> f64 {
    scale * (complement * complement) * (1.0 + conditional_collision)
}

/// The point estimate of C' inside its interval, see [`POINT_FRACTION`].
#[inline(always)]
#[must_use]
pub fn point_estimate(min: f64, max: f64) -> f64 {
    min + POINT_FRACTION * (max - min)
}

/// C' = (C − p²)/q²; meaningless where q is small, so always clamp it into the tight interval.
#[inline(always)]
#[must_use]
pub fn conditional_collision(sum_pi_sq: f64, p: f64, q: f64) -> f64 {
    (sum_pi_sq - p * p) / (q * q)
}

/// Clamps without panicking; NaN becomes `min`.
#[inline(always)]
pub(super) fn clamp_into(value: f64, min: f64, max: f64) -> f64 {
    let floored = if value > min { value } else { min };
    if floored < max { floored } else { max }
}

/// (lower, upper) bound of ‖g‖² from p alone: w²q² and 2w²q².
#[must_use]
pub fn probability_bounds_squared(scale: f64, complement: f64) -> (f64, f64) {
    (squared_norm(scale, complement, 0.0), squared_norm(scale, complement, 1.0))
}

/// The paper's (lower, upper) bound of ‖g‖² (arXiv 2602.15620): w²(1 − 2p + e^{−H}), clamped at 0,
/// and w²(2 − 2p − c_V H²) with c_V = (V − 1)/(V ln² V). Valid, never tighter than ours.
#[must_use]
pub fn paper_bounds_squared(scale: f64, p: f64, q: f64, entropy: f64, vocab_size: u32) -> (f64, f64) {
    let vocab = f64::from(vocab_size.max(2));
    let c_v = (vocab - 1.0) / (vocab * vocab.ln() * vocab.ln());
    let low = scale * (1.0 - 2.0 * p + (-entropy).exp()).max(0.0);
    (low, scale * (2.0 * q - c_v * entropy * entropy))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::super::collision::collision_bounds;
    use super::super::collision_table::CollisionTable;
    use super::super::test_distributions::{Sampled, sampled_token};
    use super::*;
    use proptest::prelude::*;

    fn interval(p: f64, entropy: f64, vocab_size: u32) -> (f64, f64) {
        let state = ConditionalState::new(p.ln(), entropy, f64::from(vocab_size - 1).ln());
        let bounds = collision_bounds(state.conditional_entropy, vocab_size - 1);
        let norm = SquaredNorm::estimated(&state, &bounds, 1.0);
        (norm.low.sqrt(), norm.high.sqrt())
    }

    fn assert_near((low, high): (f64, f64), expected: (f64, f64), tolerance: f64) {
        assert!((low - expected.0).abs() <= tolerance, "{low} vs {}", expected.0);
        assert!((high - expected.1).abs() <= tolerance, "{high} vs {}", expected.1);
    }

    #[test]
    fn known_intervals_of_a_large_vocabulary() {
        assert_near(interval(0.001, 1.0, 151_936), (1.179, 1.369), 5e-4);
        assert_near(interval(0.5, 1.0, 151_936), (0.628, 0.694), 5e-4);
        assert_near(interval(0.9, 0.5, 151_936), (0.1085, 0.1334), 5e-5);
    }

    #[test]
    fn known_bounds_of_the_paper() {
        let paper = |p: f64, h| paper_bounds_squared(1.0, p, 1.0 - p, h, 151_936);
        let (low, high) = paper(0.001, 1.0);
        assert_near((low.sqrt(), high.sqrt()), (1.169, 1.411), 5e-4);
        let (low, high) = paper(0.5, 1.0);
        assert_near((low.sqrt(), high.sqrt()), (0.607, 0.997), 1e-3);
        let (low, high) = paper(0.9, 0.5);
        assert_near((low, high.sqrt()), (0.0, 0.445), 5e-4);
    }

    #[test]
    fn two_tokens_leave_no_freedom() {
        let (low, high) = interval(0.3, 0.610_864_302_054_893_6, 2);
        let exact = std::f64::consts::SQRT_2 * 0.7;
        assert_near((low, high), (exact, exact), 1e-12);
    }

    #[test]
    fn certainty_has_no_gradient() {
        let state = ConditionalState::new(0.0, 0.0, 255.0_f64.ln());
        let bounds = collision_bounds(state.conditional_entropy, 255);
        assert_eq!(SquaredNorm::exact(&state, &bounds, 4.0, 1.0).point, 0.0);
        assert_eq!(SquaredNorm::estimated(&state, &bounds, 4.0).high, 0.0);
    }

    fn check(token: &Sampled) -> Result<(), TestCaseError> {
        let (logprob, n) = (token.logprob, token.vocab_size - 1);
        let state = ConditionalState::new(logprob, token.entropy, f64::from(n).ln());
        prop_assert!(state.feasible);
        let q = state.complement;
        // H' carries the rounding of H divided by q; C' falls by at most 1 a nat.
        let slack = 1e-12 + 4e-15 * (1.0 + token.entropy) / q;
        let truth = 1.0 + token.conditional_collision;
        let solved = collision_bounds(state.conditional_entropy, n);
        let read = CollisionTable::new(token.vocab_size).bounds(state.conditional_entropy);
        for bounds in [solved, read] {
            prop_assert!(1.0 + bounds.min <= truth + slack, "{token:?} {bounds:?}");
            prop_assert!(1.0 + bounds.max >= truth - slack, "{token:?} {bounds:?}");
            let heaviest = token.heaviest_other.ln();
            prop_assert!(bounds.ln_heaviest >= heaviest - slack.sqrt(), "{token:?} {bounds:?}");
            let exact = SquaredNorm::exact(&state, &bounds, 2.25, token.sum_pi_sq);
            let relative = exact.point / (2.25 * q * q * truth) - 1.0;
            prop_assert!(relative.abs() <= slack + 1e-15 / (q * q), "{token:?} {exact:?}");
        }
        let ours = SquaredNorm::estimated(&state, &solved, 1.0);
        let (paper_low, paper_high) =
            paper_bounds_squared(1.0, state.probability, q, token.entropy, token.vocab_size);
        prop_assert!(ours.low >= paper_low - slack, "{token:?} {ours:?} {paper_low}");
        prop_assert!(ours.high <= paper_high + slack, "{token:?} {ours:?} {paper_high}");
        let (least, most) = probability_bounds_squared(1.0, q);
        prop_assert!(least <= ours.low && ours.low <= ours.point);
        prop_assert!(ours.point <= ours.high && ours.high <= most);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]
        #[test]
        fn intervals_contain_the_exact_norm_and_beat_the_paper(token in sampled_token()) {
            check(&token)?;
        }
    }
}
