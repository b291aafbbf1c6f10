//! The spurious-token mask S2T of arXiv 2602.15620: A > 0, p < τ_p and H < τ_h, all strict.

use serde::Serialize;
use stapo_base::named;

use stapo_base::stats::quantile::select_quantile;

/// τ_p of both presets.
pub const DEFAULT_TAU_P: f64 = 0.002;

/// The late text's quantile of the candidates.
pub const LATE_QUANTILE: f64 = 0.75;

/// The early text's quantile of all trained tokens; it also splits a batch into low and high entropy where
/// no threshold exists.
pub const EARLY_QUANTILE: f64 = 0.80;

/// How the entropy threshold τ_h of a batch is found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntropyCut {
    /// The quantile of the population's entropies, linearly interpolated.
    Quantile(f64),
    /// The same number of nats in every batch.
    Absolute(f64),
}

named! {
    /// Settings of the mask that have a name.
    #[derive(Default)]
    pub enum Preset {
        /// Those of the late text (v4, v5).
        #[default]
        V5 = "v5",
        /// Those of the early text (v1 to v3).
        V1 = "v1",
        /// Others.
        Custom = "custom",
    }
}

named! {
    /// The tokens whose entropies define τ_h.
    #[derive(Default)]
    pub enum Population {
        /// A > 0 and p < τ_p.
        #[default]
        Candidates = "candidates",
        /// A > 0.
        Positive = "positive",
        /// Every trained token.
        All = "all",
    }
}

/// Everything that defines the mask.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct S2tSettings {
    /// Tokens below this probability are rare.
    pub tau_p: f64,
    /// How τ_h is found.
    pub entropy: EntropyCut,
    /// Whose entropies define τ_h.
    pub population: Population,
}

impl S2tSettings {
    /// The late text (v4, v5): 0.75-quantile over the candidates.
    #[must_use]
    pub fn v5() -> Self {
        Self {
            tau_p: DEFAULT_TAU_P,
            entropy: EntropyCut::Quantile(LATE_QUANTILE),
            population: Population::Candidates,
        }
    }

    /// The early text (v1 to v3): 0.80-quantile over all trained tokens.
    #[must_use]
    pub fn v1() -> Self {
        Self {
            tau_p: DEFAULT_TAU_P,
            entropy: EntropyCut::Quantile(EARLY_QUANTILE),
            population: Population::All,
        }
    }

    /// The preset that these settings are.
    #[must_use]
    pub fn preset(&self) -> Preset {
        match self {
            s2t if *s2t == Self::v5() => Preset::V5,
            s2t if *s2t == Self::v1() => Preset::V1,
            _ => Preset::Custom,
        }
    }

    /// The tests that need no batch.
    #[must_use]
    pub fn rule(&self) -> CandidateRule {
        CandidateRule { logprob_cut: largest_logprob_below(self.tau_p), population: self.population }
    }

    /// τ_h from the entropies of one batch's population, which are reordered. Missing ones (NaN)
    /// are left out; None where a quantile has nothing to be taken from.
    #[must_use]
    pub fn threshold(&self, entropies: &mut Vec<f32>) -> Option<f64> {
        match self.entropy {
            EntropyCut::Absolute(nats) => Some(nats),
            EntropyCut::Quantile(q) => {
                entropies.retain(|h| !h.is_nan());
                select_quantile(entropies, q)
            }
        }
    }
}

impl Default for S2tSettings {
    fn default() -> Self {
        Self::v5()
    }
}

/// p < τ_p as one comparison of the logged f32, without an exponential per token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateRule {
    logprob_cut: f32,
    population: Population,
}

impl CandidateRule {
    /// p < τ_p. A log-probability of −∞ or NaN is missing, not rare.
    #[inline]
    #[must_use]
    pub fn is_rare(&self, logprob: f32) -> bool {
        (logprob <= self.logprob_cut) & (logprob > f32::NEG_INFINITY)
    }

    /// A > 0 and p < τ_p.
    #[inline]
    #[must_use]
    pub fn is_candidate(&self, logprob: f32, advantage: f32) -> bool {
        (advantage > 0.0) & self.is_rare(logprob)
    }

    /// Whether this token's entropy enters the quantile that is τ_h.
    #[inline]
    #[must_use]
    pub fn in_population(&self, logprob: f32, advantage: f32) -> bool {
        match self.population {
            Population::Candidates => self.is_candidate(logprob, advantage),
            Population::Positive => advantage > 0.0,
            Population::All => true,
        }
    }

    /// The mask: A > 0, p < τ_p and H < τ_h.
    #[inline]
    #[must_use]
    pub fn is_silenced(&self, logprob: f32, entropy: f32, advantage: f32, tau_h: f64) -> bool {
        self.is_candidate(logprob, advantage) & is_low_entropy(entropy, tau_h)
    }
}

/// H < τ_h; a missing entropy is not low.
#[inline]
#[must_use]
pub fn is_low_entropy(entropy: f32, tau_h: f64) -> bool {
    f64::from(entropy) < tau_h
}

/// The largest f32 whose exponential, taken in f64, is below `tau_p`.
///
/// exp rises, so comparing logarithms with it decides exactly as comparing probabilities does.
/// The bits of positive floats rise with their value, so they can be bisected.
fn largest_logprob_below(tau_p: f64) -> f32 {
    let below = |surprisal: u32| (-f64::from(f32::from_bits(surprisal))).exp() < tau_p;
    if below(0) {
        return f32::MAX;
    }
    let (mut not_below, mut is_below) = (0, f32::INFINITY.to_bits());
    while is_below - not_below > 1 {
        let middle = not_below + (is_below - not_below) / 2;
        if below(middle) {
            is_below = middle;
        } else {
            not_below = middle;
        }
    }
    -f32::from_bits(is_below)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn presets() {
        assert_eq!(S2tSettings::default(), S2tSettings::v5());
        assert_eq!(S2tSettings::v1().entropy, EntropyCut::Quantile(0.80));
        assert_eq!(S2tSettings::v1().population, Population::All);
    }

    #[test]
    fn nothing_is_silenced_without_rivals() {
        let settings = S2tSettings::v5();
        assert_eq!(settings.threshold(&mut vec![]), None);
        assert_eq!(settings.threshold(&mut vec![f32::NAN]), None);
        let tau_h = settings.threshold(&mut vec![0.4]).unwrap();
        assert!(!settings.rule().is_silenced(-9.0, 0.4, 1.0, tau_h));
        let tied = settings.threshold(&mut vec![0.4; 9]).unwrap();
        assert!(!settings.rule().is_silenced(-9.0, 0.4, 1.0, tied));
    }

    #[test]
    fn missing_values_are_never_silenced() {
        let rule = S2tSettings::v5().rule();
        assert!(rule.is_silenced(-9.0, 0.1, 1.0, 0.5));
        assert!(!rule.is_silenced(f32::NEG_INFINITY, 0.1, 1.0, 0.5));
        assert!(!rule.is_silenced(f32::NAN, 0.1, 1.0, 0.5));
        assert!(!rule.is_silenced(-9.0, f32::NAN, 1.0, 0.5));
        assert!(!rule.is_silenced(-9.0, 0.1, f32::NAN, 0.5));
        assert!(!rule.is_silenced(-9.0, 0.1, 0.0, 0.5));
    }

    #[test]
    fn extreme_probability_thresholds() {
        let rule = |tau_p| S2tSettings { tau_p, ..S2tSettings::v5() }.rule();
        assert!(!rule(0.0).is_rare(-80.0));
        assert!(!rule(f64::NAN).is_rare(-80.0));
        assert!(rule(1.0).is_rare(-1e-7) && !rule(1.0).is_rare(0.0));
        assert!(rule(2.0).is_rare(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]
        #[test]
        fn the_cut_decides_as_the_probability_does(tau_p in 1e-6..0.999_f64, steps in -3..4_i32) {
            let rule = S2tSettings { tau_p, ..S2tSettings::v5() }.rule();
            let mut logprob = tau_p.ln() as f32;
            for _ in 0..steps.abs() {
                logprob = if steps > 0 { logprob.next_up() } else { logprob.next_down() };
            }
            prop_assert_eq!(rule.is_rare(logprob), f64::from(logprob).exp() < tau_p);
        }

        #[test]
        fn the_mask_is_within_its_definition(
            tokens in prop::collection::vec((-12.0..0.0_f32, 0.0..4.0_f32, -2.0..2.0_f32), 1..80),
            q in 0.0..=1.0_f64,
            population in prop_oneof![Just(Population::Candidates), Just(Population::Positive), Just(Population::All)],
        ) {
            let settings = S2tSettings { tau_p: 0.05, entropy: EntropyCut::Quantile(q), population };
            let rule = settings.rule();
            let mut entropies: Vec<f32> = tokens
                .iter()
                .filter(|(logprob, _, advantage)| rule.in_population(*logprob, *advantage))
                .map(|token| token.1)
                .collect();
            let Some(tau_h) = settings.threshold(&mut entropies) else { return Ok(()) };
            let mut candidates = 0;
            let mut silenced = 0;
            for (logprob, entropy, advantage) in tokens {
                candidates += usize::from(rule.is_candidate(logprob, advantage));
                if rule.is_silenced(logprob, entropy, advantage, tau_h) {
                    silenced += 1;
                    prop_assert!(advantage > 0.0 && f64::from(logprob).exp() < 0.05);
                    prop_assert!(f64::from(entropy) < tau_h);
                }
            }
            if population == Population::Candidates {
                prop_assert!(silenced as f64 <= q * candidates as f64 + 1.0);
            }
        }
    }
}
