//! Lines over steps, or over places in a row: with a band, an onset, a thick end, a name at each end.

use std::ops::Range;

use plotters::prelude::*;

use super::axis::{Axis, Unit};
use super::canvas::{
    Area, BOLD, FINE, Fail, HAIR, LABEL, LEFT, MIDDLE, Margins, Plot, RIGHT, THICK, U, bold, font, frame,
    stroke, write,
};
use super::palette::{BAND, LINE, MUTED, ONSET};

/// A line; gaps are where y is not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What stands at its end: its name or its last value.
    pub name: String,
    /// x and y, x ascending.
    pub points: Vec<(f64, f64)>,
    /// Its colour.
    pub colour: RGBColor,
    /// From where on its mean is drawn as a thick line, and that mean.
    pub end: Option<(f64, f64)>,
    /// How far its values are known: x, lower and upper end.
    pub spread: Vec<(f64, f64, f64)>,
}

impl Series {
    /// A line in the colour of what is measured.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, colour: LINE, end: None, spread: Vec::new() }
    }

    /// The same line where it has more rows than a line shows: means of neighbouring rows, between the lowest and the
    /// highest of them.
    #[must_use]
    pub fn of_rows(self) -> Self {
        let rows = self.points.len();
        if rows <= ROWS {
            return self;
        }
        let edges: Vec<usize> = (0..=BLOCKS).map(|block| block * rows / BLOCKS).collect();
        let blocks = || edges.windows(2).map(|ends| &self.points[ends[0]..ends[1]]);
        let mean = |rows: &[(f64, f64)]| {
            (rows[rows.len() / 2].0, rows.iter().map(|row| row.1).sum::<f64>() / rows.len() as f64)
        };
        let means: Vec<(f64, f64)> = blocks().map(mean).collect();
        let ends = blocks().zip(&means).map(|(rows, (x, _))| {
            let values = || rows.iter().map(|row| row.1);
            (*x, values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        });
        let spread = ends.collect();
        Self { points: means, spread, ..self }
    }
}

/// Rows that a line shows, and blocks that more are drawn as.
const ROWS: usize = 160;
const BLOCKS: usize = 80;

/// Where values of a healthy run lie, or how far a value is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// x, its lower and its upper end.
    pub points: Vec<(f64, f64, f64)>,
    /// What it is.
    pub label: String,
}

/// What x is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Along {
    /// Steps of training.
    #[default]
    Steps,
    /// Places in a row with these names, at 0, 1, 2, …
    Places(Vec<String>),
}

/// A chart of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// What x is.
    pub along: Along,
    /// The ends of y, which are seen as ticks then; where absent, those of the values.
    pub range: Option<Range<f64>>,
    /// How values of y are written.
    pub unit: Unit,
    /// The lines.
    pub series: Vec<Series>,
    /// Behind them.
    pub band: Option<Band>,
    /// Where something began, and what.
    pub onset: Option<(f64, String)>,
}

/// Points up to which each is a dot, too.
const DOTS: usize = 24;

impl Lines {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        let y = self.y();
        let x = self.x();
        let names = self.series.iter().map(|s| super::canvas::width(&s.name, LABEL)).max().unwrap_or(0) + 10;
        // The last name of a place is centred under the end of the axis.
        let right = names.max(if matches!(self.along, Along::Places(_)) { 20 } else { 10 });
        let margins = Margins { top: 18, right, bottom: 18, left: Margins::beside(&y) };
        let mut plot = frame(root, x, y, margins)?;
        if let Some(band) = &self.band {
            draw_band(root, &mut plot, band)?;
        }
        for series in &self.series {
            fill(&mut plot, &series.spread)?;
        }
        if let Some((at, words)) = &self.onset {
            draw_onset(root, &plot, *at, Some(words))?;
        }
        for series in &self.series {
            draw_line(&mut plot, series, series.points.len() <= DOTS)?;
        }
        draw_names(root, &plot, &self.series)
    }

    fn x(&self) -> Axis {
        if let Along::Places(names) = &self.along {
            return Axis::places(names.iter().cloned());
        }
        let mut steps: Vec<f64> = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.0)).collect();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        Axis::steps(&steps)
    }

    fn y(&self) -> Axis {
        if let Some(range) = &self.range {
            // Ratios begin at 1, whose double is not at the middle of a range.
            let ratios = self.unit == Unit::Times;
            return if ratios {
                Axis::linear(range.clone(), self.unit, 3)
            } else {
                Axis::whole(range.clone(), self.unit)
            };
        }
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
        let bands = self.band.iter().map(|band| &band.points).chain(self.series.iter().map(|s| &s.spread));
        let band = bands.flatten().flat_map(|p| [p.1, p.2]).filter(|end| end.is_finite());
        Axis::fitting(points.chain(band), self.unit, 4)
    }
}

/// A line between its gaps; a point alone is a dot.
pub(super) fn draw_line(plot: &mut Plot<'_>, series: &Series, dots: bool) -> Result<(), Fail> {
    let colour = series.colour;
    let width = if series.points.len() > 120 { FINE } else { BOLD };
    let fine = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    for run in series.points.split(|p| !fine(p)).filter(|run| !run.is_empty()) {
        if run.len() > 1 {
            plot.draw_series(LineSeries::new(run.iter().copied(), colour.stroke_width(width)))?;
        }
        if dots || run.len() == 1 {
            plot.draw_series(run.iter().map(|p| Circle::new(*p, 10, colour.filled())))?;
        }
    }
    let last = series.points.iter().rev().find(|p| fine(p)).map(|p| p.0);
    if let Some(((from, mean), to)) =
        series.end.zip(last).filter(|((from, mean), to)| from < to && mean.is_finite())
    {
        plot.draw_series([PathElement::new([(from, mean), (to, mean)], colour.stroke_width(THICK))])?;
    }
    Ok(())
}

fn draw_band(root: &Area<'_>, plot: &mut Plot<'_>, band: &Band) -> Result<(), Fail> {
    fill(plot, &band.points)?;
    let Some((x, low, high)) = band.points.last().filter(|_| !band.label.is_empty()) else { return Ok(()) };
    let end = plot.plotting_area().get_pixel_range();
    let (top, bottom) = (plot.backend_coord(&(*x, *high)).1, plot.backend_coord(&(*x, *low)).1);
    // Inside where there is room, else above.
    let inside = bottom - top > 16 * U;
    let y = if inside { top + 9 * U } else { (top - 8 * U).max(end.1.start + 6 * U) };
    write(root, &band.label, (end.0.end - 4 * U, y), font(LABEL, MUTED), RIGHT)
}

/// The area between lower and upper ends.
pub(super) fn fill(plot: &mut Plot<'_>, points: &[(f64, f64, f64)]) -> Result<(), Fail> {
    for run in points.split(|p| !(p.1.is_finite() && p.2.is_finite())).filter(|run| run.len() > 1) {
        let lower = run.iter().map(|p| (p.0, p.1));
        let rim: Vec<_> = lower.chain(run.iter().rev().map(|p| (p.0, p.2))).collect();
        plot.draw_series([Polygon::new(rim, BAND.filled())])?;
    }
    Ok(())
}

/// A dashed upright with its words above the plot, kept inside of the drawing.
pub(super) fn draw_onset(root: &Area<'_>, plot: &Plot<'_>, x: f64, words: Option<&str>) -> Result<(), Fail> {
    let (wide, high) = plot.plotting_area().get_pixel_range();
    let at = plot.backend_coord(&(x, 0.0)).0.clamp(wide.start, wide.end);
    stroke(root, (at, high.start), (at, high.end), ONSET.stroke_width(HAIR))?;
    let Some(words) = words else { return Ok(()) };
    let half = super::canvas::width(words, LABEL) * U / 2;
    let room = root.get_pixel_range().0;
    let at = at.min(room.end - half).max(room.start + half);
    write(root, words, (at, high.start - 8 * U), font(LABEL, MUTED), MIDDLE)
}

/// Names at the ends of lines, pushed apart: they stand for a legend.
fn draw_names(root: &Area<'_>, plot: &Plot<'_>, series: &[Series]) -> Result<(), Fail> {
    let (wide, high) = plot.plotting_area().get_pixel_range();
    let last = |s: &Series| {
        let point = s.points.iter().rev().find(|p| p.1.is_finite())?;
        let y = s.end.map_or(point.1, |end| end.1);
        Some(plot.backend_coord(&(point.0, y)).1)
    };
    let mut ends: Vec<_> = series.iter().filter_map(|s| Some((last(s)?, s))).collect();
    ends.sort_by_key(|end| end.0);
    let gap = 13 * U;
    for i in 1..ends.len() {
        ends[i].0 = ends[i].0.max(ends[i - 1].0 + gap);
    }
    let mut floor = high.end;
    for (y, s) in ends.iter().rev() {
        let y = (*y).min(floor);
        floor = y - gap;
        write(root, &s.name, (wide.end + 6 * U, y), bold(LABEL, s.colour), LEFT)?;
    }
    Ok(())
}
