//! Runs that did not learn: nothing is damaged, and nothing became better either.
//!
//! Statistic: lasting changes of everything that says how well responses do, and of entropy and length
//! (`stats::sustained`); the distance from the reference at the end, where it is logged.
//! Threshold: neither the reward nor what it is made of changed, although a noticeable change of the reward would have been
//! found, and there was something left to learn. The policy stood still, too, where entropy and length did not change and
//! it is nearer to its reference than the clip lets a single update take it.

use crate::damage::changes::NOTICED;
use crate::patient::Patient;
use crate::signals::series::Role;
use crate::words::measured;
use stapo_base::stats::sustained::smallest_found;
use stapo_result::SignalName;

/// Rewards that lie within this part of the range of single responses of its upper end leave nothing to learn.
const NEAR_CEILING: f64 = 0.1;

/// Signals that tell of the policy, whatever it earns.
const OF_POLICY: [SignalName; 2] = [SignalName::Entropy, SignalName::Length];

/// What was looked at in a run that did not learn.
#[derive(Clone, Debug)]
pub struct StoodStill {
    /// The change of the reward from one half of the steps to the other that would have been found.
    smallest: f64,
    /// k3 to the reference at the end.
    from_reference: Option<f64>,
    /// What of the policy did change.
    moved: Vec<String>,
}

impl StoodStill {
    /// Whether a run is such a one.
    pub fn of(patient: &Patient<'_>) -> Option<Self> {
        let changed = |name: &SignalName| patient.changes.found.iter().any(|(known, _)| known == name);
        let judged = |name: &SignalName| {
            let role = patient.series(name).map(|series| series.role);
            role.is_some_and(|role| role != Role::Sign) && !OF_POLICY.contains(name)
        };
        if patient.changes.found.iter().any(|(name, _)| judged(name)) {
            return None;
        }
        let reward = patient.series(&SignalName::Reward)?;
        let [low, high, deviation] = reward.range?;
        if high - reward.end()? <= NEAR_CEILING * (high - low) {
            return None;
        }
        let smallest = smallest_found(&reward.points).filter(|smallest| *smallest <= NOTICED * deviation)?;
        let from_reference = patient.series(&SignalName::ReferenceK3).and_then(|series| series.end());
        let is_far = from_reference.is_some_and(|k3| k3 >= patient.clip_edge());
        let moved = OF_POLICY.iter().filter(|name| changed(name)).map(SignalName::to_string);
        let moved = moved.chain(is_far.then(|| "the distance from the reference".into())).collect();
        Some(Self { smallest, from_reference, moved })
    }

    /// In words.
    pub fn sentence(&self) -> String {
        let smallest = measured(self.smallest, 2);
        if !self.moved.is_empty() {
            return format!(
                "It did not learn: the reward did not change for good, though the policy did ({}); a change of the reward by \
                 {smallest} between the halves of the run would have been found. Look at the weight of a KL or an entropy \
                 term, at the learning rate, and whether rewards differ within groups.",
                self.moved.join(", ")
            );
        }
        let near = match self.from_reference {
            Some(k3) => {
                format!(", and the policy is where its reference is (k3 {} at the end)", measured(k3, 3))
            }
            None => String::new(),
        };
        format!(
            "It did not learn: neither the reward nor entropy nor length changed for good{near}; a change of the reward by \
             {smallest} between the halves of the run would have been found. Look at the learning rate, at the weight of a \
             KL term, and whether new weights reach the sampler."
        )
    }
}
