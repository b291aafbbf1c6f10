//! From terms to a loss and one coefficient a token.

use super::{Mean, MiniBatch, Objective, Weighed};
use stapo_result::replay::Counts;

/// A mini-batch as its objective sees it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The loss.
    pub loss: f64,
    /// ∂loss/∂ln π of every token.
    pub coefficients: Vec<f64>,
    /// Which tokens are in the loss.
    pub kept: Vec<bool>,
    /// Which tokens clipping bounds.
    pub clipped: Vec<bool>,
    /// What the rule did.
    pub counts: Counts,
}

/// The loss of a mini-batch and its gradient; `kl_beta` weighs the k3 estimate of the divergence
/// from the starting policy, which is averaged like the rest.
#[must_use]
pub fn judge(objective: &dyn Objective, batch: &MiniBatch<'_>, kl_beta: f64) -> Judged {
    let Weighed { mut terms, kept, counts } = objective.weigh(batch);
    if let Some(start) = batch.start.filter(|_| kl_beta != 0.0) {
        for (t, term) in terms.iter_mut().enumerate().filter(|(t, _)| kept[*t]) {
            // k3 = e^d − d − 1 with d = ln π_start − ln π, so ∂k3/∂ln π = 1 − e^d.
            let d = f64::from(start[t]) - f64::from(batch.logprob[t]);
            term.loss += kl_beta * (d.exp_m1() - d);
            term.slope -= kl_beta * d.exp_m1();
        }
    }
    let scale = scales(batch, &kept, objective.mean(batch));
    let mut loss = 0.0;
    let mut coefficients = vec![0.0; terms.len()];
    for t in (0..terms.len()).filter(|t| kept[*t]) {
        loss += terms[t].loss * scale[t];
        coefficients[t] = terms[t].slope * scale[t];
    }
    let clipped = terms.iter().map(|term| term.clipped).collect();
    Judged { loss, coefficients, kept, clipped, counts }
}

/// What each token's term is multiplied with.
fn scales(batch: &MiniBatch<'_>, kept: &[bool], mean: Mean) -> Vec<f64> {
    let all = kept.iter().filter(|k| **k).count();
    let mut scales = vec![0.0; kept.len()];
    let ranges: Vec<_> = batch.bounds.windows(2).map(|w| w[0]..w[1]).collect();
    let kept_of = |range: &std::ops::Range<usize>| kept[range.clone()].iter().filter(|k| **k).count();
    let with_tokens = ranges.iter().filter(|range| kept_of(range) > 0).count();
    for range in ranges {
        let one = match mean {
            Mean::Token => all as f64,
            Mean::Sequence => (with_tokens * kept_of(&range)) as f64,
            Mean::Constant(length) => (batch.responses() * length.max(1)) as f64,
        };
        // A response without kept tokens has no term that would be divided by zero.
        scales[range].fill(if one > 0.0 { 1.0 / one } else { 0.0 });
    }
    scales
}
