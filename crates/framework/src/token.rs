//! Quantities of one sampled token: probability, surprisal, ratio and policy-gradient weight.

/// PPO clipping range: a token is cut where the ratio leaves [1 − low, 1 + high] in the direction
/// its advantage pushes it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClipRange {
    /// ε_low, for tokens with A < 0.
    pub low: f64,
    /// ε_high, for tokens with A > 0.
    pub high: f64,
}

impl ClipRange {
    /// Whether clipping cuts a token of this `ratio` and `advantage`, so that it has no gradient.
    #[inline(always)]
    #[must_use]
    pub fn cuts(&self, ratio: f64, advantage: f64) -> bool {
        ((advantage > 0.0) & (ratio > 1.0 + self.high)) | ((advantage < 0.0) & (ratio < 1.0 - self.low))
    }
}

/// (p, 1 − p) of a log-probability; the complement keeps full precision near p = 1.
///
/// A log-probability above 0 counts as 0.
#[must_use]
pub fn probability_pair(logprob: f64) -> (f64, f64) {
    let logprob = logprob.min(0.0);
    (logprob.exp(), -logprob.exp_m1())
}

/// −ln p in nats.
#[inline(always)]
#[must_use]
pub fn surprisal(logprob: f64) -> f64 {
    -logprob
}

/// ρ = π_θ/π_old from the two log-probabilities.
#[must_use]
pub fn ratio(logprob_new: f64, logprob_old: f64) -> f64 {
    (logprob_new - logprob_old).exp()
}

/// w = ρA, or 0 where clipping cuts the token.
#[inline(always)]
#[must_use]
pub fn weight(ratio: f64, advantage: f64, clip: Option<ClipRange>) -> f64 {
    match clip {
        Some(clip) if clip.cuts(ratio, advantage) => 0.0,
        _ => ratio * advantage,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn clipping_follows_the_sign_of_the_advantage() {
        let clip = Some(ClipRange { low: 0.2, high: 0.28 });
        assert_eq!(weight(1.3, 1.0, clip), 0.0);
        assert_eq!(weight(1.3, -1.0, clip), -1.3);
        assert_eq!(weight(0.7, -1.0, clip), 0.0);
        assert_eq!(weight(0.7, 1.0, clip), 0.7);
        assert_eq!(weight(1.28, 1.0, clip), 1.28);
        assert_eq!(weight(5.0, 1.0, None), 5.0);
    }

    #[test]
    fn ratio_of_equal_policies_is_one() {
        assert_eq!(ratio(-3.25, -3.25), 1.0);
        assert!((ratio(-1.0, -2.0) - std::f64::consts::E).abs() < 1e-15);
    }

    #[test]
    fn probability_and_complement() {
        assert_eq!(probability_pair(0.0), (1.0, 0.0));
        let (p, q) = probability_pair(-1e-9);
        assert!((q - 1e-9).abs() < 1e-17 && p < 1.0);
        assert_eq!(surprisal(-2.0), 2.0);
    }
}
