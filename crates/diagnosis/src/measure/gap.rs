//! The gap d = ln π_old − ln μ, taken apart. What could make it competes for the gap of the log's first step; what
//! nothing explains is the remainder.

use super::Measures;
use super::push::CLUSTERS;
use stapo_accumulate::Accumulate;
use stapo_evidence::policies::{GapSums, Start, Step, SupportHalf, SurprisalGroup};

/// A gap below this is arithmetic: bfloat16 against bfloat16 with a cache has 0.05 to 0.06.
pub const ARITHMETIC: f64 = 0.08;
/// A gap that is worth an explanation of its own.
const CLEAR: f64 = 0.1;

/// What explains the gap of the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// The trainer's own noise.
    TrainerNoise,
    /// The sampler's probabilities are renormalised over what it left.
    Truncation,
    /// The sampler's temperature.
    Temperature,
    /// A few responses have it nearly all.
    Retokenised,
    /// It is largest at the first token.
    OtherContext,
    /// None of them.
    Remainder,
}

/// The gap of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Its root mean square at the first step.
    pub first: f64,
    /// The middle one of the last third of the steps.
    pub last: f64,
    /// The largest of a step.
    pub largest: f64,
    /// At first tokens of the first step.
    pub first_token: f64,
    /// From the twentieth token on.
    pub later: f64,
    /// Mean d over mean d², of the run.
    pub lean: f64,
    /// Share of Σd² of tokens with d > 0, of the run.
    pub positive: f64,
    /// Share of the first step's Σd² in the top twentieth of its responses.
    pub top: f64,
    /// Its root mean square at the first step where ln π_old is below −4.6, below −0.7, above.
    pub by_probability: [f64; 3],
    /// In the first turn and in later ones, where there are such.
    pub by_turn: Option<[f64; 2]>,
    /// With the newest weights of a step and with older ones, over the run, where there are such.
    pub by_lag: Option<[f64; 2]>,
    /// Correlation of neighbours at the first step.
    pub neighbours: f64,
    /// Slope of d on ln p + H at the first step.
    pub support_slope: f64,
    /// Share of Σd² that it removes on the half of the groups that it was not fitted on.
    pub support_share: f64,
    /// Mean surprisal over mean entropy, less 1, of the run.
    pub excess: f64,
    /// Its z, over groups.
    pub excess_z: f64,
    /// Mean |ln μ − ln π_ref| over mean |ln π_old − ln π_ref| at the last step.
    pub to_reference: Option<f64>,
    /// The first step at which it has grown for good.
    pub grown_from: Option<i64>,
    /// What explains it.
    pub explanation: Explanation,
}

impl Gap {
    pub(super) fn of(measures: &Measures<'_>) -> Option<Self> {
        let policies = &measures.evidence.policies;
        let start = policies.start.get()?;
        let steps: Vec<(i64, &Step)> = measures.steps().filter(|(_, step)| step.gap.tokens > 0).collect();
        let (first, last) = (steps.first()?.1, steps.last()?.1);
        let (mut sum, mut squares, mut positive) = (0.0, 0.0, 0.0);
        for (_, step) in &steps {
            sum += step.gap.sum.value();
            squares += step.gap.squares.value();
            positive += step.gap.positive.value();
        }
        let tiny = f64::MIN_POSITIVE;
        let (support_slope, support_share) = support(&start.support);
        let (excess, excess_z) = excess(policies.surprisal.values());
        let [one, _, _, later] = &start.positions;
        let near = start.positions.iter().map(|part| part.neighbours.value()).sum::<f64>();
        let to_reference = last.sampler_to_reference.mean().zip(last.trainer_to_reference.mean());
        let mut gap = Self {
            first: first.gap.rms(),
            last: at_the_end(&steps),
            largest: steps.iter().map(|(_, step)| step.gap.rms()).fold(0.0, f64::max),
            first_token: one.rms(),
            later: later.rms(),
            lean: sum / squares.max(tiny),
            positive: positive / squares.max(tiny),
            top: top_share(start),
            by_probability: start.by_probability.map(|sums| sums.rms()),
            by_turn: both(start.by_turn),
            by_lag: both(by_lag(measures)),
            neighbours: near / first.gap.squares.value().max(tiny),
            support_slope,
            support_share,
            excess,
            excess_z,
            to_reference: to_reference.map(|(sampler, trainer)| sampler / trainer.max(tiny)),
            grown_from: grown_from(&steps),
            explanation: Explanation::Remainder,
        };
        gap.explanation = gap.explain(measures.agreement().is_broken());
        Some(gap)
    }

    fn explain(&self, is_noisy: bool) -> Explanation {
        // What was left out had all of the missing probability: nothing that was drawn is likelier for the trainer.
        let is_truncated = self.lean < -1.0 && self.positive < 0.05;
        let is_tempered =
            self.first > ARITHMETIC && self.support_share > 0.5 && self.support_slope.abs() > 0.15;
        // A twentieth of the responses has half of it: most were encoded to the same tokens again.
        let is_retokenised = self.top > 0.5 && self.first > CLEAR;
        // A context that differs is told apart best where nothing of the response is known.
        let is_other = self.first > CLEAR && self.first_token > CLEAR && self.first_token > 1.4 * self.later;
        match () {
            () if is_noisy => Explanation::TrainerNoise,
            () if is_truncated => Explanation::Truncation,
            () if is_tempered => Explanation::Temperature,
            () if is_retokenised => Explanation::Retokenised,
            () if is_other => Explanation::OtherContext,
            () => Explanation::Remainder,
        }
    }

    /// Whether it has grown threefold, beyond what a lag of a step or two makes, and not come back.
    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.last > GROWN * self.first && self.last > FAR && self.last > 0.5 * self.largest
    }
}

/// The middle one of the last third of the steps: where the lag is one step or two by turns, a single one says little.
fn at_the_end(steps: &[(i64, &Step)]) -> f64 {
    let last = &steps[steps.len() - steps.len().div_ceil(3)..];
    let mut sizes: Vec<f64> = last.iter().map(|(_, step)| step.gap.rms()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

const GROWN: f64 = 3.0;
/// ln 1.28, the edge of the usual clip: a typical ratio beyond it leaves an update nothing to go by.
pub const EDGE: f64 = 0.247;
/// A root mean square of 0.15: a healthy lag of one step reaches 0.1, with a k3 of 0.015 at most.
pub const FAR: f64 = 0.15;

/// The first step from which on the gap stays grown.
fn grown_from(steps: &[(i64, &Step)]) -> Option<i64> {
    let first = steps.first()?.1.gap.rms();
    let is_grown = |gap: &GapSums| gap.rms() > GROWN * first && gap.rms() > FAR;
    steps.iter().rev().take_while(|(_, step)| is_grown(&step.gap)).last().map(|(step, _)| *step)
}

/// Slope on ln p + H, and the share of Σd² that the slope of one half of the groups removes on the other.
fn support(halves: &[SupportHalf; 2]) -> (f64, f64) {
    let sums = halves.map(|half| [half.product.value(), half.support.value(), half.squares.value()]);
    let slope = |[product, support, _]: [f64; 3]| if support > 0.0 { product / support } else { 0.0 };
    let removed =
        |slope: f64, [product, support, _]: [f64; 3]| 2.0 * slope * product - slope * slope * support;
    let [a, b] = sums;
    let both = [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    // One group alone has no other half to be held against.
    let is_split = a[1] > 0.0 && b[1] > 0.0;
    let total =
        if is_split { removed(slope(a), b) + removed(slope(b), a) } else { removed(slope(both), both) };
    (slope(both), total / both[2].max(f64::MIN_POSITIVE))
}

/// Mean surprisal over mean entropy, less 1; and the z of their difference with errors clustered by group.
fn excess<'a>(groups: impl Iterator<Item = &'a SurprisalGroup> + Clone) -> (f64, f64) {
    let (mut tokens, mut excess, mut entropy) = (0.0, 0.0, 0.0);
    let enough = groups.clone().nth(CLUSTERS - 1).is_some();
    for group in groups.clone() {
        tokens += group.tokens as f64;
        excess += group.excess.value();
        entropy += group.entropy.value();
    }
    if entropy <= 0.0 {
        return (0.0, 0.0);
    }
    let mean = excess / tokens;
    let variance: f64 = groups.map(|group| (group.excess.value() - mean * group.tokens as f64).powi(2)).sum();
    (excess / entropy, if enough && variance > 0.0 { excess / variance.sqrt() } else { 0.0 })
}

/// The root mean squares of two, where both have tokens.
fn both(sums: [GapSums; 2]) -> Option<[f64; 2]> {
    sums.iter().all(|sums| sums.tokens > 0).then(|| sums.map(|sums| sums.rms()))
}

/// The gap with the newest weights of each step and with older ones.
fn by_lag(measures: &Measures<'_>) -> [GapSums; 2] {
    let mut lags = [GapSums::default(); 2];
    let policies = &measures.evidence.policies;
    for ((step, version), sums) in &policies.versions {
        let newest = policies.steps.get(step).and_then(|step| step.newest.0);
        lags[usize::from(newest != Some(*version))].merge(*sums);
    }
    lags
}

/// Share of Σd² in the top twentieth of the first step's responses.
fn top_share(start: &Start) -> f64 {
    let mut squares: Vec<f64> = start.responses.values().map(|response| response.squares.value()).collect();
    squares.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = squares.iter().sum();
    let top: f64 = squares[..(squares.len() / 20).max(1).min(squares.len())].iter().sum();
    if total > 0.0 { top / total } else { 0.0 }
}
