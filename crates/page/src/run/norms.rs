//! What a token weighs in the update by its probability: the curve behind the paper's first claims.

use std::collections::BTreeMap;

use super::Run;
use crate::chart::palette::{LINE, PROOF};
use crate::chart::{Along, Chart, Lines, Series, Unit};
use crate::document::{Block, Figure, Text};
use crate::words;

/// Tokens of a decade that are worth a point.
const FEWEST: u64 = 20;

/// Root mean square of a token's gradient by decade of its probability, as a multiple of that of all tokens.
pub(super) fn by_probability(run: &Run<'_>) -> Option<Block> {
    let plane = &run.full.filter(|full| !full.plane.cells.is_empty())?.plane;
    // Tokens and their energy: with A > 0, with A < 0.
    let mut decades: BTreeMap<i32, [(u64, f64); 2]> = BTreeMap::new();
    let mut all = (0, 0.0);
    for cell in &plane.cells {
        #[allow(clippy::cast_possible_truncation)] // log10 p lies between the ends of the axis
        let decade = plane.log10_prob.edge(usize::from(cell.x)).floor().min(-1.0) as i32;
        let sums = decades.entry(decade).or_default();
        let found = [(cell.positive, cell.positive_energy), (cell.negative, cell.negative_energy)];
        for (sum, (tokens, energy)) in sums.iter_mut().zip(found) {
            *sum = (sum.0 + tokens, sum.1 + energy);
            all = (all.0 + tokens, all.1 + energy);
        }
    }
    decades.retain(|_, sums| sums.iter().any(|(tokens, _)| *tokens >= FEWEST));
    let typical = (all.1 / all.0 as f64).sqrt();
    if decades.len() < 2 || typical.is_nan() || typical <= 0.0 {
        return None;
    }
    let line = |k: usize, name: &str, colour| {
        let points = decades.values().enumerate().map(|(at, sums)| {
            let (tokens, energy) = sums[k];
            let rms = (energy / tokens as f64).sqrt() / typical;
            (at as f64, if tokens >= FEWEST { rms } else { f64::NAN })
        });
        Series { colour, ..Series::new(name, points.collect()) }
    };
    let names = decades.keys().enumerate().map(|(at, decade)| {
        // The ends and the middle: more has no room on a phone.
        let shown = at == 0 || at + 1 == decades.len() || at == decades.len() / 2;
        let word = words::chance(10f64.powi(decade + 1));
        if shown { format!("to {word}") } else { String::new() }
    });
    let names = names.collect();
    Some(Block::Figure(Figure {
        title: "Gradient of a token against its probability".into(),
        note: Text::new()
            .say("Root mean square by decade of p, times that of all tokens: what is rare weighs most."),
        label: "gradient of a token by its probability".into(),
        chart: Chart::Lines(Lines {
            along: Along::Places(names),
            unit: Unit::Times,
            series: vec![line(0, "A > 0", PROOF), line(1, "A < 0", LINE)],
            ..Lines::default()
        }),
        file: Some("plane"),
    }))
}
