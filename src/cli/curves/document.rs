//! The page of a run's curves.

use std::path::PathBuf;

use crate::analyze::{CurveAnalysis, ReadCurve};
use stapo_base::format::{number, words};
use stapo_compare::RunInput;
use stapo_compare::names::of_input;
use stapo_page::chart::{Chart, Lines, Series};
use stapo_page::document::{Block, Document, Fact, Figure, Place, Section, Tab, Text};
use stapo_page::hostile::Hostile;
use stapo_page::told::State;

/// Charts of the first screen, and of all.
const CHARTS: [usize; 2] = [6, 24];
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
    let is_flat = |curve: &ReadCurve| curve.points.windows(2).all(|two| two[0].1 == two[1].1);
    curves.sort_by_key(|curve| {
        (is_flat(curve), FIRST.iter().position(|name| *name == curve.name).unwrap_or(FIRST.len()))
    });
    let mut figures: Vec<Block> = curves.into_iter().take(CHARTS[1]).map(figure).map(Block::Figure).collect();
    let others = figures.split_off(figures.len().min(CHARTS[0]));
    // The terminal has room for one line of it.
    let first = figures.first().cloned().into_iter().collect();
    Document {
        name: Hostile::new(name(analysis)),
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
            Section {
                in_terminal: false,
                ..section("others", "Other curves".into(), Place::Tab(Tab::Signals), others)
            },
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

/// The name of the run, else of its file.
fn name(analysis: &CurveAnalysis) -> String {
    let paths = analysis.files.iter().map(PathBuf::from).collect();
    let own = Some(analysis.run.clone()).filter(|name| !name.is_empty());
    of_input(&RunInput { name: own, paths })
}

fn figure(curve: &ReadCurve) -> Figure {
    let name = words(&curve.name);
    let end = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
    let series = Series::new("", curve.points.clone()).of_rows();
    let (first, last) = (end(series.points.first()), end(series.points.last()));
    let is_part = curve.name == "part";
    Figure {
        title: Text::quoting(if is_part { curve.column.clone() } else { name }),
        note: Text::quoting(if is_part { "part of the reward".into() } else { curve.column.clone() }),
        label: format!("{} to {}", number(first), number(last)),
        chart: Chart::Lines(Lines {
            series: vec![Series { name: number(last), ..series }],
            ..Lines::default()
        }),
        file: None,
    }
}
