//! Constants of the rules that the analyzer puts side by side and the replay trains with, and what
//! they do to one token.

/// Clipping of the base objective (DAPO), below and above 1.
pub const BASE_CLIP: (f64, f64) = (0.2, 0.28);
/// Clipping of GRPO.
pub const GRPO_CLIP: (f64, f64) = (0.2, 0.2);
/// Clipping range of `gspo`.
pub const GSPO_CLIP: (f64, f64) = (3e-4, 4e-4);
/// Weight of the probability in `ar` (arXiv 2505.12929).
pub const AR_ALPHA: f64 = 0.2;
/// Upper clip of `cispo`.
pub const CISPO_CAP: f64 = 1.2;
/// Temperatures of `sapo` for A > 0 and else.
pub const SAPO_TEMPERATURES: (f64, f64) = (1.0, 1.05);
/// Share of tokens that `clip_cov` and `kl_cov` touch (arXiv 2505.22617).
pub const COVARIANCE_SHARE: f64 = 2e-4;
/// Covariances that `clip_cov` chooses from.
pub const CLIP_COVARIANCES: (f64, f64) = (1.0, 5.0);
/// Weight of `kl_cov`'s penalty.
pub const KL_WEIGHT: f64 = 1.0;
/// What `stare` multiplies with (arXiv 2606.19236).
pub const STARE_BOOST: f64 = 1.1;
/// Share of the rewarded tokens that `stare` boosts.
pub const STARE_SHARE: f64 = 0.10;
/// Mean entropy below which `stare` is active.
pub const STARE_TARGET: f64 = 0.3;

/// What `ar` multiplies the advantage with: α p + 1 − α.
#[must_use]
pub fn ar_factor(p: f64) -> f64 {
    AR_ALPHA * p + 1.0 - AR_ALPHA
}

/// `sapo`'s sigmoid(τ(ρ − 1)), and its temperature τ.
#[must_use]
pub fn sapo_gate(ratio: f64, advantage: f64) -> (f64, f64) {
    let temperature = if advantage > 0.0 { SAPO_TEMPERATURES.0 } else { SAPO_TEMPERATURES.1 };
    (1.0 / (1.0 + (-temperature * (ratio - 1.0)).exp()), temperature)
}

/// Tokens of `count` that `clip_cov` and `kl_cov` touch: max(1, ⌊share·n⌋).
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn covariance_picks(count: usize) -> usize {
    ((COVARIANCE_SHARE * count as f64).floor() as usize).max(1)
}

/// Whether `clip_cov` may pick a token of this covariance.
#[must_use]
pub fn is_clip_covariance(covariance: f64) -> bool {
    covariance > CLIP_COVARIANCES.0 && covariance < CLIP_COVARIANCES.1
}
