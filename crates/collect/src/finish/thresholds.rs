//! τ_h of every batch.

use rayon::prelude::*;

use super::quantiles::entropy_quantiles;
use super::second_look::{self, LookAgain, quantile_of_kept};
use crate::collect::Collected;
use crate::collect::tally::BatchTally;
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_base::stats::quantile::select_quantile;
use stapo_framework::s2t::{EARLY_QUANTILE, EntropyCut, Population};
use stapo_result::EntropyQuantiles;

/// τ_h of every batch, and where the taxonomy splits it.
pub struct Thresholds {
    /// τ_h of each batch; `None` where nothing defines one.
    pub tau_h: Vec<Option<f64>>,
    /// τ_h, or what stands for it in the taxonomy.
    pub split: Vec<f64>,
    /// Median of all τ_h.
    pub median: Option<f64>,
    /// The 0.80-quantile over all tokens of each batch: the early preset's τ_h.
    pub early: Vec<Option<f64>>,
    /// Whether `early` is exact.
    pub early_exact: bool,
    /// Entropies of each batch.
    pub quantiles: Vec<Option<EntropyQuantiles>>,
}

impl Thresholds {
    /// Finds the thresholds; needs another look at the log only for a quantile over more tokens
    /// than could be kept.
    pub fn find(look: &dyn LookAgain, plan: &Plan, collected: &Collected) -> Result<Self> {
        let Collected { batches, kept_all, sortable, .. } = collected;
        let (kept_all, sortable) = (*kept_all, *sortable);
        let tau_h = match plan.s2t.entropy {
            EntropyCut::Absolute(nats) => vec![Some(nats); batches.len()],
            EntropyCut::Quantile(q) => match plan.s2t.population {
                Population::Candidates => batches
                    .par_iter()
                    .map(|(_, t)| plan.s2t.threshold(&mut t.candidate_entropies.clone()))
                    .collect(),
                population if kept_all => {
                    let signs = second_look::signs_of(population);
                    let of = |t: &BatchTally| match population {
                        Population::All => quantile_of_kept(t.kept.all(), &t.histogram, signs, q),
                        _ => quantile_of_kept(t.kept.positive(), &t.histogram, signs, q),
                    };
                    batches.par_iter().map(|(_, tally)| of(tally)).collect()
                }
                _ => second_look::quantiles(look, plan, batches, q)?,
            },
        };
        let is_early = plan.s2t.population == Population::All
            && plan.s2t.entropy == EntropyCut::Quantile(EARLY_QUANTILE);
        let quantiles: Vec<Option<EntropyQuantiles>> =
            batches.par_iter().map(|(_, tally)| entropy_quantiles(tally, sortable)).collect();
        let early: Vec<Option<f64>> = match is_early {
            true => tau_h.clone(),
            false => quantiles.iter().map(|quantiles| Some(quantiles.as_ref()?.q80)).collect(),
        };
        let mut known: Vec<f64> = tau_h.iter().flatten().copied().collect();
        let median = select_quantile(&mut known, 0.5);
        let split = tau_h.iter().zip(&early).map(|(tau, early)| tau.or(median).or(*early).unwrap_or(0.0));
        Ok(Self {
            split: split.collect(),
            tau_h,
            median,
            early,
            early_exact: is_early || sortable,
            quantiles,
        })
    }
}
