//! Reads whole steps, as many at a time as fit into a budget of tokens.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::intake::{Needs, Reading, take_over};
use super::response::{COLUMNS, LoggedResponse};
use super::survey::Survey;
use stapo_base::error::Result;
use stapo_batch::progress::Silent;
use stapo_ingest::{Run, scan_in_order};

/// Tokens (prompts included) that are kept in memory at most, unless one step has more.
const WINDOW_TOKENS: u64 = 8_000_000;

/// The log's responses, a few steps at a time.
pub struct Windows<'a> {
    run: &'a Run,
    survey: &'a Survey,
    needs: Needs,
    budget: u64,
    range: Range<usize>,
    steps: Vec<Arc<Vec<LoggedResponse>>>,
}

impl<'a> Windows<'a> {
    /// Nothing is read yet. `needs` says what tokens cannot be trained on without.
    pub fn new(run: &'a Run, survey: &'a Survey, needs: Needs) -> Self {
        Self { run, survey, needs, budget: WINDOW_TOKENS, range: 0..0, steps: Vec::new() }
    }

    /// Tokens that are kept in memory at most.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// The responses of step number `index` of the survey that are trained on.
    pub fn step(&mut self, index: usize) -> Result<Arc<Vec<LoggedResponse>>> {
        if !self.range.contains(&index) {
            self.read_from(index)?;
        }
        Ok(self.steps.get(index - self.range.start).cloned().unwrap_or_default())
    }

    fn read_from(&mut self, first: usize) -> Result<()> {
        let plans = &self.survey.steps;
        let (mut end, mut tokens) = (first, 0);
        while let Some(plan) = plans.get(end).filter(|p| end == first || tokens + p.tokens <= self.budget) {
            tokens += plan.tokens;
            end += 1;
        }
        let wanted = plans[first..end].iter().enumerate();
        let places =
            wanted.flat_map(|(place, plan)| plan.responses.iter().map(move |o| (*o, place))).collect();
        // The old window goes before the new one comes.
        self.steps.clear();
        let (steps, _) = self.read(places, end - first)?;
        self.steps = steps.into_iter().map(Arc::new).collect();
        self.range = first..end;
        Ok(())
    }

    /// The held-out responses, and how many trained tokens of the log lack a number.
    pub fn holdout(&self) -> Result<Vec<LoggedResponse>> {
        let places = self.survey.holdout.iter().map(|ordinal| (*ordinal, 0)).collect();
        let (mut steps, _) = self.read(places, 1)?;
        Ok(steps.pop().unwrap_or_default())
    }

    /// Counts trained tokens that lack a number, over the whole replay.
    pub fn incomplete_tokens(&self) -> Result<u64> {
        let places = self.survey.steps.iter().flat_map(|s| s.responses.iter().map(|o| (*o, 0)));
        let places: HashMap<u64, usize> = places.collect();
        let (mut next, mut incomplete) = (0, 0);
        scan_in_order(self.run, COLUMNS, &Silent, &mut |batch| {
            for i in 0..batch.len() {
                if places.contains_key(&next) {
                    incomplete += take_over(&batch, i, next, self.reading()).1;
                }
                next += 1;
            }
            Ok(())
        })?;
        Ok(incomplete)
    }

    fn reading(&self) -> Reading<'a> {
        Reading { groups: &self.survey.groups, labels: &self.survey.labels, needs: self.needs }
    }

    fn read(&self, places: HashMap<u64, usize>, steps: usize) -> Result<(Vec<Vec<LoggedResponse>>, u64)> {
        let mut found: Vec<Vec<LoggedResponse>> = vec![Vec::new(); steps];
        let (mut next, mut incomplete) = (0, 0);
        scan_in_order(self.run, COLUMNS, &Silent, &mut |batch| {
            for i in 0..batch.len() {
                if let Some(place) = places.get(&next) {
                    let (response, lacking) = take_over(&batch, i, next, self.reading());
                    found[*place].push(response);
                    incomplete += lacking;
                }
                next += 1;
            }
            Ok(())
        })?;
        Ok((found, incomplete))
    }
}
