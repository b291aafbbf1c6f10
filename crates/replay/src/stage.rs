//! What all arms of a replay share: the start, the engine, the log's windows, the hold-out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::holdout::Holdout;
use super::log::{LoggedResponse, Survey, Windows};
use super::model::{Engine, Policy, Sequence, TokenStats};
use super::sequences::{logprobs, sequences};
use super::settings::ReplaySettings;
use stapo_base::error::Result;

/// Log-probabilities of the starting policy that are kept at most, in tokens.
const CACHED_TOKENS: usize = 16_000_000;

/// Tokens that tell how fast a forward pass is.
const TIMED_TOKENS: usize = 1 << 14;

/// A step of the log, ready to be trained on.
#[derive(Clone)]
pub struct StepData {
    /// The responses.
    pub responses: Arc<Vec<LoggedResponse>>,
    /// The same for the model.
    pub sequences: Vec<Sequence>,
    /// ln π of the starting policy, a list a response.
    pub start: Arc<Vec<Vec<f32>>>,
}

/// What an arm finds when it begins.
pub struct Stage<'a> {
    /// The settings.
    pub settings: &'a ReplaySettings,
    /// The log at a glance.
    pub survey: &'a Survey,
    /// Runs the policy.
    pub engine: &'a Engine,
    /// The policy that every arm starts from.
    pub start: &'a Policy,
    /// The held-out responses.
    pub holdout: &'a Holdout,
    windows: Windows<'a>,
    cached: HashMap<usize, Arc<Vec<Vec<f32>>>>,
    cached_tokens: usize,
    /// Tokens through the forward pass, and the seconds they took.
    measured: (u64, f64),
}

impl<'a> Stage<'a> {
    /// Nothing is read yet.
    pub fn new(
        settings: &'a ReplaySettings,
        survey: &'a Survey,
        engine: &'a Engine,
        start: &'a Policy,
        holdout: &'a Holdout,
        windows: Windows<'a>,
    ) -> Self {
        Self {
            settings,
            survey,
            engine,
            start,
            holdout,
            windows,
            cached: HashMap::new(),
            cached_tokens: 0,
            measured: (0, 0.0),
        }
    }

    /// Step number `index` of the survey.
    pub fn step(&mut self, index: usize) -> Result<StepData> {
        let responses = self.windows.step(index)?;
        let sequences = sequences(&responses);
        let start = match self.cached.get(&index) {
            Some(known) => Arc::clone(known),
            None => {
                // The same for all arms, and without any gradient: measured once.
                let stats = self.timed(&sequences)?;
                if self.cached.is_empty() && self.engine.compiles() {
                    self.measured = (0, 0.0);
                    self.timed(first_tokens(&sequences, TIMED_TOKENS))?;
                }
                let start = Arc::new(logprobs(stats));
                self.cached_tokens += start.iter().map(Vec::len).sum::<usize>();
                if self.cached_tokens > CACHED_TOKENS {
                    self.cached.clear();
                    self.cached_tokens = 0;
                }
                self.cached.insert(index, Arc::clone(&start));
                start
            }
        };
        Ok(StepData { responses, sequences, start })
    }

    /// What the starting policy says, with a look at the clock.
    fn timed(&mut self, sequences: &[Sequence]) -> Result<Vec<TokenStats>> {
        let begun = Instant::now();
        let stats = self.engine.measure(self.start, sequences)?;
        self.measured.0 += sequences.iter().map(|s| s.tokens.len() as u64).sum::<u64>();
        self.measured.1 += begun.elapsed().as_secs_f64();
        Ok(stats)
    }

    /// Tokens a second through the forward pass, where some were measured.
    pub fn forward_speed(&self) -> Option<f64> {
        let (tokens, seconds) = self.measured;
        (tokens > 0 && seconds > 0.0).then(|| tokens as f64 / seconds)
    }

    /// Tokens of the log that are in memory at one time, at most.
    pub fn window_tokens(&self) -> u64 {
        self.windows.budget()
    }

    /// Tokens of a mini-batch, at most, as far as the survey knows.
    pub fn largest_minibatch_tokens(&self) -> u64 {
        let steps = self.survey.steps.iter();
        steps.map(|s| s.tokens.div_ceil(s.minibatches.max(1) as u64)).max().unwrap_or(0)
    }
}

/// The first sequences that have so many tokens together, or all.
fn first_tokens(sequences: &[Sequence], tokens: usize) -> &[Sequence] {
    let mut left = tokens;
    let enough = sequences.iter().position(|s| {
        left = left.saturating_sub(s.tokens.len());
        left == 0
    });
    &sequences[..enough.map_or(sequences.len(), |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sequences_with_enough_tokens_are_timed() {
        let sequences: Vec<Sequence> =
            [3, 2, 4].map(|n| Sequence { tokens: vec![0; n], response_start: 1 }).into();
        let taken = |tokens| first_tokens(&sequences, tokens).len();
        assert_eq!([1, 3, 4, 5, 6, 9, 10].map(taken), [1, 1, 2, 2, 3, 3, 3]);
        assert!(first_tokens(&[], 5).is_empty());
    }
}
