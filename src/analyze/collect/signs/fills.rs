//! Zeros that fill the places of tokens which the sampler did not draw: frameworks write them at observations.

/// Tokens of the trainer's probability below this were not certain to the sampler.
const UNLIKELY: f32 = 0.1;
/// A single zero may be a token that a narrow nucleus kept alone, …
const FEWEST: usize = 2;
/// … which no policy gives less than this: it is the most likely of all.
const NEVER_ALONE: f32 = 1e-3;

/// The sampler's log-probabilities with NaN for fills: two exact zeros or more in a row (p = 1 to the last bit),
/// one of them at a token that the trainer finds unlikely, or one at a token that it all but rules out. `None` where no zero is at such a token.
pub fn without_fills(logprob: &[f32], rollout: &[f32]) -> Option<Vec<f32>> {
    let unlikely = UNLIKELY.ln();
    let pairs = || rollout.iter().zip(logprob);
    if !pairs().fold(false, |any, (rollout, logprob)| any | ((*rollout == 0.0) & (*logprob < unlikely))) {
        return None;
    }
    let mut known = rollout.to_vec();
    let mut first = 0;
    for run in rollout.chunk_by(|a, b| (*a == 0.0) == (*b == 0.0)) {
        let places = first..first + run.len();
        first = places.end;
        let bound = if run.len() >= FEWEST { unlikely } else { NEVER_ALONE.ln() };
        let is_unlikely = |t: usize| logprob.get(t).is_some_and(|logprob| *logprob < bound);
        if run[0] == 0.0 && places.clone().any(is_unlikely) {
            known[places].fill(f32::NAN);
        }
    }
    Some(known)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_zeros_at_unlikely_tokens_are_fills() {
        let logprob = [-0.5, -4.0, -0.1, -0.2, -0.3, -5.0, -0.4];
        let rollout = [-0.5, 0.0, 0.0, -0.2, -0.3, 0.0, -0.4];
        let known = without_fills(&logprob, &rollout).unwrap();
        let filled: Vec<usize> = (0..7).filter(|t| known[*t].is_nan()).collect();
        assert_eq!(filled, [1, 2], "the single zero stays");
        let known = without_fills(&[-0.5, -9.0], &[-0.5, 0.0]).unwrap();
        assert!(known[1].is_nan(), "nothing that unlikely is kept alone");
        // A certain sampler is one.
        assert_eq!(without_fills(&[-0.05, -0.01, -0.2], &[0.0, 0.0, -0.1]), None);
        assert_eq!(without_fills(&logprob, &[]), None);
    }
}
