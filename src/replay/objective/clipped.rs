//! The clipped surrogate of PPO, min(ρA, clip(ρ)A), and its gradient.

use super::{MiniBatch, Term, Weighed};
use crate::framework::token::ClipRange;

/// ℓ = −min(ρA, clip(ρ, 1−low, 1+high)·A).
///
/// Autograd takes the gradient of the smaller branch and half of each where they are equal; inside
/// of the range both branches have the same one, outside they are equal only where A = 0.
pub fn surrogate(ratio: f64, advantage: f64, clip: ClipRange) -> Term {
    let bounded = ratio.clamp(1.0 - clip.low, 1.0 + clip.high);
    let clipped = clip.cuts(ratio, advantage);
    Term {
        loss: -(ratio * advantage).min(bounded * advantage),
        slope: if clipped { 0.0 } else { -ratio * advantage },
        clipped,
    }
}

/// The base objective: every trained token with its logged advantage.
pub fn base(batch: &MiniBatch<'_>, clip: ClipRange) -> Weighed {
    Weighed::all(batch, |t| surrogate(batch.ratio(t), batch.advantage(t), clip))
}
