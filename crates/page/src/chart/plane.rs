//! Counts on a plane as cells of five shades.

use plotters::prelude::*;

use super::axis::Axis;
use super::canvas::{Area, Fail, HAIR, LABEL, LEFT, Margins, U, font, frame, write};
use super::palette::{DENSITY, MUTED, ONSET, PROOF};

/// Counts by two quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// Rows from the bottom, columns from the left.
    pub cells: Vec<Vec<f64>>,
    /// The quantity along x.
    pub x: Axis,
    /// The quantity along y.
    pub y: Axis,
    /// Points that stand out.
    pub marks: Vec<(f64, f64)>,
    /// An upright and a level, with their names.
    pub cuts: [Option<(f64, &'static str)>; 2],
}

/// How dark a shade is.
const SHADES: [f64; 6] = [0.0, 0.1, 0.22, 0.36, 0.55, 0.8];
/// Marks that are drawn at most.
const MARKS: usize = 150;

impl Plane {
    pub(super) fn draw(&self, root: &Area<'_>) -> Result<(), Fail> {
        use plotters::coord::ranged1d::Ranged as _;
        let (wide, high) = (self.x.range(), self.y.range());
        let margins = Margins { top: 12, right: 14, bottom: 18, left: Margins::beside(&self.y) };
        let mut plot = frame(root, self.x.clone(), self.y.clone(), margins)?;
        let most = self.cells.iter().flatten().copied().filter(|n| n.is_finite()).fold(1.0, f64::max);
        let columns = self.cells.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64;
        let rows = self.cells.len().max(1) as f64;
        let corner = |column: usize, row: usize| {
            let x = wide.start + (wide.end - wide.start) * column as f64 / columns;
            (x, high.start + (high.end - high.start) * row as f64 / rows)
        };
        for (r, row) in self.cells.iter().enumerate() {
            let mut column = 0;
            // Neighbours of one shade are one rectangle: a third of the bytes.
            for run in row.chunk_by(|a, b| shade(*a, most) == shade(*b, most)) {
                let end = column + run.len();
                let level = run.first().map_or(0, |n| shade(*n, most));
                if level > 0 {
                    let fill = DENSITY.mix(SHADES[level]).filled();
                    plot.draw_series([Rectangle::new([corner(column, r), corner(end, r + 1)], fill)])?;
                }
                column = end;
            }
        }
        let every = self.marks.len().div_ceil(MARKS).max(1);
        let marks = self.marks.iter().step_by(every);
        plot.draw_series(marks.map(|at| Circle::new(*at, 7, PROOF.filled())))?;
        self.draw_cuts(root, &mut plot)
    }

    fn draw_cuts(&self, root: &Area<'_>, plot: &mut super::canvas::Plot<'_>) -> Result<(), Fail> {
        let (wide, high) = plot.plotting_area().get_pixel_range();
        let [upright, level] = self.cuts;
        if let Some((x, name)) = upright {
            let x = plot.backend_coord(&(x, 0.0)).0;
            super::canvas::stroke(root, (x, high.start), (x, high.end), ONSET.stroke_width(HAIR))?;
            write(root, name, (x + 4 * U, high.start - 5 * U), font(LABEL, MUTED), LEFT)?;
        }
        if let Some((y, name)) = level {
            let y = plot.backend_coord(&(0.0, y)).1;
            super::canvas::stroke(root, (wide.start, y), (wide.end, y), ONSET.stroke_width(HAIR))?;
            write(root, name, (wide.start + 4 * U, y - 7 * U), font(LABEL, MUTED), LEFT)?;
        }
        Ok(())
    }
}

/// By the logarithm: tokens pile up where the policy is sure.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn shade(count: f64, most: f64) -> usize {
    if count > 0.0 { 1 + (4.999 * count.ln_1p() / most.ln_1p()).clamp(0.0, 4.0) as usize } else { 0 }
}
