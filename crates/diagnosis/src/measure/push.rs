//! What the last update of a step moved the policy by: e = ln π_θ − ln π_old regressed on the advantage, on the way back
//! to the reference, ln π_ref − ln π_old, and on how rare the token is beyond its entropy, −(ln p + H).

use super::fit::fit;
use stapo_evidence::policies::Policies;

/// Below this many tokens there is nothing to fit.
const TOKENS: u64 = 500;
/// Errors clustered by fewer groups are too small, and 0 with one.
pub const CLUSTERS: usize = 10;

/// A slope and its z, with errors clustered by group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The slope.
    pub value: f64,
    /// Over its standard error.
    pub z: f64,
}

/// Slopes of the move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// On the advantage.
    pub advantage: Option<Slope>,
    /// On ln π_ref − ln π_old.
    pub reference: Option<Slope>,
    /// On −(ln p + H).
    pub entropy: Option<Slope>,
}

impl Push {
    pub(super) fn of(policies: &Policies) -> Option<Self> {
        let first = *policies.steps.keys().next()?;
        let (update, groups) = policies.last_update()?;
        // The policy is its reference at the first step: nothing is pulled there.
        let groups: Vec<_> =
            groups.values().filter(|group| group.step.0.is_some_and(|step| step > first)).collect();
        let tokens: u64 = groups.iter().map(|group| group.tokens).sum();
        if update < 1 || tokens <= TOKENS || groups.len() < CLUSTERS {
            return None;
        }
        let sums: Vec<_> = groups.iter().map(|group| (group.products(), group.with_move())).collect();
        let fit = fit(&sums)?;
        let slope = |i: usize| {
            let (value, error) = (fit.slopes[i], fit.errors[i]);
            (value.is_finite() && error > 0.0).then(|| Slope { value, z: value / error })
        };
        Some(Self { advantage: slope(1), reference: slope(2), entropy: slope(3) })
    }
}
