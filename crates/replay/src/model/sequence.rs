//! Responses as a model sees them, and what it says about their tokens.

use std::ops::Range;

use stapo_base::error::{Error, Result};

/// A prompt with its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Prompt, then response.
    pub tokens: Vec<u32>,
    /// Where the response starts; at least one token precedes it.
    pub response_start: usize,
}

impl Sequence {
    /// Tokens of the response.
    pub fn response(&self) -> &[u32] {
        self.tokens.get(self.response_start..).unwrap_or_default()
    }

    /// What a model reads: the last token predicts nothing.
    pub(super) fn input(&self) -> &[u32] {
        self.tokens.split_last().map_or(&[], |(_, rest)| rest)
    }
}

/// What a policy says about the tokens of one response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenStats {
    /// ln π of the token.
    pub logprob: Vec<f32>,
    /// Entropy of the distribution, in nats.
    pub entropy: Vec<f32>,
    /// Σ π².
    pub sum_pi_sq: Vec<f32>,
    /// Σ π² ln π.
    pub sum_pi_sq_log_pi: Vec<f32>,
    /// ‖onehot − π‖² with the squares of the other tokens summed directly: the squared norm of the
    /// gradient of ln π with respect to the logits.
    pub logit_grad_sq: Vec<f32>,
}

impl TokenStats {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.logprob.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.logprob.is_empty()
    }

    pub(super) fn slice(&self, rows: Range<usize>) -> Self {
        let cut = |values: &[f32]| values[rows.clone()].to_vec();
        Self {
            logprob: cut(&self.logprob),
            entropy: cut(&self.entropy),
            sum_pi_sq: cut(&self.sum_pi_sq),
            sum_pi_sq_log_pi: cut(&self.sum_pi_sq_log_pi),
            logit_grad_sq: cut(&self.logit_grad_sq),
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.logprob.append(&mut other.logprob);
        self.entropy.append(&mut other.entropy);
        self.sum_pi_sq.append(&mut other.sum_pi_sq);
        self.sum_pi_sq_log_pi.append(&mut other.sum_pi_sq_log_pi);
        self.logit_grad_sq.append(&mut other.logit_grad_sq);
    }
}

/// Tokens below which a pack is not worth its own gradient.
const SMALL_PACK: usize = 128;

/// Sequences that go through the model together, one behind the other without padding.
#[derive(Debug, Clone)]
pub(super) struct Pack {
    /// Which sequences of the batch.
    pub(super) sequences: Range<usize>,
    /// Tokens read, of all sequences.
    pub(super) ids: Vec<u32>,
    /// Tokens read, per sequence.
    pub(super) lengths: Vec<usize>,
    /// Rows whose output predicts a token of a response.
    pub(super) picks: Vec<usize>,
    /// Those tokens.
    pub(super) targets: Vec<u32>,
}

impl Pack {
    fn new(batch: &[Sequence], sequences: Range<usize>) -> Self {
        let mut pack = Self { sequences, ids: vec![], lengths: vec![], picks: vec![], targets: vec![] };
        for sequence in &batch[pack.sequences.clone()] {
            if sequence.response().is_empty() {
                continue;
            }
            let start = pack.ids.len();
            let input = sequence.input();
            pack.picks.extend(start + sequence.response_start - 1..start + input.len());
            pack.targets.extend_from_slice(sequence.response());
            pack.lengths.push(input.len());
            pack.ids.extend_from_slice(input);
        }
        pack
    }

    /// Tokens of the longest sequence.
    pub(super) fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }
}

/// Cuts a batch into packs of about `budget` tokens: neighbours stay together, sizes are even, and
/// nothing but the batch and the budget decides, so that results do not depend on threads.
pub(super) fn pack(batch: &[Sequence], budget: usize) -> Vec<Pack> {
    let total: usize = batch.iter().map(|s| s.input().len()).sum();
    let count = pack_count(total, budget);
    let mut packs = Vec::with_capacity(count);
    // The end of the share that starts (nearest) after so many tokens.
    let share_end = |read: usize| ((read * count + total / 2) / total.max(1) + 1) * total / count;
    let (mut first, mut read, mut end) = (0, 0, share_end(0));
    for (index, sequence) in batch.iter().enumerate() {
        // A pack ends where the middle of the next sequence lies beyond its share.
        let length = sequence.input().len();
        if index > first && read + length / 2 > end {
            packs.push(Pack::new(batch, first..index));
            (first, end) = (index, share_end(read));
        }
        read += length;
    }
    if first < batch.len() {
        packs.push(Pack::new(batch, first..batch.len()));
    }
    packs
}

/// As many packs as the budget asks for, and a few more where that lets two or four threads share them
/// evenly; but none so small that its gradient costs more to add than to compute.
fn pack_count(total: usize, budget: usize) -> usize {
    let count = total.div_ceil(budget.max(1)).max(1);
    count.next_multiple_of(4).min(total / SMALL_PACK).max(count)
}

/// Refuses sequences that a model with this vocabulary cannot read.
pub(super) fn check(batch: &[Sequence], vocab_size: usize) -> Result<()> {
    batch.iter().enumerate().try_for_each(|(index, sequence)| check_one(index, sequence, vocab_size))
}

fn check_one(index: usize, sequence: &Sequence, vocab_size: usize) -> Result<()> {
    let bad = |message: String, hint: &str| Err(Error::Usage { message, hint: hint.into() });
    if sequence.response_start == 0 || sequence.response_start > sequence.tokens.len() {
        return bad(
            format!("response {index} of the mini-batch has no prompt: nothing predicts its first token"),
            "log prompt_ids with every response",
        );
    }
    if let Some(token) = sequence.tokens.iter().find(|t| **t as usize >= vocab_size) {
        return bad(
            format!("response {index} of the mini-batch has token {token}, the model knows {vocab_size}"),
            "give the model (and tokenizer) that the log was made with",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(lengths: &[usize]) -> Vec<Sequence> {
        let sequence = |n: &usize| Sequence { tokens: vec![1; n + 1], response_start: 1 };
        lengths.iter().map(sequence).collect()
    }

    #[test]
    fn packs_are_even_complete_and_in_order() {
        for (lengths, budget, expected) in [
            (vec![150; 16], 512, 8),
            (vec![150; 16], 10_000, 4),
            (vec![10; 5], 512, 1),
            (vec![400; 3], 100, 3),
            (vec![1, 2000, 1, 1], 512, 3),
        ] {
            let batch = batch(&lengths);
            let packs = pack(&batch, budget);
            assert_eq!(packs.len(), expected, "{lengths:?} {budget}");
            let covered: Vec<usize> = packs.iter().flat_map(|p| p.sequences.clone()).collect();
            assert_eq!(covered, (0..lengths.len()).collect::<Vec<_>>());
            assert_eq!(packs.iter().map(|p| p.ids.len()).sum::<usize>(), lengths.iter().sum::<usize>());
        }
        assert!(pack(&[], 512).is_empty());
    }

    #[test]
    fn the_row_before_a_token_predicts_it() {
        let batch = [
            Sequence { tokens: vec![1, 2, 3, 4], response_start: 2 },
            Sequence { tokens: vec![5], response_start: 1 },
            Sequence { tokens: vec![6, 7], response_start: 1 },
        ];
        let packs = pack(&batch, 100);
        assert_eq!(packs[0].ids, [1, 2, 3, 6]);
        assert_eq!(packs[0].lengths, [3, 1]);
        assert_eq!(packs[0].picks, [1, 2, 3]);
        assert_eq!(packs[0].targets, [3, 4, 7]);
    }
}
