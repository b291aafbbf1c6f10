//! Where the deciles and the turns of a response begin and end among its trained tokens.

use super::Asked;
use super::slice_keys::DECILES;
use crate::simd;

/// First tokens of a response that are looked at one by one.
pub const FIRST_TOKENS: usize = 32;

/// Those of one response; reused.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Where its deciles begin, and where the last ends.
    pub deciles: Ends,
    /// Its turns, each with where it ends, in the order of tokens; none where not logged.
    pub turns: Vec<(i32, usize)>,
    /// How many of the trained tokens are among the first of the response.
    pub first: usize,
}

impl Places {
    /// Finds them.
    pub fn fill(&mut self, asked: &Asked<'_>) {
        let (n, length) = (asked.trained.len(), asked.source.range(asked.index).len());
        self.deciles = Ends::of(n, length, asked.picks);
        self.first = match asked.picks {
            None => n.min(FIRST_TOKENS),
            Some(picks) => picks.partition_point(|token| (*token as usize) < FIRST_TOKENS),
        };
        find_turns(&mut self.turns, asked.trained.turn);
    }
}

fn find_turns(found: &mut Vec<(i32, usize)>, turns: &[i32]) {
    found.clear();
    let mut rest = turns;
    while let Some(turn) = rest.first() {
        // Most responses have one: a look at all of them at once.
        let is_last = simd::all(rest, |other| other == *turn);
        let other = if is_last { None } else { rest.iter().position(|other| other != turn) };
        let tokens = other.unwrap_or(rest.len());
        found.push((*turn, turns.len() - rest.len() + tokens));
        rest = &rest[tokens..];
    }
}

/// Where the deciles of a response begin among its trained tokens, and where the last ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends(pub [usize; DECILES + 1]);

impl Ends {
    /// Of a response of `length` tokens, `n` of which are trained: those of `picks`, where not all.
    pub fn of(n: usize, length: usize, picks: Option<&[u32]>) -> Self {
        let mut ends = [0; DECILES + 1];
        for decile in 0..DECILES {
            // The first token of the next one: token · 10 / length is above this decile.
            let next = ((decile + 1) * length).div_ceil(DECILES);
            ends[decile + 1] = match picks {
                None => next.min(n),
                Some(picks) => {
                    let first = ends[decile];
                    first + picks[first..].partition_point(|token| (*token as usize) < next)
                }
            };
        }
        Self(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_end_where_others_begin() {
        let mut found = vec![(9, 9)];
        find_turns(&mut found, &[]);
        assert!(found.is_empty());
        find_turns(&mut found, &[3; 40]);
        assert_eq!(found, [(3, 40)]);
        find_turns(&mut found, &[0, 0, 1, -1, -1, 0]);
        assert_eq!(found, [(0, 2), (1, 3), (-1, 5), (0, 6)]);
    }
}
