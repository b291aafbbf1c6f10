//! Trained tokens at the edges of turns that the sampler gave no probability for, each alone among tokens that have
//! one: a mask that is off by one token has one of the environment's there.

use super::rareness::{RARENESS, rareness};
use crate::collect::columns::Columns;

/// Tokens by how rare the trainer says they are.
type ByRareness<T> = [T; RARENESS.len() + 1];

/// The tokens that stand at one edge of the turns of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EdgeTokens {
    /// How many, by how rare they are.
    pub tokens: ByRareness<u16>,
    /// Those without a probability of the sampler's, alone among others.
    pub single: u16,
    /// Σ(−ln p − H) of the latter.
    pub excess: f64,
}

impl EdgeTokens {
    /// All of them.
    pub fn count(&self) -> f64 {
        self.tokens.iter().map(|n| f64::from(*n)).sum()
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.tokens.iter().chain([&self.single]).map(|n| u64::from(*n)).chain([self.excess.to_bits()])
    }
}

/// The edges of the turns of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TurnEdges {
    /// First tokens of later turns.
    pub first: EdgeTokens,
    /// Last tokens of turns that another follows.
    pub last: EdgeTokens,
    /// The last token of the response. Engines may leave out what made them stop, at the end of all turns.
    pub end: EdgeTokens,
    /// All tokens between edges, and those among them without a probability.
    pub inner: ByRareness<[u16; 2]>,
}

impl TurnEdges {
    /// Of the trained tokens of a response, whole or its beginning; none where it has one turn.
    pub fn of(columns: &Columns<'_>, is_whole: bool, is_unsampled: impl Fn(usize) -> bool) -> Self {
        let mut edges = Self::default();
        let n = columns.len();
        if columns.turn.len() != n || columns.turn.first() == columns.turn.last() {
            return edges;
        }
        for t in 0..n {
            let begins = t > 0 && columns.turn[t] != columns.turn[t - 1];
            let ends = t + 1 < n && columns.turn[t + 1] != columns.turn[t];
            let place = rareness(columns.logprob[t]);
            let into = match (begins, ends) {
                // A turn of one token has both edges.
                (true, true) => continue,
                (true, false) => &mut edges.first,
                (false, true) => &mut edges.last,
                (false, false) if t + 1 == n && is_whole => &mut edges.end,
                (false, false) => {
                    edges.inner[place][0] += 1;
                    edges.inner[place][1] += u16::from(is_unsampled(t));
                    continue;
                }
            };
            into.tokens[place] += 1;
            let has_neighbour = t > 0 && is_unsampled(t - 1) || t + 1 < n && is_unsampled(t + 1);
            if is_unsampled(t) && !has_neighbour {
                into.single += 1;
                into.excess += -f64::from(columns.logprob[t]) - f64::from(columns.entropy[t]);
            }
        }
        edges
    }

    /// All of its numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let edges = [&self.first, &self.last, &self.end].into_iter().flat_map(EdgeTokens::numbers);
        edges.chain(self.inner.iter().flatten().map(|n| u64::from(*n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_tokens_are_counted_where_they_stand() {
        let turn = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
        let (logprob, entropy) = ([-2.0; 10], [0.5; 10]);
        let columns = Columns { turn: &turn, logprob: &logprob, entropy: &entropy, ..Columns::default() };
        let of = |missing: &[usize]| TurnEdges::of(&columns, true, |t| missing.contains(&t));
        let edges = of(&[2, 5]);
        assert_eq!((edges.last.count(), edges.last.single, edges.last.excess), (2.0, 2, 3.0));
        assert_eq!([edges.first, edges.end].map(|edge| (edge.count(), edge.single)), [(2.0, 0), (1.0, 0)]);
        assert_eq!(edges.inner.iter().fold([0, 0], |sum, n| [sum[0] + n[0], sum[1] + n[1]]), [5, 0]);
        assert_eq!(of(&[1, 2]).last.single, 0, "two in a row are another matter");
        assert_eq!((of(&[3, 9]).first.single, of(&[3, 9]).end.single), (1, 1));
        let one = Columns { turn: &[0; 10], ..columns };
        assert_eq!(TurnEdges::of(&one, true, |t| t == 9), TurnEdges::default());
    }
}
