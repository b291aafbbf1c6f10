//! Constants of the rules, and the functions of one token that they are made of.

use crate::token::ClipRange;

/// Clipping of the base objective (DAPO), also assumed where a log does not say its own.
pub const BASE_CLIP: ClipRange = ClipRange { low: 0.2, high: 0.28 };
/// Clipping of GRPO.
pub const GRPO_CLIP: ClipRange = ClipRange { low: 0.2, high: 0.2 };
/// Clipping of `gspo`.
pub const GSPO_CLIP: ClipRange = ClipRange { low: 3e-4, high: 4e-4 };
/// c of the dual clip: where A < 0 the loss is at most −cA.
pub const DUAL_CLIP: f64 = 10.0;
/// Cap of ρ in `ratio_cap`, whatever the sign of A: the dual clip's constant of arXiv 1912.09729.
pub const RATIO_CAP: f64 = 3.0;
/// Weight of the probability in `ar` (arXiv 2505.12929).
pub const AR_ALPHA: f64 = 0.2;
/// Probability below which `lopti` trains a token first (arXiv 2505.12929).
pub const LOPTI_ETA: f64 = 0.4;
/// Upper clip of `cispo`.
pub const CISPO_CAP: f64 = 1.2;
/// Temperatures of `sapo` for A > 0 and else.
pub const SAPO_TEMPERATURES: (f64, f64) = (1.0, 1.05);
/// Share of the tokens that learn in `entropy20` (arXiv 2506.01939).
pub const ENTROPY_SHARE: f64 = 0.2;
/// Share of tokens that `clip_cov` and `kl_cov` touch (arXiv 2505.22617).
pub const COVARIANCE_SHARE: f64 = 2e-4;
/// Covariances that `clip_cov` chooses from.
pub const CLIP_COVARIANCES: (f64, f64) = (1.0, 5.0);
/// Weight of `kl_cov`'s penalty.
pub const KL_WEIGHT: f64 = 1.0;
/// Weight of the shift in `dasd`; its paper's own is not published.
pub const DASD_BETA: f64 = 1.0;
/// Quantile of a response's entropies at which `dasd`'s shift changes its sign (arXiv 2605.22263).
pub const DASD_QUANTILE: f64 = 0.2;
/// Keeps `dasd`'s divisions finite.
pub const DASD_TINY: f64 = 1e-6;
/// Updates of a batch in `dgg` at most (arXiv 2605.19425).
pub const DGG_REUSES: usize = 4;
/// Standard deviations above the mean at which `dgg` drops a gradient.
pub const DGG_THRESHOLD: f64 = 1.0;
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

/// `cispo`'s weight in place of ρ: min(ρ, 1.2).
#[must_use]
pub fn cispo_weight(ratio: f64) -> f64 {
    ratio.clamp(0.0, CISPO_CAP)
}

/// `ratio_cap`'s factor min(1, C/ρ): the token's weight is at most C·A.
#[must_use]
pub fn ratio_cap_factor(ratio: f64, cap: f64) -> f64 {
    (cap / ratio).min(1.0)
}

/// `sapo`'s sigmoid(τ(ρ − 1)), and its temperature τ.
#[must_use]
pub fn sapo_gate(ratio: f64, advantage: f64) -> (f64, f64) {
    let temperature = if advantage > 0.0 { SAPO_TEMPERATURES.0 } else { SAPO_TEMPERATURES.1 };
    (1.0 / (1.0 + (-temperature * (ratio - 1.0)).exp()), temperature)
}

/// ∂/∂ln π of `kl_cov`'s penalty c·|ln ρ|; 0 at ρ = 1, as autograd has it.
#[must_use]
pub fn kl_slope(ratio: f64) -> f64 {
    if ratio == 1.0 { 0.0 } else { KL_WEIGHT * (ratio - 1.0).signum() }
}

/// Whether `clip_cov` may pick a token of this covariance.
#[must_use]
pub fn is_clip_covariance(covariance: f64) -> bool {
    covariance > CLIP_COVARIANCES.0 && covariance < CLIP_COVARIANCES.1
}
