//! Quality on responses that no arm trains on: can the policy tell correct from wrong ones, and how
//! far has it moved. Each prompt counts the same, and is what intervals are made from.

use std::collections::HashMap;

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
    /// Responses of each prompt, in the order of the log.
    prompts: Vec<Vec<usize>>,
    /// Metrics of the starting policy.
    pub at_start: Option<HoldoutMetrics>,
}

/// What a policy says of the held-out responses.
pub struct Evaluation {
    /// Means over prompts.
    pub metrics: HoldoutMetrics,
    /// One a prompt, with its responses; prompts without any token to measure are left out.
    pub prompts: Vec<(u64, u64, HoldoutMetrics)>,
}

impl Holdout {
    /// Measures the start.
    pub fn new(responses: &[LoggedResponse], engine: &Engine, start: &Policy) -> Result<Self> {
        let mut holdout = Self {
            sequences: sequences(responses),
            correct: responses.iter().map(|r| r.correct).collect(),
            trained: responses.iter().map(|r| r.trained.clone()).collect(),
            start: Vec::new(),
            prompts: by_prompt(responses),
            at_start: None,
        };
        if !responses.is_empty() {
            let stats = engine.measure(start, &holdout.sequences)?;
            holdout.start = stats.iter().map(|s| s.logprob.clone()).collect();
            holdout.at_start = Some(holdout.evaluation(&stats, 0, None).metrics);
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
    ) -> Result<Evaluation> {
        Ok(self.evaluation(&engine.measure(policy, &self.sequences)?, updates, step))
    }

    fn evaluation(&self, stats: &[TokenStats], updates: u64, step: Option<i64>) -> Evaluation {
        let prompts: Vec<(u64, u64, HoldoutMetrics)> = (self.prompts.iter().enumerate())
            .filter_map(|(place, responses)| {
                let metrics = self.prompt(responses, stats, updates, step)?;
                Some((place as u64, responses.len() as u64, metrics))
            })
            .collect();
        let mean = |value: fn(&HoldoutMetrics) -> Option<f64>| {
            let values: Vec<f64> = prompts.iter().filter_map(|(_, _, metrics)| value(metrics)).collect();
            mean(&values)
        };
        let metrics = HoldoutMetrics {
            updates,
            step,
            margin: mean(|m| m.margin),
            correct_logprob: mean(|m| m.correct_logprob),
            wrong_logprob: mean(|m| m.wrong_logprob),
            auc: mean(|m| m.auc),
            entropy: mean(|m| Some(m.entropy)).unwrap_or(0.0),
            kl_to_start: mean(|m| Some(m.kl_to_start)).unwrap_or(0.0),
        };
        Evaluation { metrics, prompts }
    }

    /// One prompt; `None` without any token to measure.
    fn prompt(
        &self,
        responses: &[usize],
        stats: &[TokenStats],
        updates: u64,
        step: Option<i64>,
    ) -> Option<HoldoutMetrics> {
        let mut scores: [Vec<f64>; 2] = Default::default();
        let (mut entropy, mut divergence, mut tokens) = (0.0, 0.0, 0.0);
        for i in responses.iter().copied() {
            let stats = &stats[i];
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
        let (correct_logprob, wrong_logprob) = (mean(correct), mean(wrong));
        (tokens > 0.0).then(|| HoldoutMetrics {
            updates,
            step,
            margin: correct_logprob.zip(wrong_logprob).map(|(correct, wrong)| correct - wrong),
            correct_logprob,
            wrong_logprob,
            auc: cliffs_delta(wrong, correct).map(|delta| (delta + 1.0) / 2.0),
            entropy: entropy / tokens,
            kl_to_start: divergence / tokens,
        })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The places of the responses of each prompt: the same tokens are the same prompt, whatever the step.
fn by_prompt(responses: &[LoggedResponse]) -> Vec<Vec<usize>> {
    let mut known: HashMap<&[u32], usize> = HashMap::new();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (i, response) in responses.iter().enumerate() {
        let place = *known.entry(&response.tokens[..response.response_start]).or_insert(found.len());
        if place == found.len() {
            found.push(Vec::new());
        }
        found[place].push(i);
    }
    found
}

/// k3 = r − 1 − ln r with r = π/π_start: never negative, and an estimate of KL(π_start‖π) on tokens
/// that the start would have drawn.
#[must_use]
pub fn k3(logprob: f32, start: f32) -> f64 {
    let log_ratio = f64::from(logprob) - f64::from(start);
    log_ratio.exp_m1() - log_ratio
}
