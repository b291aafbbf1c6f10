//! Objectives by name.

use serde::Serialize;

use super::Objective;
use super::ar::Ar;
use super::cispo::Cispo;
use super::clip_cov::ClipCov;
use super::clipped::Clip;
use super::corrected::{Corrected, Weighing};
use super::dapo::Dapo;
use super::dasd::Dasd;
use super::dgg::Dgg;
use super::dr_grpo::DrGrpo;
use super::dual_clip::DualClip;
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
use stapo_framework::corrections::{Correction, GEOMETRIC_MIS_BOUNDS, ICEPOP_BOUNDS, MIS_BOUNDS, TIS_CAP};
use stapo_framework::rules::{BASE_CLIP, DUAL_CLIP, GRPO_CLIP, RATIO_CAP, Rule, STARE_TARGET};
use stapo_framework::s2t::S2tSettings;
use stapo_framework::token::ClipRange;

/// Names of all objectives, in the order of the documentation.
pub const NAMES: [&str; Rule::OBJECTIVES.len()] = {
    let mut names = [""; Rule::OBJECTIVES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Rule::OBJECTIVES[i].name();
        i += 1;
    }
    names
};

/// What objectives can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ObjectiveSettings {
    /// The mask.
    pub s2t: S2tSettings,
    /// Clipping below and above 1, in place of each objective's own (gspo keeps its own).
    pub clip: Option<(f64, f64)>,
    /// Objective that `dual_clip`, `ratio_cap` and the corrections are put on.
    pub base: Rule,
    /// Bound of the dual clip, of `justrl` and `dual_clip`.
    pub dual_clip: f64,
    /// Cap of ρ in `ratio_cap`.
    pub ratio_cap: f64,
    /// Cap of π_old/μ in `tis`.
    pub tis_cap: f64,
    /// Bounds of π_old/μ in `icepop`.
    pub icepop_bounds: (f64, f64),
    /// Bounds of `mis_token` and `mis_sequence`, on μ/π_old.
    pub mis_bounds: (f64, f64),
    /// Bounds of `mis_geometric`, on μ/π_old.
    pub geometric_bounds: (f64, f64),
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
            base: Rule::Dapo,
            dual_clip: DUAL_CLIP,
            ratio_cap: RATIO_CAP,
            tis_cap: TIS_CAP,
            icepop_bounds: ICEPOP_BOUNDS,
            mis_bounds: MIS_BOUNDS,
            geometric_bounds: GEOMETRIC_MIS_BOUNDS,
            stare_target: STARE_TARGET,
            random_from: RandomFrom::All,
            constant_length: 1,
        }
    }
}

/// The objective of a rule; `None` for rules that are rows of the analyzer's table only, and where
/// `settings.base` cannot carry it.
#[must_use]
pub fn build(rule: Rule, settings: &ObjectiveSettings) -> Option<Box<dyn Objective>> {
    if !rule.is_wrapper() {
        return plain(rule, settings, None);
    }
    let base = settings.base;
    if rule == Rule::DualClip {
        let bound = settings.dual_clip;
        let bounded = can_dual_clip(base).then(|| plain(base, settings, Some(bound)))??;
        return Some(Box::new(DualClip { base: bounded, bound }));
    }
    let (icepop, mis, mean) = (settings.icepop_bounds, settings.mis_bounds, settings.geometric_bounds);
    let weighing = match rule {
        Rule::RatioCap => Weighing::RatioCap(settings.ratio_cap),
        Rule::Tis => Weighing::Gap(Correction::TokenTis(settings.tis_cap)),
        Rule::Icepop => Weighing::Gap(Correction::TokenIcePop(icepop.0, icepop.1)),
        Rule::MisToken => Weighing::Gap(Correction::TokenMis(mis.0, mis.1)),
        Rule::MisSequence => Weighing::Gap(Correction::SequenceMis(mis.0, mis.1)),
        _ => Weighing::Gap(Correction::GeometricMis(mean.0, mean.1)),
    };
    Some(Box::new(Corrected { base: plain(base, settings, None)?, weighing }))
}

/// Whether a rule has a clipped surrogate that a dual clip can bound.
#[must_use]
pub fn can_dual_clip(rule: Rule) -> bool {
    !matches!(rule, Rule::KlCov | Rule::Cispo | Rule::Sapo | Rule::JustRl) && !rule.is_wrapper()
}

/// An objective that is not put on another.
fn plain(rule: Rule, settings: &ObjectiveSettings, dual: Option<f64>) -> Option<Box<dyn Objective>> {
    let range = |default: ClipRange| settings.clip.map_or(default, |(low, high)| ClipRange { low, high });
    let (clip, narrow) = (Clip { range: range(BASE_CLIP), dual }, Clip { range: range(GRPO_CLIP), dual });
    let s2t = settings.s2t;
    Some(match rule {
        Rule::Grpo => Box::new(Grpo { clip: narrow }),
        Rule::DrGrpo => Box::new(DrGrpo { clip: narrow, length: settings.constant_length }),
        Rule::Dapo => Box::new(Dapo { clip }),
        Rule::JustRl => Box::new(JustRl { range: clip.range, dual_clip: settings.dual_clip }),
        Rule::Stapo => Box::new(Stapo { clip, s2t }),
        Rule::FullMask => Box::new(FullMask { clip, s2t }),
        Rule::Random => Box::new(RandomMask { clip, s2t, from: settings.random_from }),
        Rule::HighEntropy => Box::new(HighEntropy { clip, s2t }),
        Rule::LowProbOnly => Box::new(LowProbOnly { clip, s2t }),
        Rule::Entropy20 => Box::new(Entropy20 { clip }),
        Rule::ClipCov => Box::new(ClipCov { clip }),
        Rule::KlCov => Box::new(KlCov),
        Rule::Ar => Box::new(Ar { clip }),
        Rule::Lopti => Box::new(Lopti { clip }),
        Rule::Stare => Box::new(Stare { clip, target: settings.stare_target }),
        Rule::Gspo => Box::new(Gspo { dual_clip: dual }),
        Rule::Cispo => Box::new(Cispo),
        Rule::Sapo => Box::new(Sapo),
        Rule::Dgg => Box::new(Dgg { clip }),
        Rule::Dasd => Box::new(Dasd { clip }),
        // Rows of the analyzer's table, and what is put on another objective.
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::objective::MiniBatch;
    use stapo_framework::rules::RuledToken;

    #[test]
    fn every_name_has_its_objective() {
        for rule in Rule::OBJECTIVES {
            let built = build(rule, &ObjectiveSettings::default());
            assert_eq!(built.map(|o| o.rule()), Some(rule));
        }
        assert!(build(Rule::StapoV5, &ObjectiveSettings::default()).is_none(), "a row of the table only");
        let on = |base| ObjectiveSettings { base, ..ObjectiveSettings::default() };
        assert!(build(Rule::DualClip, &on(Rule::Cispo)).is_none(), "no clipped surrogate to bound");
        assert!(build(Rule::Tis, &on(Rule::Cispo)).is_some());
        assert!(build(Rule::Tis, &on(Rule::Icepop)).is_none(), "one correction at a time");
    }

    /// The analyzer's factor of a token is what the replay's gradient has over the base's.
    #[test]
    fn the_replay_trains_with_the_factors_of_the_analyzer() {
        let logprob: Vec<f32> = (0..40).map(|t| -0.05 - 0.23 * (t * 7 % 40) as f32).collect();
        let old: Vec<f32> =
            logprob.iter().enumerate().map(|(t, l)| l - 0.02 * ((t * 11 % 13) as f32 - 6.0)).collect();
        let batch = MiniBatch {
            bounds: &[0, 12, 25, 40],
            trained: &[true; 40],
            logprob: &logprob,
            old: &old,
            entropy: &(0..40).map(|t| 0.06 * (t * 17 % 40) as f32).collect::<Vec<_>>(),
            advantage: &(0..40).map(|t| if t < 12 { -0.7 } else { 1.3 }).collect::<Vec<_>>(),
            rollout: None,
            teacher: None,
            start: None,
            centred_reward: None,
            pass: 0,
            seed: 3,
        };
        let s2t = S2tSettings { tau_p: 0.05, ..S2tSettings::v5() };
        let settings = ObjectiveSettings { s2t, stare_target: 9.0, ..ObjectiveSettings::default() };
        // Both presets of S2T are one objective, `stapo`.
        let rules: Vec<Rule> =
            Rule::TABLE.into_iter().filter(|rule| Rule::OBJECTIVES.contains(rule)).collect();
        assert_eq!(rules.len(), Rule::TABLE.len() - 2);
        let mut selecting = Vec::new();
        for rule in rules {
            let weighed = build(rule, &settings).unwrap().weigh(&batch);
            let (mut compared, mut selects, mut selected) = (0, false, false);
            for t in (0..40).filter(|t| !BASE_CLIP.cuts(batch.ratio(*t), batch.advantage(*t))) {
                let range = batch.bounds.windows(2).find(|w| w[1] > t).map_or(0..0, |w| w[0]..w[1]);
                let logs: f64 = range.clone().map(|t| f64::from(logprob[t]) - f64::from(old[t])).sum();
                let weight = batch.ratio(t) * batch.advantage(t);
                let slope = if weighed.kept[t] { -weighed.terms[t].slope } else { 0.0 };
                let seen = |selected| RuledToken {
                    probability: f64::from(old[t]).exp(),
                    advantage: batch.advantage(t),
                    ratio: batch.ratio(t),
                    response_ratio: (logs / range.len() as f64).exp(),
                    selected,
                };
                // Which tokens a batch selects is each side's own affair; what it does to them is not.
                let factor = |selected| rule.factor(&seen(selected)).unwrap_or(f64::NAN);
                let near = |selected| (factor(selected) - slope / weight).abs() < 1e-9;
                assert!(near(false) || near(true), "{rule:?}, token {t}: {}", slope / weight);
                selects |= (factor(true) - factor(false)).abs() > 1e-9;
                selected |= near(true) && !near(false);
                compared += 1;
            }
            assert!(compared > 20, "{compared}");
            assert_eq!(selected, selects, "{rule:?} has selected no token");
            selecting.extend(selects.then_some(rule));
        }
        assert_eq!(selecting, [Rule::FullMask, Rule::Entropy20, Rule::ClipCov, Rule::KlCov, Rule::Stare]);
    }
}
