//! How arms look in every chart.

use crate::draw::{Dash, Ink, Mark, Pen, font};
use crate::text::prose;

/// Arms that are drawn at most: more could not be told apart.
pub const RUNS: usize = 8;

/// How the arm that is drawn at this place looks in every chart.
pub fn look(index: usize) -> (Pen, Mark) {
    const LOOKS: [(Ink, Dash, Mark); RUNS] = [
        (Ink::Exploratory, Dash::Solid, Mark::Dot),
        (Ink::Spurious, Dash::Long, Mark::Diamond),
        (Ink::Green, Dash::Short, Mark::Square),
        (Ink::Purple, Dash::Dots, Mark::Up),
        (Ink::Orange, Dash::Solid, Mark::Down),
        (Ink::Text, Dash::Long, Mark::Cross),
        (Ink::Neutral, Dash::Short, Mark::Ring),
        (Ink::Density, Dash::Dots, Mark::Dot),
    ];
    let (ink, dash, mark) = LOOKS[index % RUNS];
    (Pen::new(ink).dash(dash).width(2.2), mark)
}

/// A name of an arm in a legend or beside a mark.
pub fn label(name: &str) -> String {
    font::fit_ends(&prose(name), 12.0, 150.0)
}
