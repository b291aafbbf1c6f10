//! The page of a run's curves.

use crate::analyze::{CurveAnalysis, ReadCurve};
use stapo_base::format::{number, words};
use stapo_page::chart::{Chart, Lines, Series};
use stapo_page::document::{Block, Document, Fact, Figure, Place, Section, Text};
use stapo_page::hostile::Hostile;
use stapo_page::told::State;

/// Charts at most.
const CHARTS: usize = 12;
/// The order of charts; others follow as they were read.
const FIRST: [&str; 6] = ["reward", "held_out", "entropy", "kl", "length", "part"];

/// What is said of a run by its curves.
pub fn document(analysis: &CurveAnalysis) -> Document {
    let diagnosis = &analysis.diagnosis;
    let section =
        |id, title: Text, place, blocks: Vec<Block>| Section { id, title, place, blocks, in_terminal: true };
    let quoted = |text: &str| Text::quoting(text.to_owned());
    let mut notes: Vec<Fact> = Vec::new();
    notes.extend(diagnosis.events.iter().map(|event| Fact::new("Event", quoted(&event.sentence))));
    notes.extend(
        diagnosis.causes.iter().map(|cause| Fact::new(words(cause.code.as_str()), quoted(&cause.sentence))),
    );
    notes.extend(diagnosis.signs.iter().map(|sign| Fact::new("Sign", quoted(&sign.sentence))));
    notes.extend(diagnosis.notes.iter().map(|note| Fact::new("Note", quoted(note))));
    if !analysis.unknown_columns.is_empty() {
        notes.push(Fact::new("Unknown columns", quoted(&analysis.unknown_columns.join(", "))));
    }
    // What a run is for stands first, then what moves with it.
    let mut curves: Vec<&ReadCurve> = analysis.curves.iter().filter(|curve| curve.rows > 1).collect();
    curves.sort_by_key(|curve| FIRST.iter().position(|name| *name == curve.name).unwrap_or(FIRST.len()));
    let figures: Vec<Block> = curves.into_iter().take(CHARTS).map(figure).map(Block::Figure).collect();
    // The terminal has room for one line of it.
    let first = figures.first().cloned().into_iter().collect();
    Document {
        name: Hostile::new(if analysis.run.is_empty() { "curves" } else { &analysis.run }),
        size: vec![Text::from(format!(
            "{} steps, {} to {}",
            analysis.steps.count, analysis.steps.first, analysis.steps.last
        ))],
        tone: State::from(diagnosis.state).tone(),
        word: State::from(diagnosis.state).word(),
        sections: vec![
            section("answer", quoted(&diagnosis.sentence), Place::Headline, Vec::new()),
            section("line", Text::new(), Place::Headline, first),
            Section { in_terminal: false, ..section("curves", Text::new(), Place::Charts, figures) },
            section("notes", "What was seen".into(), Place::Notes, vec![Block::notes(notes)]),
            section(
                "more",
                "What tokens would tell".into(),
                Place::Action,
                vec![Block::plain(quoted(&analysis.more))],
            ),
        ],
        terms: Vec::new(),
    }
}

fn figure(curve: &ReadCurve) -> Figure {
    let name = words(&curve.name);
    let end = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
    let (first, last) = (end(curve.points.first()), end(curve.points.last()));
    Figure {
        title: Text::quoting(if curve.name == "part" { curve.column.clone() } else { name.clone() }),
        note: Text::quoting(format!("column {}", curve.column)),
        label: format!("{} to {}", number(first), number(last)),
        chart: Chart::Lines(Lines {
            series: vec![Series::new(format!("{last:.3}"), curve.points.clone())],
            ..Lines::default()
        }),
        file: None,
    }
}
