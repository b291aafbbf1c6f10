//! Responses with what is known of each: what is looked at within groups.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::gaps::GapSums;
use crate::analyze::collect::kept::Kept;
use crate::analyze::collect::sample::Sampled;

/// Advantages below this part of the usual size are what rounding leaves.
const ROUNDING: f64 = 1e-4;

/// One response.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ResponseFact {
    /// Hash of step and group: groups are kept whole or not at all.
    pub hash: u32,
    /// Step.
    pub step: i64,
    /// The group inside the step; of its own where groups are not logged.
    pub group: u64,
    /// Hash of ids and first values of the response: an order that does not depend on files.
    pub order: u64,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Mean advantage of the trained tokens.
    pub advantage: f32,
    /// Whether a token has A > 0, and whether one has A < 0.
    pub signs: [bool; 2],
    /// Trained tokens.
    pub length: u32,
    /// Whether it was cut, where logged.
    pub truncated: Option<bool>,
    /// Mean entropy.
    pub entropy: f32,
    /// Mean of −ln p.
    pub surprisal: f32,
    /// Hash of its tokens: equal for equal texts.
    pub text: u64,
    /// Hash of its last tokens: equal for equal endings, where the answer mostly stands.
    pub ending: u64,
    /// Whether it is right, where the user said what right is.
    pub right: Option<bool>,
    /// Gradient energy.
    pub energy: f64,
    /// Steps between sampler and trainer, where logged.
    pub lag: Option<i64>,
    /// Parts of the reward in the order of the plan; NaN where not logged.
    pub parts: Box<[f32]>,
    /// Sampler against trainer, where logged.
    pub gap: Option<Box<GapSums>>,
}

impl Sampled for ResponseFact {
    fn hash(&self) -> u32 {
        self.hash
    }

    fn order(&self, other: &Self) -> Ordering {
        let bits = |v: f32| v.to_bits();
        let first = |r: &Self| {
            let values = (bits(r.reward), bits(r.advantage), r.length, r.text, bits(r.surprisal));
            (r.step, r.group, r.order, values)
        };
        let rest =
            |r: &Self| (bits(r.entropy), r.energy.to_bits(), r.signs, r.truncated, r.lag, r.ending, r.right);
        let parts = |r: &Self| r.parts.iter().map(|part| bits(*part)).collect::<Vec<_>>();
        let gap = |r: &Self| r.gap.as_ref().map(|gap| gap.bits());
        first(self)
            .cmp(&first(other))
            .then_with(|| rest(self).cmp(&rest(other)))
            .then_with(|| parts(self).cmp(&parts(other)))
            .then_with(|| gap(self).cmp(&gap(other)))
    }
}

/// The responses of the run, or of a sample of its groups.
#[derive(Debug, Default)]
pub struct ResponseFacts {
    /// By step, group and response.
    pub responses: Vec<ResponseFact>,
    /// One of 2^level groups was kept.
    pub level: u32,
}

impl ResponseFacts {
    /// What was kept of the whole run, settled.
    pub fn new(kept: Kept<ResponseFact>) -> Self {
        let (mut responses, level) = (kept.tokens, kept.census.level());
        forget_rounding(&mut responses);
        Self { responses, level }
    }

    /// Groups without an advantage, and all groups, by step.
    pub fn dead_groups(&self) -> BTreeMap<i64, (u64, u64)> {
        let mut steps: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for group in self.groups() {
            let tally = steps.entry(group[0].step).or_default();
            tally.0 += u64::from(group.iter().all(|fact| fact.signs == [false; 2]));
            tally.1 += 1;
        }
        steps
    }

    /// The groups, each with its responses.
    pub fn groups(&self) -> impl Iterator<Item = &[ResponseFact]> {
        self.responses.chunk_by(|a, b| (a.step, a.group) == (b.step, b.group))
    }
}

/// Equal rewards minus their mean leave advantages of a ten-millionth: these are none.
fn forget_rounding(responses: &mut [ResponseFact]) {
    let known = responses.iter().map(|r| f64::from(r.advantage)).filter(|a| a.is_finite() && *a != 0.0);
    let (n, squares) = known.fold((0.0, 0.0), |(n, sum), a| (n + 1.0, sum + a * a));
    let negligible = ROUNDING * (squares / f64::max(n, 1.0)).sqrt();
    for response in responses.iter_mut().filter(|r| f64::from(r.advantage).abs() <= negligible) {
        // Advantages of single tokens may cancel in the mean; rounding leaves one sign.
        if response.signs != [true; 2] {
            response.advantage = 0.0;
            response.signs = [false; 2];
        }
    }
}
