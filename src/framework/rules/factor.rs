//! What each rule does to the weight of one token.

use super::Rule;
use super::numbers::{GSPO_CLIP, STARE_BOOST, ar_factor, cispo_weight, kl_slope, sapo_gate};

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
    /// does not clip it.
    #[must_use]
    pub fn factor(self, token: &RuledToken) -> f64 {
        let RuledToken { probability, advantage, ratio, response_ratio, selected } = *token;
        match self {
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
            _ => 1.0,
        }
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
            assert_eq!(rule.factor(&token), 1.0, "{rule:?}");
            assert_eq!(rule.factor(&RuledToken { selected: true, ..token }), 1.0, "{rule:?}");
        }
        assert!((Rule::Sapo.factor(&token) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn each_rule_by_hand() {
        let selected = RuledToken { selected: true, ..TOKEN };
        assert_eq!((Rule::Stapo.factor(&TOKEN), Rule::Stapo.factor(&selected)), (1.0, 0.0));
        assert_eq!((Rule::Stare.factor(&TOKEN), Rule::Stare.factor(&selected)), (1.0, 1.1));
        assert!((Rule::KlCov.factor(&selected) - 0.5 / 1.5).abs() < 1e-15);
        assert!((Rule::Ar.factor(&TOKEN) - 0.9).abs() < 1e-15);
        assert!((Rule::Cispo.factor(&TOKEN) - 0.8).abs() < 1e-15);
        assert_eq!(Rule::Gspo.factor(&RuledToken { response_ratio: 1.001, ..TOKEN }), 0.0);
    }
}
