//! The paper's claims, checked on the run at hand: what is measured is here and in the files of this folder, what it
//! says in `rows`.

mod candidates;
mod norms;
mod relations;
mod rows;

pub use self::candidates::CandidateClaims;
pub use self::norms::ClassNorms;
pub use self::relations::NormRelations;
pub use self::rows::{Facts, rows};

use super::ratios::share;
use super::thresholds::Thresholds;
use crate::collect::Collected;
use stapo_framework::s2t::is_low_entropy;
use stapo_result::{SpuriousTokens, StepRow};

/// What the tokens that S2T takes are to the update.
pub fn spurious_tokens(candidates: &CandidateClaims, classes: &ClassNorms) -> SpuriousTokens {
    let CandidateClaims { spurious, exploratory, first_step } = candidates;
    let compared = spurious.compared + exploratory.compared;
    let rare = spurious.rare_for_sampler + exploratory.rare_for_sampler;
    let energy = classes.spurious_energy();
    SpuriousTokens {
        candidates_compared: compared,
        candidates_rare_for_sampler: share(rare as f64, compared as f64),
        rare_for_sampler: share(spurious.rare_for_sampler as f64, spurious.compared as f64),
        energy_share: energy.map(|(energy, _)| energy),
        energy_over_tokens: energy.map(|(_, times)| times),
        first_step: *first_step,
    }
}

/// The share of the tokens that S2T takes whose entropy is below the median of their step.
pub fn below_median(collected: &Collected, thresholds: &Thresholds, steps: &[StepRow]) -> Option<f64> {
    let (mut below, mut all) = (0_u64, 0_u64);
    for ((key, tally), tau_h) in collected.batches.iter().zip(&thresholds.tau_h) {
        let step = steps.binary_search_by_key(&key.step, |row| row.step).ok().map(|at| &steps[at]);
        let Some((tau_h, quantiles)) = (*tau_h).zip(step.and_then(|row| row.entropy_quantiles)) else {
            continue;
        };
        for entropy in tally.candidate_entropies.iter().filter(|h| is_low_entropy(**h, tau_h)) {
            all += 1;
            below += u64::from(f64::from(*entropy) < quantiles.q50);
        }
    }
    share(below as f64, all as f64)
}
