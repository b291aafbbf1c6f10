//! The charts: one small file each. `draw` takes the data from the analysis, `ink` draws it at a width,
//! `table` has the numbers.

mod answers;
mod candidates_ordered;
mod class_norm;
mod concentration;
mod energy_share;
mod entropy_change;
mod entropy_quantile;
mod entropy_reward;
mod matrix;
mod plane;
mod reward_stability;
mod rules_overlap;
pub(in crate::report) mod series;
mod signals;
mod silenced_ratio;
mod strategies;
mod sweep;
pub mod timeline;
mod vocabulary;

use rayon::prelude::*;

use super::draw::Scenes;
use crate::analyze::{PartialAnalysis, RunAnalysis};
use crate::tables::DataFrame;

/// A chart with what belongs to it.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of its files.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// One sentence: how to read it.
    pub reading: String,
    /// Sample sizes, estimates, what was left out.
    pub notes: Vec<String>,
    /// The drawing.
    pub scenes: Scenes,
    /// The numbers.
    pub table: DataFrame,
}

/// A chart that the log holds no data for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Title.
    pub title: &'static str,
    /// What it needs.
    pub needs: String,
}

impl Missing {
    /// A chart that is left out.
    pub(in crate::report) fn new(title: &'static str, needs: impl Into<String>) -> Self {
        Self { title, needs: needs.into() }
    }
}

/// A chart, or why there is none.
pub type Drawn = Result<Chart, Missing>;

/// Height of most charts in pixels, without the title.
pub(in crate::report) const HEIGHT: u32 = 360;

/// Draws all charts, in the order of the report.
#[must_use]
pub fn draw_all(analysis: &RunAnalysis) -> Vec<Drawn> {
    let charts: [fn(&RunAnalysis) -> Drawn; 16] = [
        |run| timeline::draw(&run.diagnosis, ends(run.steps.iter().map(|row| row.step))),
        |run| signals::draw(&run.diagnosis),
        concentration::draw,
        entropy_reward::draw,
        silenced_ratio::draw,
        plane::draw,
        vocabulary::draw,
        class_norm::draw,
        energy_share::draw,
        candidates_ordered::draw,
        sweep::draw,
        strategies::draw,
        rules_overlap::draw,
        entropy_quantile::draw,
        entropy_change::draw,
        reward_stability::draw,
    ];
    let mut drawn: Vec<Drawn> = charts.par_iter().map(|draw| draw(analysis)).collect();
    drawn.extend(answers::draw(&analysis.answers).into_iter().map(Ok));
    drawn
}

/// Draws the charts that need no entropy, in the order of the report.
#[must_use]
pub fn draw_partial(analysis: &PartialAnalysis) -> Vec<Drawn> {
    let steps = ends(analysis.steps.iter().map(|row| row.step));
    let mut drawn = vec![timeline::draw(&analysis.diagnosis, steps), signals::draw(&analysis.diagnosis)];
    drawn.extend(answers::draw(&analysis.answers).into_iter().map(Ok));
    drawn
}

/// The first and the last of some steps.
fn ends(mut steps: impl DoubleEndedIterator<Item = i64> + Clone) -> Option<(i64, i64)> {
    steps.clone().next().zip(steps.next_back())
}
