//! All rules by name, with what they do.

use super::numbers::{
    AR_ALPHA, CISPO_CAP, CLIP_COVARIANCES, COVARIANCE_SHARE, GSPO_CLIP, KL_WEIGHT, SAPO_TEMPERATURES,
    STARE_BOOST, STARE_TARGET,
};
use crate::s2t::{EntropyCut, S2tSettings};
use stapo_base::named;

named! {
    /// A rule of the literature. The first ones are the rows of the analyzer's table, in its order.
    #[derive(Default)]
    pub enum Rule {
        /// S2T, late text (arXiv 2602.15620).
        StapoV5 = "stapo_v5",
        /// S2T, early text.
        StapoV1 = "stapo_v1",
        /// All candidates.
        FullMask = "fullmask",
        /// Only the fifth of the tokens with the highest entropy learns (arXiv 2506.01939).
        Entropy20 = "entropy20",
        /// Some tokens of high covariance learn nothing (arXiv 2505.22617).
        ClipCov = "clip_cov",
        /// Tokens of the highest covariance are held back (arXiv 2505.22617).
        KlCov = "kl_cov",
        /// Improbable tokens weigh less (arXiv 2505.12929).
        Ar = "ar",
        /// Surprising rewarded tokens weigh more (arXiv 2606.19236).
        Stare = "stare",
        /// Ratios are capped, no token is cut.
        Cispo = "cispo",
        /// Ratios are weighted smoothly.
        Sapo = "sapo",
        /// Ratios of whole responses.
        Gspo = "gspo",
        /// Clipped surrogate, mean over responses.
        Grpo = "grpo",
        /// Clipped surrogate on centred rewards, over a constant.
        DrGrpo = "dr_grpo",
        /// Clip-higher surrogate, mean over tokens: the base.
        #[default]
        Dapo = "dapo",
        /// The base with a dual clip of 10.
        JustRl = "justrl",
        /// S2T with the settings at hand.
        Stapo = "stapo",
        /// As many tokens as S2T silences, by chance.
        Random = "random",
        /// Candidates of the highest entropy.
        HighEntropy = "high_entropy",
        /// Every improbable token.
        LowProbOnly = "low_prob_only",
        /// Improbable tokens and the others in updates of their own (arXiv 2505.12929).
        Lopti = "lopti",
        /// A gate on the gradient of lm_head (arXiv 2605.19425).
        Dgg = "dgg",
        /// Advantages shifted towards a teacher (arXiv 2605.22263).
        Dasd = "dasd",
        /// A base objective with a dual clip (arXiv 1912.09729).
        DualClip = "dual_clip",
        /// A base objective whose weights are capped.
        RatioCap = "ratio_cap",
        /// A base objective, weighted by the capped ratio of trainer to sampler.
        Tis = "tis",
        /// A base objective, weighted by that ratio inside of bounds.
        Icepop = "icepop",
        /// A base objective without the tokens whose ratio is out of bounds.
        MisToken = "mis_token",
        /// A base objective without the responses whose ratio is out of bounds.
        MisSequence = "mis_sequence",
        /// A base objective without the responses whose geometric mean ratio is out of bounds.
        MisGeometric = "mis_geometric",
    }
}

impl Rule {
    /// Rows of the analyzer's table, in its order.
    pub const TABLE: [Self; 11] = [
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

    /// Objectives that the replay trains with, in the order of the documentation.
    pub const OBJECTIVES: [Self; 27] = [
        Self::Grpo,
        Self::DrGrpo,
        Self::Dapo,
        Self::JustRl,
        Self::Stapo,
        Self::FullMask,
        Self::Random,
        Self::HighEntropy,
        Self::LowProbOnly,
        Self::Entropy20,
        Self::ClipCov,
        Self::KlCov,
        Self::Ar,
        Self::Lopti,
        Self::Stare,
        Self::Gspo,
        Self::Cispo,
        Self::Sapo,
        Self::Dgg,
        Self::Dasd,
        Self::DualClip,
        Self::RatioCap,
        Self::Tis,
        Self::Icepop,
        Self::MisToken,
        Self::MisSequence,
        Self::MisGeometric,
    ];

    /// Whether it is put on a base objective of the user's choice.
    #[must_use]
    pub const fn is_wrapper(self) -> bool {
        matches!(self, Self::DualClip | Self::RatioCap) || self.needs_rollout()
    }

    /// Whether it needs the sampler's log-probabilities (`logprob_rollout`).
    #[must_use]
    pub const fn needs_rollout(self) -> bool {
        matches!(self, Self::Tis | Self::Icepop | Self::MisToken | Self::MisSequence | Self::MisGeometric)
    }

    /// The objective of this name.
    #[must_use]
    pub fn objective(name: &str) -> Option<Self> {
        Self::OBJECTIVES.into_iter().find(|rule| rule.name() == name)
    }

    /// What it does, in one sentence; masks are those of `s2t`. `None` for rules that only the replay
    /// speaks of: what they do hangs on more settings, so their objectives say it.
    #[must_use]
    pub fn description(self, s2t: &S2tSettings) -> Option<String> {
        let tau_p = s2t.tau_p;
        Some(match self {
            Self::StapoV5 | Self::StapoV1 | Self::Stapo => {
                format!("silences A>0, p<{tau_p}, H below {}", threshold(s2t))
            }
            Self::FullMask => format!("silences all tokens with A>0 and p<{tau_p}"),
            Self::LowProbOnly => format!("silences all tokens with p<{tau_p}"),
            Self::HighEntropy => {
                "silences as many candidates of the highest entropy as S2T does of the lowest".into()
            }
            Self::Entropy20 => "keeps only the fifth of the tokens with the highest entropy".into(),
            Self::ClipCov => format!(
                "silences a random {COVARIANCE_SHARE:e} of the tokens whose covariance is between {} and {}",
                CLIP_COVARIANCES.0, CLIP_COVARIANCES.1
            ),
            Self::KlCov => format!(
                "does not clip, and holds back the {COVARIANCE_SHARE:e} of the tokens with the highest covariance by {KL_WEIGHT}·|ln ρ|"
            ),
            Self::Ar => format!("multiplies A with {} + {AR_ALPHA} p", 1.0 - AR_ALPHA),
            Self::Stare => format!(
                "multiplies A with {STARE_BOOST} for the tenth of the A>0 tokens with the highest surprisal, while the mean entropy is below {STARE_TARGET}"
            ),
            Self::Cispo => format!("caps the ratio at {CISPO_CAP} and cuts no token"),
            Self::Sapo => format!(
                "weights every token by a sigmoid of its ratio (temperature {} for A>0, {} else)",
                SAPO_TEMPERATURES.0, SAPO_TEMPERATURES.1
            ),
            Self::Gspo => format!(
                "uses the ratio of the whole response, clipped at {:e} and {:e}",
                GSPO_CLIP.low, GSPO_CLIP.high
            ),
            Self::Dasd => "shifts A towards a teacher (logprob_ref) where entropy is low".into(),
            _ => return None,
        })
    }
}

fn threshold(s2t: &S2tSettings) -> String {
    use crate::s2t::Population;
    let whose = match s2t.population {
        Population::Candidates => "such tokens",
        Population::Positive => "all tokens with A>0",
        Population::All => "all tokens",
    };
    match s2t.entropy {
        EntropyCut::Absolute(nats) => format!("{nats} nats"),
        EntropyCut::Quantile(q) => format!("the {q:.2}-quantile of {whose}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for rule in Rule::OBJECTIVES {
            assert_eq!(Rule::objective(rule.name()), Some(rule));
        }
        let listed: BTreeSet<Rule> = Rule::TABLE.into_iter().chain(Rule::OBJECTIVES).collect();
        let names: BTreeSet<&str> = Rule::ALL.iter().map(|r| r.name()).collect();
        assert_eq!((names.len(), listed.len()), (Rule::ALL.len(), Rule::ALL.len()));
        assert_eq!(Rule::objective("stapo_v5"), None, "a row of the table only");
        assert!(Rule::TABLE.iter().enumerate().all(|(row, rule)| *rule as usize == row));
    }

    #[test]
    fn descriptions_state_the_numbers_in_use() {
        let (late, early) = (S2tSettings::v5(), S2tSettings::v1());
        let of = |rule: Rule, s2t: &S2tSettings| rule.description(s2t).unwrap_or_default();
        assert_eq!(
            of(Rule::StapoV5, &late),
            "silences A>0, p<0.002, H below the 0.75-quantile of such tokens"
        );
        assert_eq!(
            of(Rule::StapoV1, &early),
            "silences A>0, p<0.002, H below the 0.80-quantile of all tokens"
        );
        assert_eq!(of(Rule::Ar, &late), "multiplies A with 0.8 + 0.2 p");
        assert!(of(Rule::Gspo, &late).ends_with("clipped at 3e-4 and 4e-4"));
        assert!(Rule::TABLE.iter().all(|rule| rule.description(&late).is_some()));
        assert_eq!(Rule::Tis.description(&late), None, "its objective says it");
    }
}
