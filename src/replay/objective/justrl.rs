//! JustRL: the base with a dual clip, which bounds the loss of tokens with A < 0.

use super::clipped::surrogate;
use super::{MiniBatch, Objective, Term, Weighed};
use crate::framework::rules::Rule;
use crate::framework::token::ClipRange;

/// See the module.
pub struct JustRl {
    /// Clipping.
    pub clip: ClipRange,
    /// c: ℓ ≤ −cA where A < 0.
    pub dual_clip: f64,
}

impl Objective for JustRl {
    fn rule(&self) -> Rule {
        Rule::JustRl
    }

    fn describe(&self) -> String {
        format!("dapo, and where A < 0 the loss is at most −{}·A (dual clip)", self.dual_clip)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let term = surrogate(batch.ratio(t), batch.advantage(t), self.clip);
            if batch.advantage(t) < 0.0 { bound(term, -self.dual_clip * batch.advantage(t)) } else { term }
        })
    }
}

/// min(ℓ, bound); autograd gives each of two equal arguments half of the gradient.
fn bound(term: Term, bound: f64) -> Term {
    if term.loss < bound {
        term
    } else if term.loss > bound {
        Term { loss: bound, slope: 0.0, clipped: true }
    } else {
        Term { slope: term.slope / 2.0, ..term }
    }
}
