//! The charts: one small file each. `draw` takes the data from the analysis, `ink` draws it at a width,
//! `table` has the numbers.

mod answers;
mod candidates_ordered;
mod chart;
mod class_norm;
mod concentration;
mod energy_share;
mod entropy_change;
mod entropy_reward;
mod matrix;
mod plane;
mod reward_stability;
pub(crate) mod series;
mod signals;
mod silenced_ratio;
mod sweep;
pub mod timeline;
mod vocabulary;

pub(crate) use chart::HEIGHT;
pub use chart::{Chart, Drawn, Missing};

use rayon::prelude::*;

use stapo_result::{PartialAnalysis, RunAnalysis};

/// Draws all charts, in the order of the report.
#[must_use]
pub fn draw_all(analysis: &RunAnalysis) -> Vec<Drawn> {
    let charts: [fn(&RunAnalysis) -> Drawn; 13] = [
        |run| timeline::draw(&run.diagnosis, &run.steps.iter().map(|row| row.step).collect::<Vec<_>>()),
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
    let steps: Vec<i64> = analysis.steps.iter().map(|row| row.step).collect();
    let mut drawn = vec![timeline::draw(&analysis.diagnosis, &steps), signals::draw(&analysis.diagnosis)];
    drawn.extend(answers::draw(&analysis.answers).into_iter().map(Ok));
    drawn
}
