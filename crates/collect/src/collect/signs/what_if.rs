//! What bounds on the ratio would have left of the energy.

use stapo_base::stats::wide_sum::WideSum;

/// A bound on the ratio ρ = π_θ/π_old.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RatioBound {
    /// Where A < 0, tokens with ρ above this have no gradient.
    DualClip(f64),
    /// No token weighs more than this times its advantage.
    Cap(f64),
}

impl RatioBound {
    /// The bounds that are tried.
    pub const TRIED: [Self; 4] = [Self::DualClip(3.0), Self::DualClip(10.0), Self::Cap(2.0), Self::Cap(10.0)];
    /// Ratios up to this are left alone by all of them.
    pub const LEAST: f64 = 2.0;

    /// The name in `summary.json`.
    pub fn name(self) -> String {
        match self {
            Self::DualClip(c) => format!("dual_clip_{c}"),
            Self::Cap(c) => format!("ratio_cap_{c}"),
        }
    }

    /// What is left of the energy of a token.
    fn left(self, energy: f64, ratio: f64, advantage: f32) -> f64 {
        match self {
            Self::DualClip(c) if advantage < 0.0 && ratio > c => 0.0,
            Self::Cap(c) if ratio > c => energy * (c / ratio) * (c / ratio),
            _ => energy,
        }
    }
}

/// Energy and squares of a response under each bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounded([[f64; 2]; RatioBound::TRIED.len()]);

impl Bounded {
    /// Adds a block that no bound touches.
    pub fn add_untouched(&mut self, energy: f64, squares: f64) {
        for sums in &mut self.0 {
            sums[0] += energy;
            sums[1] += squares;
        }
    }

    /// Adds a token.
    pub fn add(&mut self, energy: f64, ratio: f64, advantage: f32) {
        for (bound, sums) in RatioBound::TRIED.into_iter().zip(&mut self.0) {
            let left = bound.left(energy, ratio, advantage);
            sums[0] += left;
            sums[1] += left * left;
        }
    }
}

/// Energy and squares of the run under each bound.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct WhatIf([[WideSum; 2]; RatioBound::TRIED.len()]);

impl WhatIf {
    /// Adds a response.
    pub fn add(&mut self, response: &Bounded) {
        for (sums, more) in self.0.iter_mut().zip(&response.0) {
            sums.iter_mut().zip(more).for_each(|(sum, term)| sum.add(*term));
        }
    }

    /// Adds the responses of another worker.
    pub fn merge(&mut self, other: &Self) {
        for (sums, more) in self.0.iter_mut().zip(&other.0) {
            sums.iter_mut().zip(more).for_each(|(sum, term)| sum.merge(term));
        }
    }

    /// Every bound with the Σ‖g‖² and Σ‖g‖⁴ that it leaves.
    pub fn left(&self) -> impl Iterator<Item = (RatioBound, f64, f64)> {
        RatioBound::TRIED.into_iter().zip(&self.0).map(|(bound, [e, s])| (bound, e.value(), s.value()))
    }
}
