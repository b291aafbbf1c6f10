//! Sequences of like length, padded at their ends into one rectangle of tokens.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::super::sequence::Sequence;
#[cfg(feature = "cuda")]
use super::fused::RowsOfTokens;

/// Lengths are rounded up to a multiple of this at least.
const GRAIN: usize = 64;
/// Rows of the output are rounded up to a multiple of this.
const PICK_GRAIN: usize = 128;

/// Some sequences of a mini-batch as a rectangle: `sequences.len()` rows of `width` tokens.
#[derive(Debug)]
pub struct Padded {
    /// Places in the mini-batch.
    pub sequences: Vec<usize>,
    /// Tokens of a row, those of the padding included.
    pub width: usize,
    /// All tokens, row by row; padding is token 0, which no real token sees.
    ids: Vec<i32>,
    /// Tokens that predict one of a response, and what they predict.
    picks: Vec<usize>,
    targets: Vec<u32>,
}

impl Padded {
    fn new(batch: &[Sequence], sequences: Vec<usize>, width: usize) -> Self {
        let mut padded =
            Self { ids: vec![0; sequences.len() * width], sequences, width, picks: vec![], targets: vec![] };
        for (row, sequence) in padded.sequences.iter().map(|s| &batch[*s]).enumerate() {
            let (start, input) = (row * width, sequence.input());
            for (place, id) in padded.ids[start..].iter_mut().zip(input) {
                *place = *id as i32;
            }
            padded.picks.extend(start + sequence.response_start - 1..start + input.len());
            padded.targets.extend_from_slice(sequence.response());
        }
        padded
    }

    /// Tokens of the rectangle.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// Response tokens.
    pub fn picked(&self) -> usize {
        self.targets.len()
    }

    /// Rows of the output: response tokens with padding.
    pub fn output_rows(&self) -> usize {
        self.picked().next_multiple_of(PICK_GRAIN)
    }

    /// Ids of all tokens.
    pub fn ids(&self, device: &Device) -> Tensor<1, Int> {
        ints(self.ids.clone(), device)
    }

    /// Where the rows of every token are; padding has none.
    #[cfg(feature = "cuda")]
    pub fn rows_of_tokens(&self, device: &Device) -> RowsOfTokens {
        // The last token that is read predicts the last one of its response.
        let mut ends: Vec<usize> = (0..self.sequences.len()).map(|row| row * self.width).collect();
        for pick in &self.picks {
            ends[pick / self.width] = ends[pick / self.width].max(pick + 1);
        }
        let real = |row: &i32| (*row as usize) < ends[*row as usize / self.width];
        let mut order: Vec<i32> = (0..self.ids.len() as i32).filter(real).collect();
        order.sort_by_key(|row| self.ids[*row as usize]);
        let (mut ids, mut starts) = (vec![], vec![]);
        for (place, row) in order.iter().enumerate() {
            let id = self.ids[*row as usize];
            if ids.last() != Some(&id) {
                ids.push(id);
                starts.push(place as i32);
            }
        }
        starts.push(order.len() as i32);
        RowsOfTokens { ids: ints(ids, device), starts: ints(starts, device), order: ints(order, device) }
    }

    /// Which tokens the output is wanted of; padding asks for the first one again.
    pub fn picks(&self, device: &Device) -> Tensor<1, Int> {
        let padding = self.output_rows() - self.picked();
        ints(self.picks.iter().map(|r| *r as i32).chain(std::iter::repeat_n(0, padding)).collect(), device)
    }

    /// For every token its row of the output, or the row behind the last where it has none.
    pub fn places(&self, device: &Device) -> Tensor<1, Int> {
        let mut places = vec![self.output_rows() as i32; self.tokens()];
        for (row, pick) in self.picks.iter().enumerate() {
            places[*pick] = row as i32;
        }
        ints(places, device)
    }

    /// What the rows of the output predict, as a column.
    pub fn targets(&self, device: &Device) -> Tensor<2, Int> {
        let mut targets: Vec<i32> = self.targets.iter().map(|t| *t as i32).collect();
        targets.resize(self.output_rows(), 0);
        let rows = targets.len();
        Tensor::from_data(TensorData::new(targets, [rows, 1]), device)
    }
}

fn ints(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}

/// A length that few others round up to as well: at most an eighth more than a long one.
fn rounded(length: usize) -> usize {
    length.next_multiple_of((length.next_power_of_two() / 8).max(GRAIN))
}

/// Cuts a mini-batch into rectangles of about `budget` tokens, the longest sequences first. Less than
/// half of a row is padding. Nothing but the mini-batch and the budget decides.
pub fn plan(batch: &[Sequence], budget: usize) -> Vec<Padded> {
    let length = |s: usize| batch[s].input().len();
    let mut order: Vec<usize> = (0..batch.len()).filter(|s| !batch[*s].response().is_empty()).collect();
    order.sort_by_key(|s| (std::cmp::Reverse(length(*s)), *s));
    let mut plan = vec![];
    let mut rest = order.as_slice();
    while let Some(longest) = rest.first() {
        let width = rounded(length(*longest));
        let most = (budget / width).max(1);
        let alike = rest.iter().take(most).take_while(|s| 2 * length(**s).max(GRAIN) > width).count().max(1);
        let (now, later) = rest.split_at(alike);
        plan.push(Padded::new(batch, now.to_vec(), width));
        rest = later;
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(lengths: &[usize]) -> Vec<Sequence> {
        let sequence = |n: &usize| Sequence { tokens: vec![7; n + 1], response_start: 1 };
        lengths.iter().map(sequence).collect()
    }

    #[test]
    fn rectangles_hold_every_sequence_once_and_waste_less_than_half() {
        for (lengths, budget, expected) in [
            (vec![150, 170, 192, 100], 10_000, 1),
            (vec![150; 16], 512, 8),
            (vec![1000, 90, 90, 90], 10_000, 2),
            (vec![5000], 512, 1),
        ] {
            let batch = batch(&lengths);
            let plan = plan(&batch, budget);
            assert_eq!(plan.len(), expected, "{lengths:?} {budget}");
            let mut all: Vec<usize> = plan.iter().flat_map(|p| p.sequences.clone()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
            for padded in &plan {
                let real: usize = padded.sequences.iter().map(|s| lengths[*s]).sum();
                assert!(padded.tokens() <= 2 * real.max(GRAIN), "{lengths:?}");
                assert!(padded.sequences.len() == 1 || padded.tokens() <= budget);
                assert_eq!(padded.picked(), real);
            }
        }
    }

    #[test]
    fn the_token_before_a_response_token_predicts_it() {
        let batch = [
            Sequence { tokens: vec![1, 2, 3, 4], response_start: 2 },
            Sequence { tokens: vec![5], response_start: 1 },
            Sequence { tokens: vec![6, 7], response_start: 1 },
        ];
        let plan = plan(&batch, 1000);
        assert_eq!(plan.len(), 1);
        let padded = &plan[0];
        assert_eq!((padded.sequences.as_slice(), padded.width), ([0, 2].as_slice(), 64));
        assert_eq!(padded.picks, [1, 2, 64]);
        assert_eq!(padded.targets, [3, 4, 7]);
        assert_eq!((padded.ids[..4].to_vec(), padded.ids[64]), (vec![1, 2, 3, 0], 6));
    }
}
