//! How far one step's updates moved the policy: e = ln π_θ − ln π_old of trained tokens.

use super::token_loops::{at, k3};
use crate::Response;

/// e is cut there: a ratio of 10.
const CUT: f64 = 2.3;
/// Beyond this ratio no dual clip in use leaves a token with A < 0 alone.
const FAR: f64 = 10.0;
/// ln of the greatest ratio that counts.
const LARGEST: f64 = 20.0;
/// Edges of the clip, as in DAPO: beyond them a token has no gradient.
const CLIP: (f64, f64) = (0.8, 1.28);

/// The same of one response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    /// Tokens with both values.
    pub tokens: u64,
    /// Σe².
    pub squares: f64,
    /// Σ(e^e − 1 − e).
    pub k3: f64,
    /// The largest |e|.
    pub largest: f64,
    /// Gradient energy of tokens with A < 0 and a ratio above 10, and of all.
    pub far_energy: f64,
    pub energy: f64,
}

impl Moved {
    pub fn of(response: &Response<'_>, new: &[f32]) -> Self {
        let mut moved = Self::default();
        let has_advantages = response.advantages.is_some();
        let of_response = f64::from(response.advantage.unwrap_or(f32::NAN));
        for (t, (new, old)) in new.iter().zip(response.logprob).enumerate() {
            let (new, old) = (f64::from(*new), f64::from(*old));
            let e = new - old;
            if !(response.is_trained(t) && e.is_finite()) {
                continue;
            }
            let cut = e.clamp(-CUT, CUT);
            let k3 = k3(cut);
            moved.tokens += 1;
            moved.squares += e * e;
            moved.k3 += k3;
            moved.largest = moved.largest.max(e.abs());
            let advantage = if has_advantages { at(response.advantages, t) } else { of_response };
            if advantage.is_finite() && advantage != 0.0 {
                // Where it is not cut the series has the ratio already.
                let ratio = if e.abs() < CUT { 1.0 + e + k3 } else { e.min(LARGEST).exp() };
                let energy = energy(advantage, ratio, new);
                moved.energy += energy;
                if advantage < 0.0 && ratio > FAR {
                    moved.far_energy += energy;
                }
            }
        }
        moved
    }

    /// Root mean square of e.
    pub fn rms(&self) -> Option<f64> {
        (self.tokens > 0).then(|| (self.squares / self.tokens as f64).sqrt())
    }
}

/// The square of A ρ ‖∂ ln π‖, with min(1, −ln π) for the norm: within a factor of 1.6 of 1 − π, which is right enough
/// for shares of which one is a majority, and costs no exponential.
#[inline]
fn energy(advantage: f64, ratio: f64, new: f64) -> f64 {
    let is_clipped = if advantage > 0.0 { ratio > CLIP.1 } else { ratio < CLIP.0 };
    if is_clipped {
        return 0.0;
    }
    let weight = advantage * ratio * (-new).clamp(0.0, 1.0);
    weight * weight
}
