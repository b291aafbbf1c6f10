//! What each rule does to the weight of one token.

use super::batch::BatchContext;
use crate::analyze::collect::sample::SampledToken;
use crate::framework::rules::{CISPO_CAP, GSPO_CLIP, KL_WEIGHT, STARE_BOOST, ar_factor, sapo_gate};
use crate::framework::s2t::{DEFAULT_TAU_P, is_low_entropy};

/// A rule of the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// S2T, late text.
    StapoV5,
    /// S2T, early text.
    StapoV1,
    /// All candidates.
    FullMask,
    /// Only the 20 % of highest entropy learn.
    Entropy20,
    /// Some tokens of high covariance learn nothing.
    ClipCov,
    /// Tokens of the highest covariance are held back.
    KlCov,
    /// Rare tokens weigh less.
    Ar,
    /// Surprising rewarded tokens weigh more.
    Stare,
    /// Ratios are capped, no token is cut.
    Cispo,
    /// Ratios are weighted smoothly.
    Sapo,
    /// Ratios of whole responses.
    Gspo,
}

impl Rule {
    /// All rules, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::StapoV5,
        Self::StapoV1,
        Self::FullMask,
        Self::Entropy20,
        Self::ClipCov,
        Self::KlCov,
        Self::Ar,
        Self::Stare,
        Self::Cispo,
        Self::Sapo,
        Self::Gspo,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::StapoV5 => "stapo_v5",
            Self::StapoV1 => "stapo_v1",
            Self::FullMask => "fullmask",
            Self::Entropy20 => "entropy20",
            Self::ClipCov => "clip_cov",
            Self::KlCov => "kl_cov",
            Self::Ar => "ar",
            Self::Stare => "stare",
            Self::Cispo => "cispo",
            Self::Sapo => "sapo",
            Self::Gspo => "gspo",
        }
    }

    /// What it does.
    pub fn description(self) -> &'static str {
        match self {
            Self::StapoV5 => "silences A>0, p<0.002, H below the 0.75-quantile of such tokens",
            Self::StapoV1 => "silences A>0, p<0.002, H below the 0.80-quantile of all tokens",
            Self::FullMask => "silences all tokens with A>0 and p<0.002",
            Self::Entropy20 => "keeps only the fifth of the tokens with the highest entropy",
            Self::ClipCov => "silences a random 2e-4 of the tokens whose covariance is between 1 and 5",
            Self::KlCov => "holds back the 2e-4 of the tokens with the highest covariance",
            Self::Ar => "multiplies A with 0.8 + 0.2 p",
            Self::Stare => {
                "multiplies A with 1.1 for the tenth of the A>0 tokens with the highest surprisal, while the mean entropy is below 0.3"
            }
            Self::Cispo => "caps the ratio at 1.2 and cuts no token",
            Self::Sapo => "weights every token by a sigmoid of its ratio",
            Self::Gspo => "uses the ratio of the whole response, clipped at 3e-4 and 4e-4",
        }
    }

    /// What the numbers leave out.
    pub fn note(self, has_ratio: bool) -> Option<&'static str> {
        match self {
            Self::Cispo | Self::Sapo | Self::Gspo if !has_ratio => {
                Some("the log has no logprob_new: every ratio is 1, and the rule equals the base")
            }
            Self::Cispo | Self::Sapo | Self::Gspo => {
                Some("tokens that the base objective clips, and means over responses, are left out")
            }
            Self::KlCov if !has_ratio => {
                Some("the log has no logprob_new: the penalty has no gradient at a ratio of 1")
            }
            Self::ClipCov => Some("expected values over the random choice"),
            _ => None,
        }
    }

    /// The weight under the rule over the base objective's, and the probability that the rule
    /// silences the token by chance; `p` is the token's probability.
    pub fn factor(self, context: &BatchContext, token: &SampledToken, p: f64) -> (f64, f64) {
        let positive = token.advantage > 0.0;
        let candidate = positive && p < DEFAULT_TAU_P;
        let below = |tau: Option<f64>| tau.is_some_and(|tau| is_low_entropy(token.entropy, tau));
        let silenced_if = |silenced: bool| (if silenced { 0.0 } else { 1.0 }, 0.0);
        let ratio = f64::from(token.ratio);
        match self {
            Self::StapoV5 => silenced_if(candidate && below(context.late)),
            Self::StapoV1 => silenced_if(candidate && below(context.early)),
            Self::FullMask => silenced_if(candidate),
            Self::Entropy20 => silenced_if(below(context.early)),
            Self::ClipCov => (1.0, if context.is_clip_eligible(token) { context.clip_chance } else { 0.0 }),
            Self::KlCov if context.is_held_back(token) => {
                let weight = ratio * f64::from(token.advantage);
                let penalty = if ratio == 1.0 { 0.0 } else { KL_WEIGHT * (ratio - 1.0).signum() };
                ((weight - penalty) / weight, 0.0)
            }
            Self::KlCov => (1.0, 0.0),
            Self::Ar => (ar_factor(p), 0.0),
            Self::Stare => (if context.is_boosted(token) { STARE_BOOST } else { 1.0 }, 0.0),
            Self::Cispo => (ratio.min(CISPO_CAP) / ratio, 0.0),
            Self::Sapo => {
                let (gate, _) = sapo_gate(ratio, f64::from(token.advantage));
                (4.0 * gate * (1.0 - gate), 0.0)
            }
            Self::Gspo => {
                let of_response = f64::from(token.response_ratio);
                let cut =
                    if positive { of_response > 1.0 + GSPO_CLIP.1 } else { of_response < 1.0 - GSPO_CLIP.0 };
                (if cut { 0.0 } else { of_response / ratio }, 0.0)
            }
        }
    }
}
