//! The rules of the state, each with a switch: what a rule is worth is measured by turning it off.

use serde::{Deserialize, Serialize};

/// Chance of a healthy run's being called damaged, after Bonferroni.
pub const ALPHA: f64 = 1e-3;
/// One-sided 0.1 %: the level of "rises".
pub const Z_RISES: f64 = 3.1;
/// One-sided 99 %: the bounds of the gain.
pub const Z_BOUND: f64 = 2.33;

/// Which rules hold. All do by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub struct Rules {
    /// Scatter from second differences where there are 8 steps: first differences take learning for noise.
    pub curvature: bool,
    /// A loss has to hold in the last fifth of the run.
    pub at_the_end: bool,
    /// A loss has to hold without its lowest step.
    pub without_the_lowest: bool,
    /// A part that is not named as a goal makes the run suspicious, not damaged, while the reward rises.
    pub goals: bool,
    /// Scatter beyond the groups' error on the scale of the mean instead of that of the angle.
    pub raw_scatter: bool,
    /// Above 32 values the range is from the 5th to the 95th percentile, and values are drawn in.
    pub robust_range: bool,
    /// A slice that is not logged at every step is compared between its own first and last steps.
    pub own_ends: bool,
    /// Greatest number of bins of steps; [`usize::MAX`] for none.
    pub bins: usize,
    /// From 5 steps on the tail has two or more.
    pub two_at_the_end: bool,
    /// Penalties do not judge.
    pub penalties: bool,
    /// Both sides of a redefined reward are judged apart.
    pub redefined: bool,
    /// "Not learning" needs the start of training.
    pub start: bool,
    /// At its best by the mean of the whole run instead of its start.
    pub mean_at_best: bool,
    /// A slow rise counts as learning.
    pub slow_rise: bool,
    /// Where there is one slice, it is one test.
    pub one_slice_once: bool,
    /// A slice of few groups has at least the whole run's dispersion.
    pub pooled_dispersion: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            curvature: true,
            at_the_end: true,
            without_the_lowest: true,
            goals: true,
            raw_scatter: true,
            robust_range: true,
            own_ends: true,
            bins: 32,
            two_at_the_end: true,
            penalties: true,
            redefined: true,
            start: true,
            mean_at_best: true,
            slow_rise: true,
            one_slice_once: true,
            pooled_dispersion: true,
        }
    }
}

const GOALS: [&str; 13] = [
    "correct", "acc", "answer", "pass", "solve", "success", "match", "exact", "test", "format", "valid",
    "score", "outcome",
];
const PRICES: [&str; 10] =
    ["length", "penalt", "cost", "brev", "overlong", "repet", "latency", "tokens", "turns", "calls"];
const PRICES_AT_THE_END: [&str; 2] = ["len", "kl"];

/// The final reward's name.
pub const REWARD: &str = "reward";

/// Whether a part is named as what the run is for, in letters of any case.
#[must_use]
pub fn is_goal(name: &str) -> bool {
    let name = name.to_lowercase();
    name != REWARD && GOALS.iter().any(|goal| name.contains(goal))
}

/// Whether a part is named as a price for something.
#[must_use]
pub fn is_price(name: &str) -> bool {
    let name = name.to_lowercase();
    PRICES.iter().any(|price| name.contains(price))
        || PRICES_AT_THE_END.iter().any(|price| name.ends_with(price))
}
