//! A continuous score that ranks tokens by how spurious they look.
//!
//! The paper's risk is qualitative. This score is the analyzer's own: surprisal minus entropy, the
//! surprise that the policy's uncertainty does not explain. It falls with p and with H, but does
//! not reproduce the order of the S2T mask: S2T decides what is flagged, risk only sorts.

/// −ln p − H in nats where that is positive and A > 0, else 0; 0 for missing values.
#[inline]
#[must_use]
pub fn spurious_risk(logprob: f64, entropy: f64, advantage: f64) -> f64 {
    let excess = -logprob - entropy;
    if advantage > 0.0 && excess > 0.0 { excess } else { 0.0 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn only_unexplained_surprise_of_rewarded_tokens_counts() {
        assert_eq!(spurious_risk(-10.0, 0.5, 1.0), 9.5);
        assert_eq!(spurious_risk(-10.0, 0.5, -1.0), 0.0);
        assert_eq!(spurious_risk(-10.0, 0.5, 0.0), 0.0);
        assert_eq!(spurious_risk(-0.1, 0.5, 1.0), 0.0);
        assert_eq!(spurious_risk(f64::NAN, 0.5, 1.0), 0.0);
        assert_eq!(spurious_risk(-10.0, f64::NAN, 1.0), 0.0);
    }
}
