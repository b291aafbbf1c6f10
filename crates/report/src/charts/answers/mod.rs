//! Charts of what engineers ask beyond the framework. A chart without data is left out without a word:
//! `not_answered` says what to log.

mod bars;
mod lines;
mod over_steps;

use super::Chart;
use stapo_result::Answers;

/// Draws those that the log has data for.
pub fn draw(answers: &Answers) -> Vec<Chart> {
    let mut charts: Vec<Chart> = [
        over_steps::effective_share(answers),
        bars::by_probability(answers),
        bars::by_lag(answers),
        bars::corrections(answers),
        over_steps::pass_at(answers),
        over_steps::reward_parts(answers),
        over_steps::clip_corners(answers),
    ]
    .into_iter()
    .flatten()
    .collect();
    charts.extend(bars::slices(answers));
    charts
}
