//! Objectives by name.

use serde::{Deserialize, Serialize};

use super::Objective;
use super::ar::Ar;
use super::cispo::Cispo;
use super::clip_cov::ClipCov;
use super::dapo::Dapo;
use super::dasd::Dasd;
use super::dgg::Dgg;
use super::dr_grpo::DrGrpo;
use super::entropy20::Entropy20;
use super::fullmask::FullMask;
use super::grpo::Grpo;
use super::gspo::Gspo;
use super::high_entropy::HighEntropy;
use super::justrl::JustRl;
use super::kl_cov::KlCov;
use super::lopti::Lopti;
use super::low_prob_only::LowProbOnly;
use super::random::{RandomFrom, RandomMask};
use super::sapo::Sapo;
use super::stapo::Stapo;
use super::stare::Stare;
use crate::framework::rules::{BASE_CLIP, GRPO_CLIP, STARE_TARGET};
use crate::framework::s2t::S2tSettings;
use crate::framework::token::ClipRange;

/// Names of all objectives, in the order of the documentation.
pub const NAMES: [&str; 20] = [
    "grpo",
    "dr_grpo",
    "dapo",
    "justrl",
    "stapo",
    "fullmask",
    "random",
    "high_entropy",
    "low_prob_only",
    "entropy20",
    "clip_cov",
    "kl_cov",
    "ar",
    "lopti",
    "stare",
    "gspo",
    "cispo",
    "sapo",
    "dgg",
    "dasd",
];

/// What objectives can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveSettings {
    /// The mask.
    #[serde(skip)]
    pub s2t: S2tSettings,
    /// Clipping below and above 1, in place of each objective's own (gspo keeps its own).
    pub clip: Option<(f64, f64)>,
    /// Bound of `justrl`'s dual clip.
    pub dual_clip: f64,
    /// Mean entropy below which `stare` is active.
    pub stare_target: f64,
    /// What `random` draws from.
    pub random_from: RandomFrom,
    /// Tokens of a response in `dr_grpo`'s denominator.
    pub constant_length: usize,
}

impl Default for ObjectiveSettings {
    fn default() -> Self {
        Self {
            s2t: S2tSettings::default(),
            clip: None,
            dual_clip: 10.0,
            stare_target: STARE_TARGET,
            random_from: RandomFrom::All,
            constant_length: 1,
        }
    }
}

/// The objective of this name.
#[must_use]
pub fn build(name: &str, settings: &ObjectiveSettings) -> Option<Box<dyn Objective>> {
    let range = |default: (f64, f64)| {
        let (low, high) = settings.clip.unwrap_or(default);
        ClipRange { low, high }
    };
    let (clip, narrow, s2t) = (range(BASE_CLIP), range(GRPO_CLIP), settings.s2t);
    Some(match name {
        "grpo" => Box::new(Grpo { clip: narrow }),
        "dr_grpo" => Box::new(DrGrpo { clip: narrow, length: settings.constant_length }),
        "dapo" => Box::new(Dapo { clip }),
        "justrl" => Box::new(JustRl { clip, dual_clip: settings.dual_clip }),
        "stapo" => Box::new(Stapo { clip, s2t }),
        "fullmask" => Box::new(FullMask { clip, s2t }),
        "random" => Box::new(RandomMask { clip, s2t, from: settings.random_from }),
        "high_entropy" => Box::new(HighEntropy { clip, s2t }),
        "low_prob_only" => Box::new(LowProbOnly { clip, s2t }),
        "entropy20" => Box::new(Entropy20 { clip }),
        "clip_cov" => Box::new(ClipCov { clip }),
        "kl_cov" => Box::new(KlCov),
        "ar" => Box::new(Ar { clip }),
        "lopti" => Box::new(Lopti { clip }),
        "stare" => Box::new(Stare { clip, target: settings.stare_target }),
        "gspo" => Box::new(Gspo),
        "cispo" => Box::new(Cispo),
        "sapo" => Box::new(Sapo),
        "dgg" => Box::new(Dgg { clip }),
        "dasd" => Box::new(Dasd { clip }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_objective() {
        for name in NAMES {
            assert_eq!(build(name, &ObjectiveSettings::default()).map(|o| o.name()), Some(name));
        }
        assert!(build("ppo", &ObjectiveSettings::default()).is_none());
    }
}
