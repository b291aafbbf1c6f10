//! The classes of tokens, cut at the same entropy in all runs that are compared.
//!
//! A run's own taxonomy is cut at its own τ_h. Where few candidates define it, τ_h scatters from run
//! to run, and so would every class: two runs of one process would differ in what they are called.

use stapo_base::stats::quantile::select_quantile;
use stapo_framework::taxonomy::TokenClass;
use stapo_result::ComparedRun;
use stapo_result::clusters::{ClassSums, StepEntropies};

use super::fraction::Fraction;

/// The quantile of all tokens with an advantage that stands for τ_h where no run has candidates.
const FALLBACK_QUANTILE: f64 = 0.80;
/// Number of classes.
const CLASSES: usize = TokenClass::ALL.len();

/// Tokens and energy of the classes at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepClasses {
    /// Step.
    pub step: i64,
    tokens: [f64; CLASSES],
    energy: [f64; CLASSES],
}

impl StepClasses {
    /// Tokens of a class over all tokens.
    pub fn token_share(&self, class: TokenClass) -> Fraction {
        [self.tokens[class as usize], self.tokens.iter().sum()]
    }

    /// Takes its energy for what rounding left.
    pub fn forget_energy(&mut self) {
        self.energy = [0.0; CLASSES];
    }

    /// Energy of a class over all energy.
    pub fn energy_share(&self, class: TokenClass) -> Fraction {
        [self.energy[class as usize], self.energy.iter().sum()]
    }
}

/// The entropy that the classes of all runs are cut at: the median of their τ_h, moved to an edge
/// that the bins of all of them have.
pub fn common_cut(runs: &[&ComparedRun]) -> Option<f64> {
    let mut thresholds: Vec<f64> = runs.iter().filter_map(|run| run.s2t.median_tau_h).collect();
    let wanted = select_quantile(&mut thresholds, 0.5).or_else(|| quantile_of_all(runs))?;
    let clusters = runs.iter().map(|run| &run.clusters);
    let coarsest = clusters.map(|c| &c.entropy_edges).min_by_key(|edges| edges.len())?;
    let distance = |edge: &f64| (edge / wanted.max(f64::MIN_POSITIVE)).ln().abs();
    coarsest.iter().copied().filter(|edge| *edge > 0.0).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn quantile_of_all(runs: &[&ComparedRun]) -> Option<f64> {
    let mut tokens: Vec<(f64, f64)> = Vec::new();
    for clusters in runs.iter().map(|run| &run.clusters) {
        for step in &clusters.entropies {
            let counts = step.bins.iter().map(|signs| signs.iter().map(|s| s.tokens).sum::<f64>());
            tokens.extend(clusters.entropy_edges.iter().copied().zip(counts));
        }
    }
    tokens.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = FALLBACK_QUANTILE * tokens.iter().map(|t| t.1).sum::<f64>();
    let mut seen = 0.0;
    let reached = tokens.into_iter().find(|(_, count)| {
        seen += count;
        *count > 0.0 && seen >= wanted
    });
    reached.map(|(edge, _)| edge)
}

/// The classes of a run at every step, cut at `cut`.
pub fn of_run(run: &ComparedRun, cut: Option<f64>) -> Vec<StepClasses> {
    let Some(cut) = cut else { return Vec::new() };
    let clusters = &run.clusters;
    let first_high = clusters.entropy_edges.partition_point(|edge| *edge < cut);
    clusters.entropies.iter().map(|step| of_step(step, first_high)).collect()
}

fn of_step(step: &StepEntropies, first_high: usize) -> StepClasses {
    let mut found = StepClasses { step: step.step, tokens: [0.0; CLASSES], energy: [0.0; CLASSES] };
    let (low, high) = step.bins.split_at(first_high.min(step.bins.len()));
    for (bins, is_low) in [(low, true), (high, false)] {
        for (sign, advantage) in [1.0_f32, -1.0].into_iter().enumerate() {
            let mut sums = ClassSums::default();
            bins.iter().for_each(|signs| sums.merge(&signs[sign]));
            let mut set = |is_rare: bool, tokens: f64, energy: f64| {
                let class = TokenClass::code_of(advantage, is_rare, is_low);
                (found.tokens[class], found.energy[class]) = (tokens, energy);
            };
            // Rare tokens may be a sample, so they can be more than all.
            let (tokens, energy) = (sums.tokens - sums.rare_tokens, sums.energy - sums.rare_energy);
            set(false, tokens.max(0.0), energy.max(0.0));
            set(true, sums.rare_tokens, sums.rare_energy);
        }
    }
    found.tokens[TokenClass::ZeroAdvantage as usize] = step.zero;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_cut_at_an_edge() {
        let sums = |tokens: f64, rare_tokens: f64| ClassSums {
            tokens,
            energy: 2.0 * tokens,
            rare_tokens,
            rare_energy: 2.0 * rare_tokens,
        };
        let bins = vec![[sums(10.0, 1.0), sums(4.0, 0.0)], [sums(20.0, 2.0), sums(5.0, 5.0)]];
        let found = of_step(&StepEntropies { step: 3, bins, zero: 58.0 }, 1);
        use TokenClass as C;
        let share = |class: C| found.token_share(class);
        assert_eq!(share(C::PositiveHighPLowH), [9.0, 97.0]);
        assert_eq!(share(C::PositiveLowPLowH), [1.0, 97.0]);
        assert_eq!(share(C::PositiveHighPHighH), [18.0, 97.0]);
        assert_eq!(share(C::NegativeHighPHighH), [0.0, 97.0]);
        assert_eq!(share(C::NegativeLowPHighH), [5.0, 97.0]);
        assert_eq!(found.energy_share(C::PositiveLowPHighH), [4.0, 78.0]);
    }
}
