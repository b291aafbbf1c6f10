//! Where the turns of a response end among its trained tokens.

use super::Asked;
use stapo_base::simd;

/// First tokens of a response that are looked at one by one.
pub const FIRST_TOKENS: usize = 32;

/// Those of one response; reused.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Its turns, each with where it ends, in the order of tokens; none where not logged.
    pub turns: Vec<(i32, usize)>,
    /// How many of the trained tokens are among the first of the response.
    pub first: usize,
}

impl Places {
    /// Finds them.
    pub fn fill(&mut self, asked: &Asked<'_>) {
        self.first = match asked.picks {
            None => asked.trained.len().min(FIRST_TOKENS),
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
