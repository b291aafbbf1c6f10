//! The rules of the literature, once: name, what each does, its constants and what it does to one
//! token. The analyzer puts them side by side on a log, the replay trains with them.

mod factor;
mod numbers;
mod registry;
mod selection;

pub use factor::RuledToken;
pub use numbers::{
    AR_ALPHA, BASE_CLIP, CISPO_CAP, CLIP_COVARIANCES, COVARIANCE_SHARE, DASD_BETA, DASD_QUANTILE, DASD_TINY,
    DGG_REUSES, DGG_THRESHOLD, DUAL_CLIP, ENTROPY_SHARE, GRPO_CLIP, GSPO_CLIP, KL_WEIGHT, LOPTI_ETA,
    RATIO_CAP, SAPO_TEMPERATURES, STARE_BOOST, STARE_SHARE, STARE_TARGET, ar_factor, cispo_weight,
    is_clip_covariance, kl_slope, ratio_cap_factor, sapo_gate,
};
pub use registry::Rule;
pub use selection::{BatchMeans, covariance_picks, high_entropy_count, largest, stare_count};
