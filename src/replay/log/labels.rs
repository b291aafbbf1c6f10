//! Which responses count as correct.

use crate::analyze::PassRule;
use crate::format::number;
use crate::ingest::{Column, TokenBatch};

/// What makes a response correct.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// The user's condition.
    Condition(PassRule),
    /// A reward of two values: the higher one.
    Higher {
        /// The lower value.
        low: f32,
        /// The higher value.
        high: f32,
    },
    /// Rewards of many values, or none: better than its group, A > 0.
    Advantage,
}

impl Labels {
    /// Whether response `i` is correct; `None` where that is not known. `advantages` are its tokens'.
    pub fn of(&self, batch: &TokenBatch, i: usize, advantages: &[f32]) -> Option<bool> {
        match self {
            Self::Condition(rule) => rule.judge(&batch.responses, i),
            Self::Higher { high, .. } => {
                let reward = batch.responses.floats.get(Column::Reward)?[i];
                reward.is_finite().then_some(reward >= *high)
            }
            Self::Advantage => {
                let advantage = advantages.iter().copied().find(|a| !a.is_nan())?;
                (advantage != 0.0).then_some(advantage > 0.0)
            }
        }
    }

    /// In words, after "correct means".
    #[must_use]
    pub fn meaning(&self) -> String {
        match self {
            Self::Condition(rule) => rule.text().to_owned(),
            Self::Higher { low, high } => {
                format!("a reward of {}, not {}", number(f64::from(*high)), number(f64::from(*low)))
            }
            Self::Advantage => "better than its group (A > 0)".into(),
        }
    }
}

/// The rewards of a log, as far as they decide on labels.
#[derive(Clone, Debug, Default)]
pub struct RewardValues {
    /// Different finite values, smallest first; three stand for many.
    seen: Vec<f32>,
}

impl RewardValues {
    /// Adds the reward of response `i`.
    pub fn add(&mut self, batch: &TokenBatch, i: usize) {
        let reward = batch.responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[i]);
        if self.seen.len() < 3 && reward.is_finite() && !self.seen.contains(&reward) {
            self.seen.push(reward);
            self.seen.sort_by(f32::total_cmp);
        }
    }

    /// The higher of two values, else the advantage: a reward with parts (a bonus for the format, a
    /// penalty for the length) does not say by its sign which answer is right.
    #[must_use]
    pub fn labels(&self) -> Labels {
        match *self.seen {
            [low, high] => Labels::Higher { low, high },
            // All alike: correct where there is anything to be correct about.
            [one] if one > 0.0 => Labels::Higher { low: 0.0, high: one },
            [one] => Labels::Higher { low: one, high: one.max(0.0) + 1.0 },
            _ => Labels::Advantage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_decide_and_many_do_not() {
        let labels = |values: &[f32]| {
            let mut seen = values.to_vec();
            seen.sort_by(f32::total_cmp);
            RewardValues { seen }.labels()
        };
        // A bonus for the format makes every reward positive.
        assert_eq!(labels(&[1.1, 0.1]), Labels::Higher { low: 0.1, high: 1.1 });
        assert_eq!(labels(&[-1.0, 0.0]), Labels::Higher { low: -1.0, high: 0.0 });
        assert_eq!(labels(&[0.0, 0.2, 1.2]), Labels::Advantage);
        assert_eq!(labels(&[]), Labels::Advantage);
        assert_eq!(labels(&[1.0]), Labels::Higher { low: 0.0, high: 1.0 });
    }
}
