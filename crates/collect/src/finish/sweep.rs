//! What other thresholds would silence.

use ndarray::Array2;

use super::ratios::{mean, share};
use crate::collect::run_sample::Sample;
use crate::collect::sample::SampledToken;
use crate::plan::Plan;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::quantile::linear_quantile;
use stapo_framework::s2t::{CandidateRule, EntropyCut, S2tSettings, is_low_entropy};
use stapo_result::{Sweep, SweepCell, Totals};

const TAU_P: [f64; 7] = [2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2];
const QUANTILES: [f64; 8] = [0.25, 0.50, 0.60, 0.70, 0.75, 0.80, 0.90, 1.0];

fn rule_of(tau_p: f64) -> CandidateRule {
    S2tSettings { tau_p, ..S2tSettings::v5() }.rule()
}

fn with(grid: &[f64], value: Option<f64>) -> Vec<f64> {
    let mut grid = grid.to_vec();
    grid.extend(value);
    grid.sort_by(f64::total_cmp);
    grid.dedup();
    grid
}

/// Tokens of one choice: how many, their energy, how many of them the run's own mask takes.
#[derive(Clone, Copy, Default)]
struct Chosen {
    tokens: f64,
    energy: ExactSum,
    own: f64,
}

impl Chosen {
    fn add(&mut self, token: &SampledToken, is_own: bool) {
        self.tokens += 1.0;
        self.energy.add(token.energy());
        self.own += if is_own { 1.0 } else { 0.0 };
    }

    fn scaled(&self, weight: f64) -> (f64, f64, f64) {
        (self.tokens * weight, self.energy.value() * weight, self.own * weight)
    }
}

/// The rare tokens with A > 0 of every batch, by entropy.
pub struct RareTokens<'a> {
    batches: Vec<Vec<&'a SampledToken>>,
    all: &'a Sample,
    tau_h: &'a [Option<f64>],
    plan: &'a Plan,
    totals: &'a Totals,
    silenced: f64,
}

impl<'a> RareTokens<'a> {
    /// Sorts the rare tokens.
    pub fn new(
        rare: &'a Sample,
        tau_h: &'a [Option<f64>],
        plan: &'a Plan,
        totals: &'a Totals,
        silenced: u64,
    ) -> Self {
        let mut batches: Vec<Vec<&SampledToken>> = vec![Vec::new(); tau_h.len()];
        for token in rare.tokens.iter().filter(|t| t.advantage > 0.0) {
            batches[token.batch as usize].push(token);
        }
        batches.iter_mut().for_each(|tokens| tokens.sort_by(|a, b| a.entropy.total_cmp(&b.entropy)));
        Self { batches, all: rare, tau_h, plan, totals, silenced: silenced as f64 }
    }

    fn is_own(&self, token: &SampledToken) -> bool {
        let tau_h = self.tau_h[token.batch as usize];
        let silenced = |t| self.plan.rule.is_silenced(token.logprob, token.entropy, token.advantage, t);
        tau_h.is_some_and(silenced)
    }

    fn overlap(&self, chosen: f64, own: f64) -> Option<f64> {
        share(own, chosen + self.silenced - own)
    }

    /// τ_p × q, thresholds taken over the candidates of a batch.
    pub fn sweep(&self) -> Sweep {
        let own_quantile = match self.plan.s2t.entropy {
            EntropyCut::Quantile(q) => Some(q),
            EntropyCut::Absolute(_) => None,
        };
        let largest = self.plan.rare_below;
        let tau_ps: Vec<f64> =
            with(&TAU_P, Some(self.plan.s2t.tau_p)).into_iter().filter(|t| *t <= largest).collect();
        let quantiles = with(&QUANTILES, own_quantile);
        let cells: Vec<SweepCell> =
            tau_ps.iter().flat_map(|tau_p| self.sweep_row(*tau_p, &quantiles)).collect();
        // As many as the shape asks for: a row has a cell for each quantile.
        let cells = Array2::from_shape_vec((tau_ps.len(), quantiles.len()), cells).unwrap_or_default();
        Sweep {
            tau_p: tau_ps,
            quantile: quantiles,
            cells,
            exact: self.all.is_complete(),
            sampling_rate: 1.0 / self.all.weight(),
        }
    }

    fn sweep_row(&self, tau_p: f64, quantiles: &[f64]) -> Vec<SweepCell> {
        let rule = rule_of(tau_p);
        let mut chosen = vec![Chosen::default(); quantiles.len()];
        let mut candidates = 0.0;
        for batch in &self.batches {
            let rare: Vec<&SampledToken> =
                batch.iter().copied().filter(|token| rule.is_rare(token.logprob)).collect();
            let entropies: Vec<f32> = rare.iter().map(|token| token.entropy).collect();
            candidates += rare.len() as f64;
            for (quantile, chosen) in quantiles.iter().zip(&mut chosen) {
                let Some(tau_h) = linear_quantile(&entropies, *quantile) else { continue };
                for token in rare.iter().take_while(|token| is_low_entropy(token.entropy, tau_h)) {
                    chosen.add(token, self.is_own(token));
                }
            }
        }
        let weight = self.all.weight();
        let cell = |(quantile, chosen): (&f64, &Chosen)| {
            let (silenced, energy, own) = chosen.scaled(weight);
            SweepCell {
                tau_p,
                quantile: *quantile,
                candidates: candidates * weight,
                silenced,
                fraction: mean(silenced, self.totals.tokens).unwrap_or(0.0),
                energy_share: share(energy, self.totals.gradient_energy),
                positive_energy_share: share(energy, self.totals.positive_energy),
                overlap: self.overlap(silenced, own),
                exact: self.all.is_complete(),
            }
        };
        quantiles.iter().zip(&chosen).map(cell).collect()
    }
}
