//! Quality on responses that no arm trains on: can the policy tell correct from wrong ones, and how
//! far has it moved.

use super::log::LoggedResponse;
use super::model::{Engine, Policy, Sequence, TokenStats};
use super::sequences::sequences;
use stapo_base::error::Result;
use stapo_base::stats::effect::cliffs_delta;
use stapo_result::replay::HoldoutMetrics;

/// The held-out responses with what the starting policy says of them.
pub struct Holdout {
    sequences: Vec<Sequence>,
    correct: Vec<Option<bool>>,
    trained: Vec<Vec<bool>>,
    start: Vec<Vec<f32>>,
    /// Metrics of the starting policy.
    pub at_start: Option<HoldoutMetrics>,
}

impl Holdout {
    /// Measures the start.
    pub fn new(responses: &[LoggedResponse], engine: &Engine, start: &Policy) -> Result<Self> {
        let mut holdout = Self {
            sequences: sequences(responses),
            correct: responses.iter().map(|r| r.correct).collect(),
            trained: responses.iter().map(|r| r.trained.clone()).collect(),
            start: Vec::new(),
            at_start: None,
        };
        if !responses.is_empty() {
            let stats = engine.measure(start, &holdout.sequences)?;
            holdout.start = stats.iter().map(|s| s.logprob.clone()).collect();
            holdout.at_start = Some(holdout.metrics(&stats, 0, None));
        }
        Ok(holdout)
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// Held-out responses that count as correct, and as wrong.
    pub fn labels(&self) -> (usize, usize) {
        let count = |label| self.correct.iter().filter(|c| **c == Some(label)).count();
        (count(true), count(false))
    }

    /// Measures a policy.
    pub fn evaluate(
        &self,
        engine: &Engine,
        policy: &Policy,
        updates: u64,
        step: Option<i64>,
    ) -> Result<HoldoutMetrics> {
        Ok(self.metrics(&engine.measure(policy, &self.sequences)?, updates, step))
    }

    fn metrics(&self, stats: &[TokenStats], updates: u64, step: Option<i64>) -> HoldoutMetrics {
        let mut scores: [Vec<f64>; 2] = Default::default();
        let (mut entropy, mut divergence, mut tokens) = (0.0, 0.0, 0.0);
        for (i, stats) in stats.iter().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            for t in (0..stats.len()).filter(|t| self.trained[i].get(*t) == Some(&true)) {
                sum += f64::from(stats.logprob[t]);
                count += 1.0;
                entropy += f64::from(stats.entropy[t]);
                divergence += k3(stats.logprob[t], self.start[i][t]);
            }
            tokens += count;
            if let (Some(correct), true) = (self.correct[i], count > 0.0) {
                scores[usize::from(correct)].push(sum / count);
            }
        }
        let [wrong, correct] = &scores;
        let mean = |v: &[f64]| (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64);
        HoldoutMetrics {
            updates,
            step,
            correct_logprob: mean(correct),
            wrong_logprob: mean(wrong),
            auc: cliffs_delta(wrong, correct).map(|delta| (delta + 1.0) / 2.0),
            entropy: entropy / f64::max(tokens, 1.0),
            kl_to_start: divergence / f64::max(tokens, 1.0),
        }
    }
}

/// k3 = r − 1 − ln r with r = π/π_start: never negative, and an estimate of KL(π_start‖π) on tokens
/// that the start would have drawn.
#[must_use]
pub fn k3(logprob: f32, start: f32) -> f64 {
    let log_ratio = f64::from(logprob) - f64::from(start);
    log_ratio.exp_m1() - log_ratio
}
