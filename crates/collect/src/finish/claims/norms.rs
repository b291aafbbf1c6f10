//! Norms of tokens by class: ‖g‖ at ρ = 1 and without clipping, that is |A| times the norm at weight 1.

use crate::collect::candidates::Candidate;
use crate::collect::claim_tokens::{ClaimToken, UnitNorm};
use crate::collect::run_sample::Sample;
use crate::finish::ratios::share;
use stapo_framework::s2t::CandidateRule;

/// How many tokens a class has, their norms and their energy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Norms {
    /// Tokens.
    pub tokens: f64,
    /// Σ ‖g‖.
    pub norm: f64,
    /// Σ ‖g‖².
    pub energy: f64,
}

impl Norms {
    fn add(&mut self, advantage: f32, norm: UnitNorm, weight: f64) {
        let norm = f64::from(advantage).abs() * norm.value;
        if norm.is_finite() {
            self.tokens += weight;
            self.norm += weight * norm;
            self.energy += weight * norm * norm;
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            norm: self.norm + other.norm,
            energy: self.energy + other.energy,
        }
    }

    /// Mean ‖g‖.
    pub fn mean(&self) -> Option<f64> {
        share(self.norm, self.tokens)
    }
}

/// Norms of a kind of candidates, all of which are known one by one: those of known norm, and all with estimates.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateNorms {
    known: Norms,
    any: Norms,
}

impl CandidateNorms {
    /// Adds one.
    pub fn add(&mut self, candidate: &Candidate) {
        self.any.add(candidate.advantage, candidate.norm, 1.0);
        if candidate.norm.known {
            self.known.add(candidate.advantage, candidate.norm, 1.0);
        }
    }
}

/// Norms of all tokens with A ≠ 0, by class.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassNorms {
    /// What S2T takes.
    pub spurious: Norms,
    /// The other candidates.
    pub exploratory: Norms,
    /// A > 0, p ≥ τ_p.
    pub positive: Norms,
    /// A < 0, p < τ_p.
    pub negative_rare: Norms,
    /// A < 0, p ≥ τ_p.
    pub negative: Norms,
    /// Whether they are estimates from p and H.
    pub estimated: bool,
}

impl ClassNorms {
    /// Where any norm is known, only known ones count: estimates would blur what they say.
    pub fn of(
        sample: &Sample<ClaimToken>,
        rule: &CandidateRule,
        [spurious, exploratory]: [CandidateNorms; 2],
    ) -> Self {
        let estimated = !sample.tokens.iter().any(|token| token.norm.known);
        let pick = |norms: CandidateNorms| if estimated { norms.any } else { norms.known };
        let mut classes =
            Self { spurious: pick(spurious), exploratory: pick(exploratory), estimated, ..Self::default() };
        for (token, weight) in sample.weighted().filter(|(token, _)| estimated || token.norm.known) {
            let class = match (token.advantage, rule.is_rare(token.logprob)) {
                (a, false) if a > 0.0 => &mut classes.positive,
                (a, true) if a < 0.0 => &mut classes.negative_rare,
                (a, false) if a < 0.0 => &mut classes.negative,
                // Candidates are counted already, and without an advantage there is no norm.
                _ => continue,
            };
            class.add(token.advantage, token.norm, weight);
        }
        classes
    }

    /// All tokens with A ≠ 0.
    pub fn all(&self) -> Norms {
        let Self { spurious, exploratory, positive, negative_rare, negative, .. } = *self;
        spurious.plus(exploratory).plus(positive).plus(negative_rare).plus(negative)
    }

    /// The mean norm of a class over that of all.
    pub fn times_mean(&self, class: &Norms) -> Option<f64> {
        share(class.mean()?, self.all().mean()?)
    }

    /// The share of the energy that S2T takes, and how many times that of as many tokens it is.
    pub fn spurious_energy(&self) -> Option<(f64, f64)> {
        let all = self.all();
        let energy = share(self.spurious.energy, all.energy)?;
        let tokens = share(self.spurious.tokens, all.tokens)?;
        Some((energy, share(energy, tokens)?))
    }
}
