//! What each rule does to the weight of one token of a log.

use super::batch::BatchContext;
use crate::analyze::collect::sample::SampledToken;
use crate::framework::rules::{Rule, RuledToken};
use crate::framework::s2t::{DEFAULT_TAU_P, is_low_entropy};

/// What the numbers of a rule leave out.
pub fn note(rule: Rule, has_ratio: bool) -> Option<&'static str> {
    match rule {
        Rule::Cispo | Rule::Sapo | Rule::Gspo if !has_ratio => {
            Some("the log has no logprob_new: every ratio is 1, and the rule equals the base")
        }
        Rule::Cispo | Rule::Sapo | Rule::Gspo => {
            Some("tokens that the base objective clips, and means over responses, are left out")
        }
        Rule::KlCov if !has_ratio => {
            Some("the log has no logprob_new: the penalty has no gradient at a ratio of 1")
        }
        Rule::ClipCov => Some("expected values over the random choice"),
        _ => None,
    }
}

/// The weight under the rule over the base objective's, and the probability that the rule
/// silences the token by chance; `p` is the token's probability.
pub fn factor(rule: Rule, context: &BatchContext, token: &SampledToken, p: f64) -> (f64, f64) {
    if rule == Rule::ClipCov {
        return (1.0, if context.is_clip_eligible(token) { context.clip_chance } else { 0.0 });
    }
    let candidate = token.advantage > 0.0 && p < DEFAULT_TAU_P;
    let below = |tau: Option<f64>| tau.is_some_and(|tau| is_low_entropy(token.entropy, tau));
    let selected = match rule {
        Rule::StapoV5 => candidate && below(context.late),
        Rule::StapoV1 => candidate && below(context.early),
        Rule::FullMask => candidate,
        Rule::Entropy20 => below(context.early),
        Rule::KlCov => context.is_held_back(token),
        Rule::Stare => context.is_boosted(token),
        _ => false,
    };
    let seen = RuledToken {
        probability: p,
        advantage: f64::from(token.advantage),
        ratio: f64::from(token.ratio),
        response_ratio: f64::from(token.response_ratio),
        selected,
    };
    (rule.factor(&seen).unwrap_or(1.0), 0.0)
}
