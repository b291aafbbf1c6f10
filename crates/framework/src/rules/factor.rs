//! What each rule does to the weight of one token.

use super::Rule;
use super::numbers::{
    GSPO_CLIP, RATIO_CAP, STARE_BOOST, ar_factor, cispo_weight, kl_slope, ratio_cap_factor, sapo_gate,
};

/// A token as a rule sees it once its batch has been looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuledToken {
    /// p of the old policy.
    pub probability: f64,
    /// A.
    pub advantage: f64,
    /// ρ.
    pub ratio: f64,
    /// The geometric mean of ρ over the response.
    pub response_ratio: f64,
    /// Whether the rule selected it out of its batch: to silence it, to hold it back or to boost it.
    pub selected: bool,
}

impl Rule {
    /// The token's weight under the rule over its weight ρA under the base objective, where that
    /// does not clip it; `None` where that depends on more than is seen of the token here.
    #[must_use]
    pub fn factor(self, token: &RuledToken) -> Option<f64> {
        let RuledToken { probability, advantage, ratio, response_ratio, selected } = *token;
        Some(match self {
            Self::StapoV5
            | Self::StapoV1
            | Self::Stapo
            | Self::FullMask
            | Self::Random
            | Self::HighEntropy
            | Self::LowProbOnly
            | Self::Entropy20
            | Self::ClipCov => f64::from(u8::from(!selected)),
            Self::KlCov if selected => {
                let weight = ratio * advantage;
                (weight - kl_slope(ratio)) / weight
            }
            Self::Ar => ar_factor(probability),
            Self::Stare if selected => STARE_BOOST,
            Self::Cispo => cispo_weight(ratio) / ratio,
            Self::Sapo => {
                let (gate, _) = sapo_gate(ratio, advantage);
                4.0 * gate * (1.0 - gate)
            }
            Self::Gspo if GSPO_CLIP.cuts(response_ratio, advantage) => 0.0,
            Self::Gspo => response_ratio / ratio,
            Self::RatioCap => ratio_cap_factor(ratio, RATIO_CAP),
            Self::KlCov | Self::Stare | Self::Dapo => 1.0,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: RuledToken =
        RuledToken { probability: 0.5, advantage: 1.0, ratio: 1.5, response_ratio: 1.0, selected: false };

    #[test]
    fn rules_of_the_ratio_change_nothing_at_one() {
        let token = RuledToken { ratio: 1.0, ..TOKEN };
        for rule in [Rule::KlCov, Rule::Cispo, Rule::Gspo, Rule::Dapo] {
            assert_eq!(rule.factor(&token), Some(1.0), "{rule:?}");
            assert_eq!(rule.factor(&RuledToken { selected: true, ..token }), Some(1.0), "{rule:?}");
        }
        assert!((factor(Rule::Sapo, &token) - 1.0).abs() < 1e-15);
    }

    fn factor(rule: Rule, token: &RuledToken) -> f64 {
        rule.factor(token).unwrap_or(f64::NAN)
    }

    #[test]
    fn each_rule_by_hand() {
        let selected = RuledToken { selected: true, ..TOKEN };
        let both = |rule| (factor(rule, &TOKEN), factor(rule, &selected));
        assert_eq!(both(Rule::Stapo), (1.0, 0.0));
        assert_eq!(both(Rule::Stare), (1.0, 1.1));
        assert!((factor(Rule::KlCov, &selected) - 0.5 / 1.5).abs() < 1e-15);
        assert!((factor(Rule::Ar, &TOKEN) - 0.9).abs() < 1e-15);
        assert!((factor(Rule::Cispo, &TOKEN) - 0.8).abs() < 1e-15);
        assert_eq!(factor(Rule::Gspo, &RuledToken { response_ratio: 1.001, ..TOKEN }), 0.0);
        assert_eq!(both(Rule::RatioCap), (1.0, 1.0));
        assert_eq!(factor(Rule::RatioCap, &RuledToken { ratio: 6.0, ..TOKEN }), 0.5);
        assert!(Rule::TABLE.iter().all(|rule| rule.factor(&TOKEN).is_some()));
        assert_eq!(Rule::Tis.factor(&TOKEN), None, "needs the sampler's ratio");
    }
}
