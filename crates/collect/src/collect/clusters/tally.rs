//! Counts and sums of one cluster, which add up in any order.

use stapo_base::stats::exact_sum::ExactSum;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;
use stapo_result::clusters::{ClusterSum, ClusterSums};

/// The prompt of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Prompt {
    /// Not logged.
    #[default]
    Unknown,
    /// Its hash.
    One(u64),
    /// Responses to several share the cluster.
    Several,
}

impl Prompt {
    fn merge(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::Unknown, any) | (any, Self::Unknown) => any,
            (Self::One(a), Self::One(b)) if a == b => Self::One(a),
            _ => Self::Several,
        };
    }
}

/// Counts and sums of one cluster.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ClusterTally {
    /// Prompt.
    pub prompt: Prompt,
    /// Responses, rewarded ones, tokens, complete ones, A > 0, A = 0, clipped.
    pub counts: [u64; 7],
    /// Reward, entropy, energy where A > 0 and where A < 0, risk.
    pub sums: [ExactSum; 5],
}

impl ClusterTally {
    /// Adds another part of the cluster.
    pub fn merge(&mut self, other: &Self) {
        self.prompt.merge(other.prompt);
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| a.merge(b));
    }

    /// The sums as numbers.
    pub fn finish(&self) -> ClusterSums {
        use ClusterSum as S;
        let mut sums = [0.0; S::COUNT];
        let counts = [S::Responses, S::Rewarded, S::Tokens, S::Complete, S::Positive, S::Zero, S::Clipped];
        counts.iter().zip(self.counts).for_each(|(sum, count)| sums[*sum as usize] = count as f64);
        let parts = [S::Reward, S::Entropy, S::PositiveEnergy, S::NegativeEnergy, S::Risk];
        parts.iter().zip(&self.sums).for_each(|(sum, exact)| sums[*sum as usize] = exact.value());
        sums
    }
}

/// The sum of one term.
pub fn sum_of(value: f64) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add(value);
    sum
}

/// A hash of the prompt, where logged.
pub fn prompt_of(source: &TokenBatch, index: usize) -> Option<u64> {
    let responses = &source.responses;
    if let Some(ids) = responses.prompt_ids.as_ref().and_then(|prompts| prompts[index].as_ref()) {
        let pairs = ids.chunks(2).map(|pair| {
            let second = pair.get(1).map_or(0, |id| u64::from(id.cast_unsigned()) + 1);
            (second << 32) | u64::from(pair[0].cast_unsigned())
        });
        return Some(pairs.fold(Mixer::new(ids.len() as u64), Mixer::with).word());
    }
    let text = responses.texts.get(Column::PromptText)?[index].clone()?;
    Some(Mixer::new(1).with_id(Some(&Id::Text(text))).word())
}

/// Tokens of a response's prompt, or characters where it is logged as a text; 0 where it is not logged.
pub fn prompt_length(source: &TokenBatch, index: usize) -> u32 {
    let responses = &source.responses;
    let ids = responses.prompt_ids.as_ref().and_then(|prompts| prompts[index].as_ref()).map(|ids| ids.len());
    let text = || responses.texts.get(Column::PromptText)?[index].as_ref().map(|text| text.chars().count());
    ids.or_else(text).map_or(0, |length| u32::try_from(length).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_order_or_scale() {
        for scale in [1.0, 1e-60, 1e60] {
            let mut a = ClusterTally::default();
            let mut b = ClusterTally::default();
            let values = [1e9, 1e-9, -1e9, 0.3, 1e-7].map(|v| v * scale);
            let one = |v: &f64| ClusterTally { sums: [sum_of(*v); 5], ..ClusterTally::default() };
            values.iter().for_each(|v| a.merge(&one(v)));
            values.iter().rev().for_each(|v| b.merge(&one(v)));
            assert_eq!(a.finish(), b.finish());
            let reward = a.finish()[ClusterSum::Reward as usize];
            assert!((reward / scale - 0.300_000_101).abs() < 1e-12, "{reward}");
        }
    }
}
