//! What the sections of the page are made of.

use super::case_rows::{self, Chosen};
use super::rollouts_data::{self, Rollouts};
use super::tuning_data::{self, TuningData};
use super::views::{self, View};
use crate::charts::Drawn;
use crate::run_name;
use stapo_base::format::{counted, grouped as count};
use stapo_result::Provenance;
use stapo_result::RunAnalysis;

/// Bytes that the parts which grow with the log may take, by what a reader misses most.
#[derive(Clone, Copy, Debug)]
pub struct PageBudget {
    /// Candidates for live thresholds.
    pub candidates: usize,
    /// Flagged tokens in their context.
    pub cases: usize,
    /// Whole responses that need no script.
    pub responses: usize,
    /// Responses to browse.
    pub rollouts: usize,
    /// From a step to its flagged tokens.
    pub drill: usize,
}

impl PageBudget {
    /// All that a page has room for.
    pub const FULL: Self = Self {
        candidates: 1_100_000,
        cases: 1_200_000,
        responses: 350_000,
        rollouts: 900_000,
        drill: 250_000,
    };

    /// A part of it.
    pub fn scaled(self, percent: usize) -> Self {
        let part = |bytes: usize| bytes / 100 * percent;
        Self {
            candidates: part(self.candidates),
            cases: part(self.cases),
            responses: part(self.responses),
            rollouts: part(self.rollouts),
            drill: part(self.drill),
        }
    }
}

/// What sections show.
pub struct Material<'a> {
    /// The result.
    pub analysis: &'a RunAnalysis,
    /// Its charts.
    pub charts: &'a [Drawn],
    /// What the page has room for.
    pub budget: PageBudget,
    /// The flagged tokens that fit.
    pub cases: Chosen<'a>,
    /// The responses that fit.
    pub views: Vec<View<'a>>,
    /// The responses to browse, where there are any.
    pub rollouts: Option<Rollouts>,
    /// The candidates for live thresholds, where they fit.
    pub tuning: Option<TuningData>,
}

impl<'a> Material<'a> {
    /// Chooses what fits.
    pub fn new(analysis: &'a RunAnalysis, charts: &'a [Drawn], budget: PageBudget) -> Self {
        let ((cases, tuning), (views, rollouts)) = rayon::join(
            || {
                let cases = case_rows::choose(analysis, budget.cases);
                let tuning = tuning_data::collect(analysis, &cases, budget.candidates);
                (cases, tuning)
            },
            || {
                let views = views::choose(analysis, budget.responses);
                (views, rollouts_data::collect(analysis, budget.rollouts))
            },
        );
        Self { analysis, charts, budget, cases, views, rollouts, tuning }
    }

    /// How many spurious and exploratory tokens a step has, shown or not.
    pub fn flagged_at(&self, step: i64) -> [u64; 2] {
        let steps = &self.analysis.steps;
        let row = steps.binary_search_by_key(&step, |row| row.step).ok().map(|at| &steps[at]);
        row.map_or([0; 2], |row| [row.silenced, row.exploratory])
    }

    /// The run's name: its file, or how many there are.
    pub fn run_name(&self) -> String {
        run_name(&self.analysis.provenance)
    }

    /// How large the run is.
    pub fn facts(&self) -> String {
        let totals = &self.analysis.totals;
        size(totals.tokens, totals.responses, totals.steps)
    }
}

/// The name of a run.
pub fn run_name(provenance: &Provenance) -> String {
    run_name::by_files(&provenance.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>())
}

/// How large a run is.
pub fn size(tokens: u64, responses: u64, steps: u64) -> String {
    let steps = counted(steps, "step", "steps");
    format!("{} tokens · {} responses · {steps}", count(tokens), count(responses))
}
