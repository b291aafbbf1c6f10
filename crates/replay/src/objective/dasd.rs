//! DASD (arXiv 2605.22263, known second hand): advantages shifted by the gap to a teacher.
//!
//! A_t = A + β ω_t δ̄_t with ω = tanh((τ_ρ − H)/σ_H)·sigmoid(|δ̄| − 1). τ_ρ is the 0.2-quantile of H
//! in the response, σ_H its mean absolute deviation. δ̄ is the gap ln π_teacher − ln π, less its mean
//! over the response and over its standard deviation (our reading of "normalised"). β is not
//! published.

use super::clipped::{Clip, surrogate};
use super::words::on_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_base::stats::quantile::select_quantile;
use stapo_framework::rules::{DASD_BETA, DASD_QUANTILE, DASD_TINY, Rule};

/// Advantages shifted by the gap to a teacher.
pub struct Dasd {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Dasd {
    fn rule(&self) -> Rule {
        Rule::Dasd
    }

    fn describe(&self) -> String {
        on_base(Rule::Dasd)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut advantage: Vec<f64> = batch.advantage.iter().map(|a| f64::from(*a)).collect();
        if let Some(teacher) = batch.teacher {
            for response in 0..batch.responses() {
                let tokens: Vec<usize> = batch.trained_of(response).collect();
                for (t, shift) in tokens.iter().zip(shifts(batch, teacher, &tokens)) {
                    advantage[*t] += DASD_BETA * shift;
                }
            }
        }
        Weighed::all(batch, |t| surrogate(batch.ratio(t), advantage[t], self.clip))
    }

    fn needs_teacher(&self) -> bool {
        true
    }
}

/// ω δ̄ of the tokens of one response.
fn shifts(batch: &MiniBatch<'_>, teacher: &[f32], tokens: &[usize]) -> Vec<f64> {
    let n = tokens.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let gaps: Vec<f64> =
        tokens.iter().map(|t| f64::from(teacher[*t]) - f64::from(batch.logprob[*t])).collect();
    let entropies: Vec<f64> = tokens.iter().map(|t| f64::from(batch.entropy[*t])).collect();
    let Some(turn) = select_quantile(&mut entropies.clone(), DASD_QUANTILE) else { return Vec::new() };
    let middle = mean(&entropies);
    let spread = mean(&entropies.iter().map(|h| (h - middle).abs()).collect::<Vec<_>>()) + DASD_TINY;
    let centre = mean(&gaps);
    let squares: f64 = gaps.iter().map(|g| (g - centre) * (g - centre)).sum();
    let deviation = (squares / (n - 1.0).max(1.0)).sqrt() + DASD_TINY;
    let one = |(gap, entropy): (&f64, &f64)| {
        let gap = (gap - centre) / deviation;
        let certainty = ((turn - entropy) / spread).tanh();
        certainty / (1.0 + (1.0 - gap.abs()).exp()) * gap
    };
    gaps.iter().zip(&entropies).map(one).collect()
}
