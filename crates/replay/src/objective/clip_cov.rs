//! Clip-Cov (arXiv 2505.22617): some tokens of high covariance get no gradient.

use super::clipped::{Clip, base};
use super::covariance::covariances;
use super::words::on_base;
use super::{MiniBatch, Objective, Term, Weighed};
use stapo_base::stats::random::draw;
use stapo_framework::rules::{Rule, covariance_picks, is_clip_covariance};

/// Some tokens of high covariance get no gradient.
pub struct ClipCov {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for ClipCov {
    fn rule(&self) -> Rule {
        Rule::ClipCov
    }

    fn describe(&self) -> String {
        on_base(Rule::ClipCov)
    }

    /// The chosen tokens stay in the denominator.
    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = base(batch, self.clip);
        let covariance = covariances(batch);
        let eligible = |t: &usize| is_clip_covariance(covariance[*t]) && !weighed.terms[*t].clipped;
        let mut tokens: Vec<usize> = batch.trained_tokens().filter(eligible).collect();
        let count = covariance_picks(batch.trained_tokens().count()).min(tokens.len());
        draw(batch.seed, &mut tokens, count);
        tokens[..count].iter().for_each(|t| weighed.terms[*t] = Term::default());
        weighed.counts.silenced = Some(count as u64);
        weighed
    }

    fn is_random(&self) -> bool {
        true
    }
}
