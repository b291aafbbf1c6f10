//! DGG (arXiv 2605.19425, known second hand): the base, and a gate on the gradient of lm_head.
//!
//! A batch is reused; once its lm_head gradient energy is unusually high for the run so far, that
//! gradient is dropped before the optimizer sees it, and the batch is not reused any more.

use serde::{Deserialize, Serialize};

use super::clipped::{Clip, base};
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{DGG_REUSES, DGG_THRESHOLD, Rule};

/// The base, and a gate on the gradient of lm_head.
pub struct Dgg {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Dgg {
    fn rule(&self) -> Rule {
        Rule::Dgg
    }

    fn describe(&self) -> String {
        format!(
            "dapo with up to {DGG_REUSES} updates a batch; a gradient whose lm_head energy has a z-score above {DGG_THRESHOLD} is dropped and ends the reuse"
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, self.clip)
    }

    fn passes(&self) -> usize {
        DGG_REUSES
    }

    fn gate(&self) -> Option<GradientGate> {
        Some(GradientGate { threshold: DGG_THRESHOLD })
    }
}

/// Drops gradients of unusual energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientGate {
    /// Largest z-score that passes.
    pub threshold: f64,
}

impl GradientGate {
    /// Whether a gradient of this lm_head energy passes; it counts for later ones either way. The
    /// first two always pass: there is no spread to measure them by. A dead batch (no advantage, no
    /// gradient) passes and does not count.
    pub fn admits(&self, state: &mut GateState, energy: f64) -> bool {
        if energy == 0.0 {
            return true;
        }
        let variance = state.squares / (state.count as f64 - 1.0);
        let passes = state.count < 2 || energy - state.mean <= self.threshold * variance.sqrt();
        // Welford's running mean and sum of squared deviations.
        state.count += 1;
        let difference = energy - state.mean;
        state.mean += difference / state.count as f64;
        state.squares += difference * (energy - state.mean);
        passes
    }
}

/// What a gate has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateState {
    count: u64,
    mean: f64,
    squares: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_energies_are_dropped() {
        let (gate, mut state) = (GradientGate { threshold: 1.0 }, GateState::default());
        for (energy, passes) in
            [(0.0, true), (1.0, true), (9.0, true), (5.0, true), (20.0, false), (12.0, true)]
        {
            assert_eq!(gate.admits(&mut state, energy), passes, "{energy}");
        }
        assert_eq!(state.count, 5);
        assert!((state.mean - 9.4).abs() < 1e-12 && (state.squares / 4.0 - 52.3).abs() < 1e-9);
    }
}
