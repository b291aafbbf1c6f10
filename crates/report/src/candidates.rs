//! The candidates of the run with the threshold of their batch.

use std::collections::BTreeMap;

use stapo_framework::s2t::is_low_entropy;
use stapo_result::{CandidatePoint, RunAnalysis};

/// A batch: its step, and the mini-batch where batches are finer than steps.
pub type Batch = (i64, Option<i64>);

/// τ_h of every batch that has one.
#[must_use]
pub fn thresholds(analysis: &RunAnalysis) -> BTreeMap<Batch, f64> {
    let mut found = BTreeMap::new();
    for step in &analysis.steps {
        if let Some(tau_h) = step.tau_h {
            found.insert((step.step, None), tau_h);
        }
        for batch in &step.minibatches {
            if let Some(tau_h) = batch.tau_h {
                found.insert((step.step, batch.update), tau_h);
            }
        }
    }
    found
}

/// The candidates at the run's own τ_p, by batch; with each whether it is silenced.
#[must_use]
pub fn by_batch(analysis: &RunAnalysis) -> Vec<(Batch, Vec<(CandidatePoint, bool)>)> {
    let thresholds = thresholds(analysis);
    let mut batches: BTreeMap<Batch, Vec<(CandidatePoint, bool)>> = BTreeMap::new();
    for point in &analysis.candidates.points {
        if f64::from(point.logprob).exp() < analysis.s2t.tau_p {
            let batch = (point.step, point.update);
            let silenced = thresholds.get(&batch).is_some_and(|tau_h| is_low_entropy(point.entropy, *tau_h));
            batches.entry(batch).or_default().push((*point, silenced));
        }
    }
    batches.into_iter().collect()
}

/// At most `limit` of many, evenly spread.
#[must_use]
pub fn thinned<T: Copy>(items: &[T], limit: usize) -> Vec<T> {
    if items.len() <= limit {
        return items.to_vec();
    }
    (0..limit).map(|i| items[i * items.len() / limit]).collect()
}
