//! The charts of a comparison.

mod arms;
mod differences;
mod gap;
mod look;
mod movers;
mod over_steps;
mod plane_change;
mod spurious;
mod stability;
mod trainer;

use rayon::prelude::*;

use crate::charts::Drawn;
use stapo_compare::Comparison;

/// Arms against the baseline that have charts of their own at most.
const ARMS: usize = 3;

/// A chart of one arm that says how many arms have none.
fn with_others(comparison: &Comparison, drawn: Drawn) -> Drawn {
    let all = comparison.distributions.len();
    let said =
        || format!("{ARMS} of {all} arms have this chart, first those that differ; all are in the tables.");
    drawn.map(|mut chart| {
        chart.notes.extend((all > ARMS).then(said));
        chart
    })
}

/// Draws all charts, in the order of the report.
#[must_use]
pub fn draw_all(comparison: &Comparison) -> Vec<Drawn> {
    type Draw = Box<dyn Fn(&Comparison) -> Drawn + Send + Sync>;
    let mut charts: Vec<Draw> = vec![
        Box::new(differences::draw),
        Box::new(over_steps::entropy),
        Box::new(over_steps::reward),
        Box::new(gap::draw),
        Box::new(over_steps::silenced),
        Box::new(stability::draw),
    ];
    let others = arms::chosen(comparison).into_iter().skip(1);
    let changes = others.filter_map(|c| comparison.distributions.iter().position(|d| d.run == c.arm.name));
    for (place, arm) in changes.take(ARMS).enumerate() {
        charts.push(Box::new(move |c| with_others(c, plane_change::draw(&c.distributions[arm], place))));
        charts.push(Box::new(move |c| with_others(c, movers::draw(&c.distributions[arm], place))));
    }
    charts.push(Box::new(spurious::draw));
    charts.push(Box::new(trainer::draw));
    charts.par_iter().map(|draw| draw(comparison)).collect()
}
