//! Zeros that fill the places of tokens which the sampler did not draw: frameworks write them at observations.

use std::ops::Range;

/// Tokens of the trainer's probability below this were not certain to the sampler.
const UNLIKELY: f32 = 0.1;
/// A single zero may be a token that a narrow nucleus kept alone, …
const FEWEST: usize = 2;
/// … which no policy gives less than this: it is the most likely of all.
const NEVER_ALONE: f32 = 1e-3;

/// Tokens of the trainer's probability below this are not certain to it.
const UNCERTAIN: f32 = 0.99;

/// The sampler's log-probabilities with NaN for fills: two exact zeros or more in a row (p = 1 to the last bit),
/// one of them at a token that the trainer finds unlikely, or one at a token that it all but rules out. A policy that was trained
/// on observations comes to expect them: where all zeros at tokens of which the trainer is not certain are at the edges of
/// turns, two or more in a row, they are fills, too; a narrow nucleus has some elsewhere. `None` where no zero is a fill.
pub fn without_fills(logprob: &[f32], rollout: &[f32], turn: &[i32]) -> Option<Vec<f32>> {
    let has_turns = turn.len() == rollout.len() && turn.first() != turn.last();
    let bound = if has_turns { UNCERTAIN } else { UNLIKELY }.ln();
    let pairs = || rollout.iter().zip(logprob);
    if !pairs().fold(false, |any, (rollout, logprob)| any | ((*rollout == 0.0) & (*logprob < bound))) {
        return None;
    }
    let runs = runs_of_zeros(rollout);
    let least = |run: &Range<usize>| {
        logprob.get(run.clone()).unwrap_or_default().iter().copied().fold(f32::INFINITY, f32::min)
    };
    let is_row = |run: &Range<usize>| run.len() >= FEWEST;
    let is_at_edge = |run: &Range<usize>| {
        let begins = |t: usize| t > 0 && t < turn.len() && turn[t] != turn[t - 1];
        is_row(run) && (begins(run.start) || begins(run.end))
    };
    let mut uncertain = runs.iter().filter(|run| least(run) < UNCERTAIN.ln());
    let only_at_edges = has_turns && uncertain.all(is_at_edge);
    let is_fill = |run: &&Range<usize>| {
        let bound = if is_row(run) { UNLIKELY } else { NEVER_ALONE };
        least(run) < bound.ln() || only_at_edges && is_at_edge(run)
    };
    let mut fills = runs.iter().filter(is_fill).peekable();
    fills.peek()?;
    let mut known = rollout.to_vec();
    fills.for_each(|run| known[run.clone()].fill(f32::NAN));
    Some(known)
}

fn runs_of_zeros(rollout: &[f32]) -> Vec<Range<usize>> {
    let mut first = 0;
    let runs = rollout.chunk_by(|a, b| (*a == 0.0) == (*b == 0.0)).map(|run| {
        first += run.len();
        (run[0] == 0.0, first - run.len()..first)
    });
    runs.filter(|(is_zero, _)| *is_zero).map(|(_, places)| places).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn filled(logprob: &[f32], rollout: &[f32], turn: &[i32]) -> Vec<usize> {
        let known = without_fills(logprob, rollout, turn);
        known.map_or(vec![], |known| (0..known.len()).filter(|t| known[*t].is_nan()).collect())
    }

    #[test]
    fn runs_of_zeros_at_unlikely_tokens_are_fills() {
        let logprob = [-0.5, -4.0, -0.1, -0.2, -0.3, -5.0, -0.4];
        let rollout = [-0.5, 0.0, 0.0, -0.2, -0.3, 0.0, -0.4];
        assert_eq!(filled(&logprob, &rollout, &[]), [1, 2], "the single zero stays");
        assert_eq!(filled(&[-0.5, -9.0], &[-0.5, 0.0], &[]), [1], "nothing that unlikely is kept alone");
        // A certain sampler is one.
        assert_eq!(without_fills(&[-0.05, -0.01, -0.2], &[0.0, 0.0, -0.1], &[]), None);
        assert_eq!(without_fills(&logprob, &[], &[]), None);
    }

    #[test]
    fn zeros_at_the_edges_of_turns_alone_are_fills() {
        let (logprob, turn) = ([-0.5, -0.2, -0.6, -0.4, -0.001, -0.3], [0, 0, 1, 1, 1, 1]);
        assert_eq!(filled(&logprob, &[-0.5, -0.2, 0.0, 0.0, 0.0, -0.3], &turn), [2, 3, 4]);
        assert_eq!(filled(&logprob, &[0.0, 0.0, -0.6, -0.4, -0.001, -0.3], &turn), [0, 1]);
        let nucleus = [0.0, -0.2, 0.0, 0.0, 0.0, -0.3];
        assert_eq!(without_fills(&logprob, &nucleus, &turn), None, "a zero elsewhere");
        assert_eq!(without_fills(&logprob, &[-0.5, -0.2, 0.0, -0.4, -0.1, -0.3], &turn), None, "one alone");
        assert_eq!(without_fills(&logprob, &[-0.5, -0.2, 0.0, 0.0, 0.0, -0.3], &[0; 6]), None, "one turn");
    }
}
