//! Rewards of groups, for advantages that the log does not hold.

use std::collections::HashMap;

use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;

/// What keeps a group's spread from being zero.
const TINY: f64 = 1e-6;

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

/// Rewards of all groups, by step.
#[derive(Debug, Default)]
pub struct GroupRewards {
    groups: HashMap<(i64, Id), Sums>,
}

impl GroupRewards {
    /// Adds a response, where it has a reward and a group.
    pub fn add(&mut self, batch: &TokenBatch, i: usize) {
        let Some(((step, group), reward)) = key(batch, i) else { return };
        let sums = self.groups.entry((step, group)).or_default();
        sums.count += 1.0;
        sums.sum += reward;
        sums.squares += reward * reward;
    }

    /// R − mean of the group, where the group has several responses.
    pub fn centred(&self, batch: &TokenBatch, i: usize) -> Option<f64> {
        let (key, reward) = key(batch, i)?;
        let sums = self.groups.get(&key).filter(|s| s.count > 1.0)?;
        Some(reward - sums.sum / sums.count)
    }

    /// (R − mean)/(std + 1e-6), the spread over n − 1.
    pub fn advantage(&self, batch: &TokenBatch, i: usize) -> Option<f64> {
        let centred = self.centred(batch, i)?;
        let sums = self.groups.get(&key(batch, i)?.0)?;
        let variance = (sums.squares - sums.sum * sums.sum / sums.count) / (sums.count - 1.0);
        Some(centred / (variance.max(0.0).sqrt() + TINY))
    }
}

fn key(batch: &TokenBatch, i: usize) -> Option<((i64, Id), f64)> {
    let reward = f64::from(batch.responses.floats.get(Column::Reward)?[i]);
    let group = batch.ids(Column::GroupId)?[i].clone();
    (reward.is_finite() && group != Id::Missing).then_some(((batch.responses.step[i], group), reward))
}
