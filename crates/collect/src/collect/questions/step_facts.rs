//! What is asked of one step. Parts merge in any order to the same bits.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::corrections::CorrectionTally;
use super::difference::ResponseDifference;
use super::difference_tally::DifferenceTally;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::log_sum::LogSum;

/// Versions of the sampler that are told apart at one step; of more, the older ones are one.
const VERSIONS: usize = 64;
/// Parts of the reward that are followed.
const PARTS: usize = 64;

/// KL to the reference.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ReferenceTally {
    /// Tokens.
    pub tokens: u64,
    /// Σ d.
    pub sum: ExactSum,
    /// Σ (e^d − 1 − d).
    pub k3: LogSum,
}

impl ReferenceTally {
    /// Adds a response.
    pub fn add(&mut self, difference: &ResponseDifference) {
        if difference.tokens > 0 {
            self.tokens += difference.tokens;
            self.sum.add(difference.sum);
            self.k3.add(difference.k3);
        }
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.sum.merge(&other.sum);
        self.k3.merge(&other.k3);
    }
}

/// Responses that ended in one way.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EndTally {
    /// Responses.
    pub responses: u64,
    /// Their trained tokens.
    pub tokens: u64,
    /// H.
    pub entropy: ExactSum,
    /// ‖g‖².
    pub energy: ExactSum,
    /// Those with a reward.
    pub rewarded: u64,
    /// Their rewards.
    pub reward: ExactSum,
}

impl EndTally {
    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.tokens += other.tokens;
        self.entropy.merge(&other.entropy);
        self.energy.merge(&other.energy);
        self.rewarded += other.rewarded;
        self.reward.merge(&other.reward);
    }
}

/// Loops.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct LoopTally {
    /// Trained tokens in second or later copies.
    pub repeated: u64,
    /// Responses that end in a loop.
    pub looping: u64,
    /// Of these, responses whose last loop is long: see `Loops::is_stuck`.
    pub stuck: u64,
    /// Trained tokens with an id.
    pub tokens: u64,
    /// Responses with ids.
    pub responses: u64,
}

/// Values of responses: how many, and their sum.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct MeanTally {
    /// Responses.
    pub responses: u64,
    /// Sum.
    pub sum: ExactSum,
}

impl MeanTally {
    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.sum.merge(&other.sum);
    }
}

/// What is asked of one step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StepFacts {
    /// Responses.
    pub responses: u64,
    /// Trained tokens.
    pub tokens: u64,
    /// ‖g‖².
    pub energy: ExactSum,
    /// The engine difference by version of the sampler; `None` is not logged.
    pub engine: BTreeMap<Option<i64>, DifferenceTally>,
    /// The same of versions that are too many; all older than those told apart.
    pub engine_rest: DifferenceTally,
    /// What each correction does.
    pub corrections: Vec<CorrectionTally>,
    /// ‖g‖² of the tokens with an engine difference.
    pub compared_energy: ExactSum,
    /// The update difference.
    pub update: DifferenceTally,
    /// The total difference.
    pub total: DifferenceTally,
    /// Tokens above the clip with A > 0, below with A < 0, above with A < 0, below with A > 0.
    pub corners: [u64; 4],
    /// KL to the reference.
    pub reference: ReferenceTally,
    /// Parts of the reward, by name.
    #[serde(with = "stapo_base::encode::by_text")]
    pub parts: BTreeMap<Arc<str>, MeanTally>,
    /// Responses whose outcome is known, and the right ones among them, where a rule was given.
    pub judged: [u64; 2],
    /// Cut responses.
    pub cut: EndTally,
    /// Responses that came to their end.
    pub finished: EndTally,
    /// Loops.
    pub loops: LoopTally,
}

impl StepFacts {
    /// Where the engine difference of responses of a version goes. The latest versions are told apart:
    /// which ones they are depends on the versions alone.
    pub fn engine_of(&mut self, version: Option<i64>) -> &mut DifferenceTally {
        if !self.engine.contains_key(&version) && self.engine.len() >= VERSIONS {
            match self.engine.first_key_value() {
                Some((oldest, _)) if *oldest < version => {
                    if let Some((_, tally)) = self.engine.pop_first() {
                        self.engine_rest.merge(&tally);
                    }
                }
                _ => return &mut self.engine_rest,
            }
        }
        self.engine.entry(version).or_default()
    }

    /// Adds the value of a part of the reward.
    pub fn add_part(&mut self, name: &Arc<str>, one: &MeanTally) {
        match self.parts.get_mut(name) {
            Some(part) => part.merge(one),
            None => {
                self.parts.insert(Arc::clone(name), *one);
                if self.parts.len() > PARTS {
                    self.parts.pop_last();
                }
            }
        }
    }

    /// All difference tallies.
    pub fn differences(&mut self) -> impl Iterator<Item = &mut DifferenceTally> {
        self.engine.values_mut().chain([&mut self.engine_rest, &mut self.update, &mut self.total])
    }

    /// Tokens and responses with an engine difference.
    pub fn engine_size(&self) -> (u64, u64) {
        let all = self.engine.values().chain([&self.engine_rest]);
        all.fold((0, 0), |(tokens, responses), d| (tokens + d.tokens, responses + d.responses))
    }

    /// The engine difference of all versions.
    pub fn whole_engine(&self) -> DifferenceTally {
        let mut all = self.engine_rest.clone();
        self.engine.values().for_each(|tally| all.merge(tally));
        all
    }

    /// Adds another part of the step.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
        for (version, tally) in &other.engine {
            self.engine_of(*version).merge(tally);
        }
        self.engine_rest.merge(&other.engine_rest);
        if self.corrections.is_empty() {
            self.corrections.clone_from(&other.corrections);
        } else {
            self.corrections.iter_mut().zip(&other.corrections).for_each(|(a, b)| a.merge(b));
        }
        self.compared_energy.merge(&other.compared_energy);
        self.update.merge(&other.update);
        self.total.merge(&other.total);
        self.corners.iter_mut().zip(other.corners).for_each(|(a, b)| *a += b);
        self.reference.merge(&other.reference);
        other.parts.iter().for_each(|(name, part)| self.add_part(name, part));
        self.judged.iter_mut().zip(other.judged).for_each(|(a, b)| *a += b);
        self.cut.merge(&other.cut);
        self.finished.merge(&other.finished);
        self.loops.repeated += other.loops.repeated;
        self.loops.looping += other.loops.looping;
        self.loops.stuck += other.loops.stuck;
        self.loops.tokens += other.loops.tokens;
        self.loops.responses += other.loops.responses;
    }
}
