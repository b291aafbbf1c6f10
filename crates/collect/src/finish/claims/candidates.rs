//! What the claims need of the candidates one by one.

use super::norms::CandidateNorms;
use crate::collect::candidates::Candidate;
use stapo_framework::s2t::CandidateRule;
use stapo_result::FlagKind;

/// What a kind of candidates adds up to.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindTally {
    /// Tokens.
    pub tokens: u64,
    /// Of these, with a value of the sampler.
    pub compared: u64,
    /// Of those, with p < τ_p for the sampler, too.
    pub rare_for_sampler: u64,
    /// Tokens whose entropy change is certified upward.
    pub up: u64,
    /// Tokens of which the change was measured.
    pub measured: u64,
    /// Sum of their changes.
    pub measured_change: f64,
    /// Their norms.
    pub norms: CandidateNorms,
}

/// What the candidates add up to.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateClaims {
    /// What S2T takes.
    pub spurious: KindTally,
    /// The others.
    pub exploratory: KindTally,
    /// The first step at which S2T takes one.
    pub first_step: Option<i64>,
}

impl CandidateClaims {
    /// Adds one; candidates come in the order of their table.
    #[allow(clippy::cast_possible_truncation)]
    pub fn add(&mut self, candidate: &Candidate, kind: FlagKind, rule: &CandidateRule) {
        let tally = match kind {
            FlagKind::Spurious => {
                let step = candidate.batch.step;
                self.first_step = Some(self.first_step.map_or(step, |first| first.min(step)));
                &mut self.spurious
            }
            FlagKind::Exploratory => &mut self.exploratory,
        };
        tally.tokens += 1;
        tally.norms.add(candidate);
        tally.up += u64::from(raises_entropy(candidate));
        if candidate.facts.engine.is_finite() {
            // The difference of two f32 gives back what was logged.
            let sampler = f64::from(candidate.logprob) - candidate.facts.engine;
            tally.compared += 1;
            tally.rare_for_sampler += u64::from(rule.is_rare(sampler as f32));
        }
        if candidate.measured_change.is_finite() {
            tally.measured += 1;
            tally.measured_change += f64::from(candidate.measured_change);
        }
    }
}

/// Whether an update with A > 0 certainly raises the entropy: p ≤ e^{−H}, else by the interval of the change.
fn raises_entropy(candidate: &Candidate) -> bool {
    candidate.logprob <= -candidate.entropy || candidate.change[0] > 0.0
}
