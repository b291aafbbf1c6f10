//! Which pairs of probability and entropy one distribution can have.
//!
//! Given p, the entropy of the whole distribution is h_b(p) + q·H', where H' ∈ [0, ln(V − 1)] is
//! the entropy of the other tokens. Pairs outside come from two different policies, from another
//! temperature, or from rounding.

use super::token::probability_pair;

/// How far outside the feasible range an entropy may lie, in nats, before it is counted: bf16
/// logits move it by about this much.
pub const FEASIBILITY_TOLERANCE: f64 = 0.02;

/// A token's probability with the entropy of the other tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalState {
    /// p.
    pub probability: f64,
    /// q = 1 − p.
    pub complement: f64,
    /// ln q; −708 where q = 0.
    pub ln_complement: f64,
    /// H' = (H − h_b(p))/q clamped to [0, ln(V − 1)]; without meaning where q = 0.
    pub conditional_entropy: f64,
    /// Bound on the rounding error of H' that the arithmetic adds to that of its inputs.
    pub rounding: f64,
    /// Whether H was within [`FEASIBILITY_TOLERANCE`] of the feasible range, and ln p of 0.
    pub feasible: bool,
}

/// Whether 0 ≤ H − h_b(p) ≤ q ln(V − 1) and ln p ≤ 0, all within the tolerance.
fn is_feasible(excess: f64, max_excess: f64, logprob: f64) -> bool {
    (excess >= -FEASIBILITY_TOLERANCE)
        & (excess <= max_excess + FEASIBILITY_TOLERANCE)
        & (logprob <= FEASIBILITY_TOLERANCE)
}

/// h_b(p) = −p ln p − q ln q from the logarithms, which must be finite.
#[inline(always)]
#[must_use]
pub fn binary_entropy(p: f64, ln_p: f64, q: f64, ln_q: f64) -> f64 {
    -p * ln_p - q * ln_q
}

impl ConditionalState {
    /// Splits H into the sampled token's part and the others'. Both arguments must be finite;
    /// `max_entropy` is ln(V − 1).
    #[must_use]
    pub fn new(logprob: f64, entropy: f64, max_entropy: f64) -> Self {
        let ln_p = logprob.min(0.0);
        let (p, q) = probability_pair(ln_p);
        // A certain token has no others; the floor keeps its logarithm and quotient finite.
        let divisor = q.max(f64::MIN_POSITIVE);
        let ln_q = divisor.ln();
        let excess = entropy - binary_entropy(p, ln_p, q, ln_q);
        Self {
            probability: p,
            complement: q,
            ln_complement: ln_q,
            conditional_entropy: (excess / divisor).clamp(0.0, max_entropy),
            rounding: 1e-15 * (1.0 + entropy.abs()) / divisor,
            feasible: is_feasible(excess, q * max_entropy, logprob),
        }
    }

    /// The entropy of the whole distribution after clamping: h_b(p) + q·H'.
    #[inline(always)]
    #[must_use]
    pub fn clamped_entropy(&self, logprob: f64) -> f64 {
        let ln_p = if logprob < 0.0 { logprob } else { 0.0 };
        binary_entropy(self.probability, ln_p, self.complement, self.ln_complement)
            + self.complement * self.conditional_entropy
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn state(p: f64, entropy: f64) -> ConditionalState {
        ConditionalState::new(p.ln(), entropy, 255.0_f64.ln())
    }

    #[test]
    fn two_equal_tokens_leave_nothing_to_the_others() {
        let s = state(0.5, std::f64::consts::LN_2);
        assert!(s.feasible && s.conditional_entropy < 1e-15);
    }

    #[test]
    fn uniform_is_the_upper_end() {
        let s = state(1.0 / 256.0, 256.0_f64.ln());
        assert!(s.feasible && (s.conditional_entropy - 255.0_f64.ln()).abs() < 1e-12);
        assert!((s.clamped_entropy((1.0_f64 / 256.0).ln()) - 256.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn outside_is_clamped_and_flagged_beyond_the_tolerance() {
        let below = state(0.5, 0.5);
        assert!(!below.feasible && below.conditional_entropy == 0.0);
        assert!(state(0.5, std::f64::consts::LN_2 - 0.019).feasible);
        let above = state(0.5, 4.0);
        assert!(!above.feasible && above.conditional_entropy == 255.0_f64.ln());
        assert!(!ConditionalState::new(0.5, 0.0, 1.0).feasible);
    }

    #[test]
    fn certainty_has_no_others() {
        let s = ConditionalState::new(0.0, 0.0, 255.0_f64.ln());
        assert!(s.feasible && s.complement == 0.0 && s.conditional_entropy == 0.0);
        assert!(!ConditionalState::new(0.0, 1.0, 255.0_f64.ln()).feasible);
    }
}
