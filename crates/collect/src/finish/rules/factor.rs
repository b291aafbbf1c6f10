//! What each rule does to the weight of one token of a log.

use super::batch::BatchContext;
use crate::collect::sample::SampledToken;
use stapo_framework::rules::{Rule, RuledToken};
use stapo_framework::s2t::{DEFAULT_TAU_P, S2tSettings};

/// What the numbers of a rule leave out.
pub fn note(rule: Rule, has_ratio: bool) -> Option<&'static str> {
    match rule {
        Rule::Cispo | Rule::Sapo | Rule::Gspo if !has_ratio => {
            Some("the log has no logprob_new: every ratio is 1, and the rule equals the base")
        }
        Rule::Cispo | Rule::Sapo | Rule::Gspo => Some("means over responses are left out"),
        Rule::KlCov if !has_ratio => {
            Some("the log has no logprob_new: the penalty has no gradient at a ratio of 1")
        }
        Rule::KlCov => {
            Some("covariances are of the log's logprob; the penalty on tokens with A = 0 is left out")
        }
        Rule::ClipCov if has_ratio => {
            Some("covariances are of the log's logprob; expected values over the random choice")
        }
        Rule::ClipCov => Some("expected values over the random choice"),
        Rule::Entropy20 | Rule::Stare => Some("tokens that tie at the cut count in part"),
        _ => None,
    }
}

/// Whether a rule leaves tokens alone that the base objective clips.
fn clips(rule: Rule) -> bool {
    !matches!(rule, Rule::KlCov | Rule::Cispo | Rule::Sapo | Rule::Gspo)
}

/// What a rule makes of a token: its weight over ρA, if the rule selects it and if not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Treatment {
    /// The probability that the rule selects it.
    pub chance: f64,
    /// The weight if it does.
    pub selected: f64,
    /// The weight if it does not.
    pub other: f64,
}

impl Treatment {
    /// The outcomes with their probabilities.
    pub fn outcomes(&self) -> [(f64, f64); 2] {
        [(self.chance, self.selected), (1.0 - self.chance, self.other)]
    }

    /// The mean of the squared weight.
    pub fn energy(&self) -> f64 {
        self.outcomes().into_iter().map(|(chance, weight)| chance * weight * weight).sum()
    }
}

/// What a rule makes of a token; `p` is its probability. Tokens without advantage have nothing to
/// weigh.
pub fn treatment(rule: Rule, context: &BatchContext, token: &SampledToken, p: f64) -> Treatment {
    if token.is_clipped() && clips(rule) {
        return Treatment { chance: 0.0, selected: 0.0, other: 0.0 };
    }
    let candidate = token.advantage > 0.0 && p < DEFAULT_TAU_P;
    let certain = |selected: bool| f64::from(u8::from(selected));
    let chance = match rule {
        Rule::StapoV5 => certain(candidate && context.is_below_late(token)),
        Rule::StapoV1 => certain(candidate && context.is_below_early(token)),
        Rule::FullMask => certain(candidate),
        Rule::Entropy20 => context.low_entropy(token),
        Rule::ClipCov => context.clip_chance(token),
        Rule::KlCov => context.held_back(token),
        Rule::Stare => context.boosted(token),
        _ => 0.0,
    };
    let weight = |selected: bool| {
        let seen = RuledToken {
            probability: p,
            advantage: f64::from(token.advantage),
            ratio: f64::from(token.ratio),
            response_ratio: f64::from(token.response_ratio),
            selected,
        };
        // Rules of the table hang on nothing else.
        rule.factor(&seen).unwrap_or(1.0)
    };
    Treatment { chance, selected: if chance > 0.0 { weight(true) } else { 0.0 }, other: weight(false) }
}

/// The settings that a row of the table stands for.
pub fn preset(rule: Rule) -> S2tSettings {
    if rule == Rule::StapoV1 { S2tSettings::v1() } else { S2tSettings::v5() }
}
