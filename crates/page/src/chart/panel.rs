//! Small multiples: a chart of their own each, so that a phone shows two a row.

use plotters::prelude::*;

use super::axis::{Axis, Unit};
use super::canvas::{Area, Fail, HAIR, LABEL, LEFT, U, bold, font, stroke, write};
use super::lines::{Series, draw_line, draw_onset, fill};
use super::palette::{AXIS, LINE, MUTED, PROOF, TEXT};

/// A quantity over the steps: its name, its ends as words, its line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What it is.
    pub name: String,
    /// Its first and its last value.
    pub ends: String,
    /// Step and value.
    pub points: Vec<(f64, f64)>,
    /// What a healthy run has.
    pub healthy: Option<(f64, f64)>,
    /// Where it changed for good.
    pub onset: Option<f64>,
}

impl Panel {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        let values = self.points.iter().map(|p| p.1);
        let y =
            Axis::fitting(values.chain(self.healthy.into_iter().flat_map(|h| [h.0, h.1])), Unit::Plain, 2);
        let steps: Vec<f64> = self.points.iter().map(|p| p.0).collect();
        let mut plot = ChartBuilder::on(root)
            .margin_top(36 * U)
            .margin_bottom(4 * U)
            .margin_right(4 * U)
            .build_cartesian_2d(Axis::steps(&steps), y)?;
        write(root, &self.name, (0, 8 * U), bold(LABEL, TEXT), LEFT)?;
        write(root, &self.ends, (0, 23 * U), font(LABEL, MUTED), LEFT)?;
        if let Some(((low, high), (first, last))) = self.healthy.zip(steps.first().zip(steps.last())) {
            fill(&mut plot, &[(*first, low, high), (*last, low, high)])?;
        }
        let (wide, high) = plot.plotting_area().get_pixel_range();
        stroke(root, (wide.start, high.end), (wide.end, high.end), AXIS.stroke_width(HAIR))?;
        if let Some(at) = self.onset {
            draw_onset(root, &plot, at, None)?;
        }
        let colour = if self.onset.is_some() { PROOF } else { LINE };
        draw_line(&mut plot, &Series { colour, ..Series::new("", self.points.clone()) }, false)
    }
}
