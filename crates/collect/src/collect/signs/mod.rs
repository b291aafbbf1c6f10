//! How few tokens carry the gradient energy, which they are, and what bounds on the ratio would leave of it.

pub mod drivers;
pub mod energy_tally;
pub mod ladder;
pub mod rounding;
pub mod what_if;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::drivers::TopDrivers;
use self::energy_tally::EnergyTally;
use self::what_if::WhatIf;
use super::by_step::ByStep;
use super::kept_entropies::{KeptCount, KeptGate};
use super::pieces::Pieces;
use stapo_base::stats::wide_sum::WideSum;

/// Energies that are kept one by one, so that shares of the largest are exact.
const KEPT_ENERGIES: u64 = 1 << 20;
/// Ratios above this are beyond every bound in use (dual clips are 3 to 10).
pub const FAR_RATIO: f64 = 10.0;

/// What all workers share.
#[derive(Debug)]
pub struct SignGates {
    kept: KeptGate,
}

impl Default for SignGates {
    fn default() -> Self {
        Self { kept: KeptGate::new(KEPT_ENERGIES) }
    }
}

/// Tokens with A < 0 whose ratio the clip leaves open, beyond [`FAR_RATIO`].
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FarTokens {
    /// How many.
    pub tokens: u64,
    /// Their energy.
    pub energy: WideSum,
}

impl FarTokens {
    /// Adds other such tokens.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
    }
}

/// One step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StepSigns {
    /// How few tokens carry the energy.
    pub concentration: EnergyTally,
    /// The largest ratio; 0 where none is logged.
    pub largest_ratio: f64,
    /// The open corner.
    pub far: FarTokens,
}

impl StepSigns {
    fn merge(&mut self, other: Self) {
        self.concentration.merge(other.concentration);
        self.largest_ratio = self.largest_ratio.max(other.largest_ratio);
        self.far.merge(&other.far);
    }
}

/// What one worker collects.
#[derive(Default)]
pub struct Signs {
    steps: ByStep<StepSigns>,
    /// The largest tokens.
    pub drivers: TopDrivers,
    /// Energy under bounds on the ratio.
    pub what_if: WhatIf,
    forgot: bool,
}

impl Signs {
    /// The tally of a step.
    pub fn step(&mut self, step: i64) -> &mut StepSigns {
        self.steps.at(step)
    }

    /// Whether `more` energies may be kept one by one.
    pub fn keeps(&self, gates: &SignGates, more: usize) -> bool {
        !self.forgot && gates.kept.admit(more)
    }

    /// Drops what there is no more room for.
    pub fn settle(&mut self, gates: &SignGates) {
        if !self.forgot && !gates.kept.is_open() {
            self.forgot = true;
            self.steps.values_mut().for_each(|signs| signs.concentration.kept = Pieces::default());
        }
    }
}

/// What was collected of a part of the run.
#[derive(Serialize, Deserialize)]
pub struct SignState {
    steps: BTreeMap<i64, StepSigns>,
    kept: KeptCount,
    drivers: TopDrivers,
    what_if: WhatIf,
}

impl SignState {
    /// What all workers collected.
    pub fn gather(workers: Vec<Signs>, gates: &SignGates) -> Self {
        let (mut steps, mut drivers, mut what_if) =
            (BTreeMap::new(), TopDrivers::default(), WhatIf::default());
        for worker in workers {
            for (step, signs) in worker.steps {
                steps.entry(step).or_insert_with(StepSigns::default).merge(*signs);
            }
            drivers.merge(worker.drivers);
            what_if.merge(&worker.what_if);
        }
        Self { steps, kept: KeptCount::of(&gates.kept), drivers, what_if }
    }

    /// Adds another part.
    pub fn merge(&mut self, other: Self) {
        let Self { steps, kept, drivers, what_if } = other;
        for (step, signs) in steps {
            self.steps.entry(step).or_default().merge(signs);
        }
        self.kept.merge(kept);
        if !self.kept.is_open() {
            self.steps.values_mut().for_each(|signs| signs.concentration.settle(false));
        }
        self.drivers.merge(drivers);
        self.what_if.merge(&what_if);
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        let kept_all = self.kept.is_open();
        self.steps.values_mut().for_each(|signs| signs.concentration.settle(kept_all));
    }

    /// Lets gates keep no more of another part than both together keep.
    pub fn bound(&self, gates: &SignGates) {
        gates.kept.follow(&self.kept);
    }

    /// Whether it was collected within the same limits.
    pub fn fits(&self, gates: &SignGates) -> bool {
        self.kept.fits(&gates.kept)
    }

    /// Gives units the numbers that they have in another run.
    pub fn renumber(&mut self, unit: impl Fn(u32) -> u32) {
        self.drivers.tokens_mut().iter_mut().for_each(|token| token.place.0 = unit(token.place.0));
    }
}

/// What all workers collected.
#[derive(Default)]
pub struct CollectedSigns {
    /// By step, ascending.
    pub steps: Vec<(i64, StepSigns)>,
    /// Whether all energies were kept.
    pub kept_all: bool,
    /// The largest tokens.
    pub drivers: TopDrivers,
    /// Energy under bounds on the ratio.
    pub what_if: WhatIf,
}

impl CollectedSigns {
    /// What was collected of a step.
    pub fn of_step(&self, step: i64) -> Option<&StepSigns> {
        let at = self.steps.binary_search_by_key(&step, |(known, _)| *known).ok()?;
        Some(&self.steps[at].1)
    }

    /// What was collected of the whole run, settled.
    pub fn new(state: SignState) -> Self {
        Self {
            kept_all: state.kept.is_open(),
            steps: state.steps.into_iter().collect(),
            drivers: state.drivers,
            what_if: state.what_if,
        }
    }
}
