//! Costs that grew while the reward that they are taken off rose all the same: longer responses that are right more
//! often. By the run's own weights that was worth it: no damage.
//!
//! Statistic: lasting changes (`stats::sustained`). Threshold: the reward rose for good and did not fall, and so did
//! what is right (where nothing says it, all other parts): a reward that rises by something else is gamed.
//! A cost is written either way: as what the reward falls with (`costs`), or as a part that is never above 0.

use crate::signals::series::{Role, Series};
use crate::words::measured;
use stapo_base::stats::sustained::Change;
use stapo_result::{Damage, SignalName};

/// A cost that grew and was worth it.
#[derive(Clone, Debug)]
pub struct Price {
    /// How it grew.
    pub cost: Damage,
    /// The rise of the reward.
    pub gain: Change,
}

impl Price {
    /// In words.
    pub fn sentence(&self) -> String {
        let [before, after, began, ended] =
            [self.cost.before, self.cost.after, self.gain.before, self.gain.after].map(|v| measured(v, 2));
        let word = if self.cost.after < self.cost.before { "fell" } else { "rose" };
        format!(
            "{} {word} {before} → {after}, and the reward, which is less by it, rose {began} → {ended} all the same: the \
             price of what was learned, which is no damage",
            self.cost.signal
        )
    }
}

/// The rise of the reward that costs may have been paid for; `only_rose` is how a signal rose that did nothing else.
pub fn gain(
    series: &[Series],
    right: Option<&SignalName>,
    only_rose: &dyn Fn(&SignalName) -> Option<Change>,
) -> Option<Change> {
    let gain = only_rose(&SignalName::Reward)?;
    let mut bought = series.iter().filter(|s| match right {
        Some(right) => s.name == *right,
        None => s.role == Role::Goal && s.name.is_part() && !is_taken_off(s),
    });
    let first = bought.next()?;
    std::iter::once(first).chain(bought).all(|s| only_rose(&s.name).is_some()).then_some(gain)
}

/// Those of the damages that are costs.
pub fn taken_off(damage: &[Damage], series: &[Series]) -> Vec<Damage> {
    let is_cost = |damage: &&Damage| series.iter().any(|s| s.name == damage.signal && is_taken_off(s));
    damage.iter().filter(is_cost).cloned().collect()
}

fn is_taken_off(series: &Series) -> bool {
    let never_above_0 = series.range.is_some_and(|[_, high, _]| high <= 0.0);
    series.role == Role::Cost || series.role == Role::Goal && series.name.is_part() && never_above_0
}
