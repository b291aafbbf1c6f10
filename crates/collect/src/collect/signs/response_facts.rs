//! The responses that were kept, settled: what is looked at within groups.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::outliers::{Outlier, bound_outliers};
pub use super::response_fact::ResponseFact;
use super::response_fact::are_siblings;
pub use super::rounding::Rounding;
use super::rounding::forget_rounding;
use crate::collect::kept_sample::KeptSample;

/// The responses of the run, or of a sample of its groups.
#[derive(Debug, Default)]
pub struct ResponseFacts {
    /// By step, group and response.
    pub responses: Vec<ResponseFact>,
    /// One of 2^level groups was kept.
    pub level: u32,
    /// Which advantages are none.
    pub rounding: Rounding,
    /// Rewards and parts that were far beyond all others, and are bounded.
    pub outliers: Vec<Outlier>,
    /// Whether versions are step numbers; else ages are versions behind the youngest of the step.
    pub ages_are_steps: bool,
}

impl ResponseFacts {
    /// What was kept of the whole run, settled.
    pub fn new(kept: KeptSample<ResponseFact>) -> Self {
        let level = kept.census.level();
        let mut responses = kept.tokens.into_list();
        let rounding = forget_rounding(&mut responses);
        let ages_are_steps = count_ages(&mut responses);
        let outliers = bound_outliers(&mut responses);
        Self { responses, level, rounding, outliers, ages_are_steps }
    }

    /// Where groups are told by their prompts, one that is larger than they mostly are is several: a prompt may be drawn
    /// twice in a step. Nobody knows which of its responses were held against each other, so they stand alone.
    pub fn part_larger_groups(&mut self) {
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        self.groups().for_each(|group| *sizes.entry(group.len()).or_default() += 1);
        let usual =
            sizes.iter().max_by_key(|(size, groups)| (**groups, Reverse(**size))).map(|(size, _)| *size);
        let Some(usual) = usual else { return };
        for group in self.responses.chunk_by_mut(are_siblings).filter(|group| group.len() > usual) {
            group.iter_mut().for_each(|fact| fact.alone = true);
        }
    }

    /// The groups, each with its responses.
    pub fn groups(&self) -> impl Iterator<Item = &[ResponseFact]> {
        self.responses.chunk_by(are_siblings)
    }

    /// Whether responses have siblings: a log may name a group for each of them, or none.
    pub fn have_siblings(&self) -> bool {
        self.groups().any(|group| group.len() > 1)
    }

    /// What responses are held against each other in: groups, or steps where there are no siblings.
    pub fn units(&self) -> Box<dyn Iterator<Item = &[ResponseFact]> + '_> {
        match self.have_siblings() {
            true => Box::new(self.groups()),
            false => Box::new(self.responses.chunk_by(|a, b| a.step == b.step)),
        }
    }
}

/// Versions above their step are no step numbers (they count from 1, or updates): ages are then counted
/// from the youngest version of each step. Whether they are step numbers.
fn count_ages(responses: &mut [ResponseFact]) -> bool {
    if responses.iter().all(|r| r.lag.is_none_or(|lag| lag >= 0)) {
        return true;
    }
    for step in responses.chunk_by_mut(|a, b| a.step == b.step) {
        let youngest = step.iter().filter_map(|r| r.lag).min();
        for response in step {
            response.lag = response.lag.zip(youngest).map(|(lag, youngest)| lag.saturating_sub(youngest));
        }
    }
    false
}

#[cfg(test)]
mod tests;
