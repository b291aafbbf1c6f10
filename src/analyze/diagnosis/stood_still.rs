//! Runs that did not learn: nothing is damaged, and nothing else happened either.
//!
//! Statistic: lasting changes of everything that says how well responses do, and of entropy and length
//! (`stats::sustained`); the distance from the reference at the end, where it is logged.
//! Threshold: none of them changed, although a noticeable change of the reward would have been found; the policy is
//! nearer to its reference than the clip lets a single update take it; and there was something left to learn.

use super::damage::NOTICED;
use super::patient::Patient;
use super::signal::Role;
use super::signals::REWARD;
use super::words::measured;
use crate::stats::sustained::smallest_found;

/// Rewards that lie within this part of the range of single responses of its upper end leave nothing to learn.
const NEAR_CEILING: f64 = 0.1;

/// What was looked at in a run that did not learn.
#[derive(Clone, Copy, Debug)]
pub struct StoodStill {
    /// The change of the reward from one half of the steps to the other that would have been found.
    pub smallest: f64,
    /// k3 to the reference at the end.
    pub from_reference: Option<f64>,
}

impl StoodStill {
    /// Whether a run is such a one.
    pub fn of(patient: &Patient<'_>) -> Option<Self> {
        let judged = |name: &str| {
            let role = patient.series(name).map(|series| series.role);
            role.is_some_and(|role| role != Role::Sign) || name == "length"
        };
        if patient.changes.found.iter().any(|(name, _)| judged(name)) {
            return None;
        }
        let reward = patient.series(REWARD)?;
        let [low, high, deviation] = reward.range?;
        if high - reward.end()? <= NEAR_CEILING * (high - low) {
            return None;
        }
        let smallest = smallest_found(&reward.points).filter(|smallest| *smallest <= NOTICED * deviation)?;
        let from_reference = patient.series("reference_k3").and_then(|series| series.end());
        let is_near = from_reference.is_none_or(|k3| k3 < patient.clip_edge());
        is_near.then_some(Self { smallest, from_reference })
    }

    /// In words.
    pub fn sentence(&self) -> String {
        let near = match self.from_reference {
            Some(k3) => {
                format!(", and the policy is where its reference is (k3 {} at the end)", measured(k3, 3))
            }
            None => String::new(),
        };
        format!(
            "It did not learn: neither the reward nor entropy nor length changed for good{near}; a change of the reward by \
             {} between the halves of the run would have been found. Look at the learning rate, at the weight of a KL \
             term, and whether new weights reach the sampler.",
            measured(self.smallest, 2)
        )
    }
}
