//! What other thresholds and other ways to choose candidates would silence.

use ndarray::Array2;

use super::ratios::{mean, share};
use crate::analyze::collect::run_sample::Sample;
use crate::analyze::collect::sample::SampledToken;
use crate::analyze::plan::Plan;
use crate::analyze::result::{Strategy, StrategyRow, Sweep, SweepCell, Totals};
use crate::framework::s2t::{CandidateRule, EntropyCut, S2tSettings, is_low_entropy};
use crate::stats::exact_sum::ExactSum;
use crate::stats::quantile::linear_quantile;

const TAU_P: [f64; 7] = [2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2];
const QUANTILES: [f64; 8] = [0.25, 0.50, 0.60, 0.70, 0.75, 0.80, 0.90, 1.0];
/// Quantile of the strategies where the mask has an absolute threshold.
const USUAL_QUANTILE: f64 = 0.75;

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
    fn add(&mut self, token: &SampledToken, part: f64, is_own: bool) {
        self.tokens += part;
        self.energy.add(part * token.energy());
        self.own += if is_own { part } else { 0.0 };
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
    rare_zero: u64,
}

impl<'a> RareTokens<'a> {
    /// Sorts the rare tokens; `rare_zero` counts those with A = 0 and p < τ_p.
    pub fn new(
        rare: &'a Sample,
        tau_h: &'a [Option<f64>],
        plan: &'a Plan,
        totals: &'a Totals,
        silenced: u64,
        rare_zero: u64,
    ) -> Self {
        let mut batches: Vec<Vec<&SampledToken>> = vec![Vec::new(); tau_h.len()];
        for token in rare.tokens.iter().filter(|t| t.advantage > 0.0) {
            batches[token.batch as usize].push(token);
        }
        batches.iter_mut().for_each(|tokens| tokens.sort_by(|a, b| a.entropy.total_cmp(&b.entropy)));
        Self { batches, all: rare, tau_h, plan, totals, silenced: silenced as f64, rare_zero }
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
                    chosen.add(token, 1.0, self.is_own(token));
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

    /// Other ways to choose the same share of the candidates.
    pub fn strategies(&self) -> Vec<StrategyRow> {
        let own = match self.plan.s2t.entropy {
            EntropyCut::Quantile(q) => q,
            EntropyCut::Absolute(_) => USUAL_QUANTILE,
        };
        let mut rows = Vec::new();
        for quantile in with(&[0.25, 0.50, 0.75, 0.90], Some(own)) {
            let mut low = Chosen::default();
            let mut high = Chosen::default();
            let mut random = Chosen::default();
            self.for_each_batch(|candidates, entropies| {
                let (below, above) =
                    (linear_quantile(entropies, quantile), linear_quantile(entropies, 1.0 - quantile));
                let (Some(below), Some(above)) = (below, above) else { return };
                for token in candidates {
                    let is_own = self.is_own(token);
                    random.add(token, quantile, is_own);
                    if is_low_entropy(token.entropy, below) {
                        low.add(token, 1.0, is_own);
                    }
                    if !is_low_entropy(token.entropy, above) {
                        high.add(token, 1.0, is_own);
                    }
                }
            });
            rows.push(self.strategy(Strategy::LowEntropy, Some(quantile), &low, self.totals.positive_energy));
            rows.push(self.strategy(
                Strategy::HighEntropy,
                Some(quantile),
                &high,
                self.totals.positive_energy,
            ));
            rows.push(self.strategy(Strategy::Random, Some(quantile), &random, self.totals.positive_energy));
        }
        let mut all = Chosen::default();
        self.for_each_batch(|candidates, _| {
            candidates.iter().for_each(|token| all.add(token, 1.0, self.is_own(token)));
        });
        rows.push(self.strategy(Strategy::Fullmask, None, &all, self.totals.positive_energy));
        rows.push(self.probability_only(&all));
        rows
    }

    fn for_each_batch(&self, mut visit: impl FnMut(&[&SampledToken], &[f32])) {
        for batch in &self.batches {
            let rare: Vec<&SampledToken> =
                batch.iter().copied().filter(|token| self.plan.rule.is_rare(token.logprob)).collect();
            let entropies: Vec<f32> = rare.iter().map(|token| token.entropy).collect();
            visit(&rare, &entropies);
        }
    }

    /// Every token with p < τ_p, whatever A and H.
    fn probability_only(&self, candidates: &Chosen) -> StrategyRow {
        let mut chosen = *candidates;
        let rare = self.all.tokens.iter().filter(|t| t.advantage < 0.0 && self.plan.rule.is_rare(t.logprob));
        rare.for_each(|token| chosen.add(token, 1.0, false));
        chosen.tokens += self.rare_zero as f64 / self.all.weight();
        let mut row = self.strategy(Strategy::ProbabilityOnly, None, &chosen, self.totals.positive_energy);
        let positive = candidates.energy.value() * self.all.weight();
        row.positive_energy_share = share(positive, self.totals.positive_energy);
        row
    }

    fn strategy(
        &self,
        strategy: Strategy,
        quantile: Option<f64>,
        chosen: &Chosen,
        positive: f64,
    ) -> StrategyRow {
        let (silenced, energy, own) = chosen.scaled(self.all.weight());
        StrategyRow {
            strategy,
            quantile,
            silenced,
            energy_share: share(energy, self.totals.gradient_energy),
            positive_energy_share: share(energy, positive),
            overlap: self.overlap(silenced, own),
            exact: self.all.is_complete(),
        }
    }
}
