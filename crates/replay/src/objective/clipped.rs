//! The clipped surrogate of PPO, min(ρA, clip(ρ)A), with or without a dual clip, and its gradient.

use super::{MiniBatch, Term, Weighed};
use stapo_framework::token::ClipRange;

/// How a surrogate is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Clipping of the ratio.
    pub range: ClipRange,
    /// c of a dual clip: where A < 0, ℓ ≤ −cA.
    pub dual: Option<f64>,
}

/// ℓ = −min(ρA, clip(ρ, 1−low, 1+high)·A); where A < 0 and there is a dual clip, min(ℓ, −cA).
///
/// Autograd takes the gradient of the smaller branch and half of each where they are equal; inside
/// of the range both branches have the same one, outside they are equal only where A = 0.
pub fn surrogate(ratio: f64, advantage: f64, clip: Clip) -> Term {
    let bounded = ratio.clamp(1.0 - clip.range.low, 1.0 + clip.range.high);
    let clipped = clip.range.cuts(ratio, advantage);
    let term = Term {
        loss: -(ratio * advantage).min(bounded * advantage),
        slope: if clipped { 0.0 } else { -ratio * advantage },
        clipped,
    };
    match clip.dual {
        Some(c) if advantage < 0.0 => bound(term, -c * advantage),
        _ => term,
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

/// The base objective: every trained token with its logged advantage.
pub fn base(batch: &MiniBatch<'_>, clip: Clip) -> Weighed {
    Weighed::all(batch, |t| surrogate(batch.ratio(t), batch.advantage(t), clip))
}
