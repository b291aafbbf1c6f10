//! Charts with a row a thing: bars, intervals, events.

use plotters::prelude::*;

use super::axis::{Axis, Unit};
use super::canvas::{Area, BOLD, Fail, HAIR, LABEL, LEFT, Margins, U, bold, font, frame, rows, width, write};
use super::palette::{MUTED, ONSET, PROOF, SECOND, TEXT};

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What stands at its left.
    pub name: String,
    /// How long it is.
    pub value: f64,
    /// What stands at its end.
    pub words: String,
    /// Whether it is what the chart is about.
    pub proof: bool,
}

/// Bars, and a level to hold them against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// From the top.
    pub bars: Vec<Bar>,
    /// The level and its name.
    pub level: Option<(f64, String)>,
}

/// A value and how far it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// What stands at its left.
    pub name: String,
    /// The value.
    pub middle: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Intervals, and what they are held against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    /// From the top.
    pub rows: Vec<Interval>,
    /// Those that leave it out stand out.
    pub reference: f64,
    /// How values are written.
    pub unit: Unit,
}

/// Something that began at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What, with its step.
    pub name: String,
    /// Its first step.
    pub from: f64,
    /// Where it ended: a bar; else a triangle.
    pub to: Option<f64>,
    /// Whether it is the first cause.
    pub proof: bool,
}

/// What began when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// The earliest first.
    pub events: Vec<Event>,
    /// The steps of the run.
    pub steps: Vec<f64>,
}

/// Pixels of a row.
const ROW: i32 = 19;

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
pub(super) fn height(rows: usize) -> i32 {
    24 + ROW * rows.min(100) as i32
}

fn colour(proof: bool) -> RGBColor {
    if proof { PROOF } else { SECOND }
}

impl Bars {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        let names: Vec<&str> = self.bars.iter().map(|bar| bar.name.as_str()).collect();
        let note = self.bars.iter().map(|bar| width(&bar.words, LABEL)).max().unwrap_or(0) + 12;
        let level = self.level.as_ref().map(|level| level.0);
        let longest =
            self.bars.iter().map(|bar| bar.value).chain(level).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let ticks = self.level.clone().into_iter().collect();
        let mut plot = rows(root, &names, Axis::named(0.0..longest.max(f64::MIN_POSITIVE), ticks), note)?;
        for (row, bar) in self.bars.iter().enumerate() {
            let y = row as f64;
            let fill = colour(bar.proof).filled();
            plot.draw_series([Rectangle::new([(0.0, y + 0.18), (bar.value, y + 0.82)], fill)])?;
            let (x, y) = plot.backend_coord(&(bar.value, y + 0.5));
            write(root, &bar.words, (x + 6 * U, y), bold(LABEL, TEXT), LEFT)?;
        }
        let Some(level) = level else { return Ok(()) };
        let upright = [(level, 0.0), (level, names.len() as f64)];
        plot.draw_series([PathElement::new(upright, ONSET.stroke_width(HAIR))])?;
        Ok(())
    }
}

impl Intervals {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        let names: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        let ends = self.rows.iter().flat_map(|row| [row.low, row.high]).chain([self.reference]);
        let mut plot = rows(root, &names, Axis::fitting(ends, self.unit, 4), 16)?;
        let upright = [(self.reference, 0.0), (self.reference, names.len() as f64)];
        plot.draw_series([PathElement::new(upright, ONSET.stroke_width(HAIR))])?;
        for (i, row) in self.rows.iter().enumerate() {
            let y = i as f64 + 0.5;
            let colour = colour(!(row.low..=row.high).contains(&self.reference));
            plot.draw_series([PathElement::new([(row.low, y), (row.high, y)], colour.stroke_width(BOLD))])?;
            plot.draw_series([Circle::new((row.middle, y), 4 * U, colour.filled())])?;
        }
        Ok(())
    }
}

impl Events {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        let y = Axis::named(self.events.len() as f64..0.0, vec![]);
        let plot =
            frame(root, Axis::steps(&self.steps), y, Margins { top: 2, right: 14, bottom: 18, left: 10 })?;
        let wide = plot.plotting_area().get_pixel_range().0;
        for (i, event) in self.events.iter().enumerate() {
            let row = i as f64;
            let (x, y) = plot.backend_coord(&(event.from, row + 0.5));
            let colour = colour(event.proof);
            if let Some(to) = event.to {
                let end = plot.backend_coord(&(to, row)).0.max(x + 3 * U);
                let bar = [(x, y - 7 * U), (end, y + 7 * U)];
                root.use_screen_coord().draw(&Rectangle::new(bar, colour.mix(0.3).filled()))?;
            } else {
                root.use_screen_coord().draw(&TriangleMarker::new((x, y), 4 * U, colour.filled()))?;
            }
            // Before its mark where there is no room after it.
            let long = 8 * U + U * width(&event.name, LABEL) * 9 / 10;
            let after = x + long <= wide.end + 12 * U || x - long < 0;
            let (x, pos) = if after { (x + 8 * U, LEFT) } else { (x - 8 * U, super::canvas::RIGHT) };
            write(
                root,
                &event.name,
                (x, y),
                font(LABEL, if event.to.is_some() { TEXT } else { MUTED }),
                pos,
            )?;
        }
        Ok(())
    }
}
