//! What all arms of a replay share: the start, the engine, the log's windows, the hold-out.

use std::collections::HashMap;
use std::sync::Arc;

use super::holdout::Holdout;
use super::log::{LoggedResponse, Survey, Windows};
use super::model::{Engine, Policy, Sequence, TokenStats};
use super::settings::ReplaySettings;
use crate::error::Result;

/// Log-probabilities of the starting policy that are kept at most, in tokens.
const CACHED_TOKENS: usize = 16_000_000;

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

/// See the module.
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
        Self { settings, survey, engine, start, holdout, windows, cached: HashMap::new(), cached_tokens: 0 }
    }

    /// Step number `index` of the survey.
    pub fn step(&mut self, index: usize) -> Result<StepData> {
        let responses = self.windows.step(index)?;
        let sequences = sequences(&responses);
        let start = match self.cached.get(&index) {
            Some(known) => Arc::clone(known),
            None => {
                // The same for all arms, and without any gradient: measured once.
                let stats = self.engine.measure(self.start, &sequences)?;
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
}

/// Responses as the model takes them.
#[must_use]
pub fn sequences(responses: &[LoggedResponse]) -> Vec<Sequence> {
    let one = |r: &LoggedResponse| Sequence { tokens: r.tokens.clone(), response_start: r.response_start };
    responses.iter().map(one).collect()
}

/// ln π of every token.
#[must_use]
pub fn logprobs(stats: Vec<TokenStats>) -> Vec<Vec<f32>> {
    stats.into_iter().map(|s| s.logprob).collect()
}
