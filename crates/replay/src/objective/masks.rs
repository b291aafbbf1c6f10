//! The S2T mask of a mini-batch, which several objectives use or measure themselves against.

use super::MiniBatch;
use stapo_framework::s2t::S2tSettings;
use stapo_result::replay::Counts;

/// Candidates and silenced tokens of a mini-batch.
pub struct S2tMask {
    /// A > 0 and p < τ_p.
    pub candidates: Vec<usize>,
    /// Those below τ_h.
    pub silenced: Vec<usize>,
    /// τ_h.
    pub tau_h: Option<f64>,
}

impl S2tMask {
    /// The mask of the current policy.
    pub fn of(batch: &MiniBatch<'_>, settings: &S2tSettings) -> Self {
        let rule = settings.rule();
        let (logprob, advantage) = (batch.logprob, batch.advantage);
        let population = batch.trained_tokens().filter(|t| rule.in_population(logprob[*t], advantage[*t]));
        let mut entropies: Vec<f32> = population.map(|t| batch.entropy[t]).collect();
        let tau_h = settings.threshold(&mut entropies);
        let candidates: Vec<usize> =
            batch.trained_tokens().filter(|t| rule.is_candidate(logprob[*t], advantage[*t])).collect();
        let is_silenced = |t: &usize| {
            tau_h.is_some_and(|tau| rule.is_silenced(logprob[*t], batch.entropy[*t], advantage[*t], tau))
        };
        Self { silenced: candidates.iter().copied().filter(is_silenced).collect(), candidates, tau_h }
    }

    /// Counts for a result, with what was silenced instead.
    pub fn counts(&self, silenced: usize) -> Counts {
        Counts {
            candidates: Some(self.candidates.len() as u64),
            silenced: Some(silenced as u64),
            tau_h: self.tau_h,
            ..Counts::default()
        }
    }
}
