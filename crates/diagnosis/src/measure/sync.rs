//! What sending the weights does to the gap: versions of the sampler's weights in their order.

use super::Measures;
use super::gap::FAR;
use stapo_accumulate::Accumulate;
use stapo_evidence::policies::GapSums;
use std::collections::BTreeMap;

/// Tokens that a version has to have.
const ENOUGH: u64 = 500;
/// The gap at a version over the largest before it.
const JUMP: f64 = 3.0;
/// Any old weights are at most as far away as the trainer has moved since its start: beyond this multiple of that
/// distance the weights are none that the trainer ever had.
const BEYOND: f64 = 1.5;

/// The first version at which the gap jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The version.
    pub version: i64,
    /// The first step that it wrote.
    pub step: i64,
    /// The largest gap before, and the gap at the version.
    pub before: f64,
    /// The gap at it.
    pub at: f64,
    /// Root mean square of ln π_old − ln π_ref at that step.
    pub moved: Option<f64>,
}

impl Jump {
    /// Whether the trainer's own way is too short to explain it; none where the reference is not logged.
    #[must_use]
    pub fn is_beyond_the_trainer(&self) -> Option<bool> {
        self.moved.map(|moved| self.at > BEYOND * moved)
    }
}

impl Measures<'_> {
    /// Where the gap jumps with the weights that were sent.
    #[must_use]
    pub fn sync_jump(&self) -> Option<Jump> {
        let mut versions: BTreeMap<i64, (i64, GapSums)> = BTreeMap::new();
        for (&(step, version), sums) in &self.evidence.policies.versions {
            let (_, all) = versions.entry(version).or_insert((step, GapSums::default()));
            all.merge(*sums);
        }
        let mut before: Option<f64> = None;
        for (&version, (step, sums)) in versions.iter().filter(|(_, (_, sums))| sums.tokens >= ENOUGH) {
            let at = sums.rms();
            if let Some(before) = before.filter(|before| at > JUMP * before && at > FAR) {
                let moved =
                    self.evidence.policies.steps.get(step).and_then(|step| step.trainer_to_reference.rms());
                return Some(Jump { version, step: *step, before, at, moved });
            }
            before = Some(before.map_or(at, |largest| largest.max(at)));
        }
        None
    }
}
