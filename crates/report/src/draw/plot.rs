//! Axes, and what is drawn between them in the data's own units.

use std::ops::Range;

use plotters::coord::types::RangedCoordf64;
use plotters::coord::{CoordTranslate, Shift};
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::Cartesian2d;

use super::canvas::{Anchor, Canvas, SMALL, units};
use super::font;
use super::ink::{Dash, Ink, Pen, UNITS};
use super::scene::SceneBackend;

/// An axis: its range, its ticks and what it shows. Logarithmic axes are in powers of ten.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// From, to.
    pub range: Range<f64>,
    /// Values and what is written beside them.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis.
    pub fn new(label: impl Into<String>, range: Range<f64>, ticks: Vec<(f64, String)>) -> Self {
        let range = if range.end > range.start { range } else { range.start - 0.5..range.start + 0.5 };
        Self { label: label.into(), range, ticks }
    }

    /// Width of the longest tick label.
    fn tick_width(&self) -> f64 {
        self.ticks.iter().map(|t| font::width(&t.1, SMALL, false)).fold(0.0, f64::max)
    }
}

/// The form of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle.
    Dot,
    /// A circle's rim.
    Ring,
    /// A filled square on its corner.
    Diamond,
    /// A filled square.
    Square,
    /// A filled triangle, pointing up.
    Up,
    /// A filled triangle, pointing down.
    Down,
    /// Two crossed strokes.
    Cross,
}

/// The area between axes.
pub struct Plot {
    area: DrawingArea<SceneBackend, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    x: Range<f64>,
    y: Range<f64>,
    /// Left to right and bottom to top, in plotters' units.
    place: (Range<i32>, Range<i32>),
}

impl Plot {
    /// Draws axes into the free room of a canvas.
    pub fn new(canvas: &Canvas, x: &Axis, y: &Axis) -> Self {
        Self::with_right_axis(canvas, x, y, None)
    }

    /// Draws axes into the free room of a canvas, with a second vertical one.
    pub fn with_right_axis(canvas: &Canvas, x: &Axis, y: &Axis, right: Option<&Axis>) -> Self {
        let left = 34.0 + y.tick_width();
        let room_right = right.map_or(18.0, |axis| 36.0 + axis.tick_width());
        let rect = [left + 4.0, canvas.top() + 8.0, canvas.width() - room_right, canvas.height() - 46.0];
        let plot = Self::inside(canvas, rect, x, y);
        let middle = (rect[0] + rect[2]) / 2.0;
        canvas.x_label(&x.label, middle);
        canvas.text(&y.label, (14.0, (rect[1] + rect[3]) / 2.0), Anchor::Upwards, Ink::Muted);
        if let Some(axis) = right {
            let plot = plot.with_y(axis);
            for (value, text) in &axis.ticks {
                let (_, y) = plot.pixel(axis.range.start, *value);
                canvas.text(text, (rect[2] + 7.0, y), Anchor::Left, Ink::Muted);
                canvas.line(&[(rect[2], y), (rect[2] + 4.0, y)], Pen::new(Ink::Axis));
            }
            let x = canvas.width() - 12.0;
            canvas.text(&axis.label, (x, (rect[1] + rect[3]) / 2.0), Anchor::Upwards, Ink::Muted);
        }
        plot
    }

    /// Draws axes with ticks, without their labels, into a rectangle: left, top, right, bottom.
    pub fn inside(canvas: &Canvas, rect: [f64; 4], x: &Axis, y: &Axis) -> Self {
        let plot = Self::bare(canvas, rect, x.range.clone(), y.range.clone());
        for (value, text) in &y.ticks {
            let (_, py) = plot.pixel(x.range.start, *value);
            canvas.line(&[(rect[0], py), (rect[2], py)], Pen::new(Ink::Grid));
            canvas.text(text, (rect[0] - 7.0, py), Anchor::Right, Ink::Muted);
        }
        for (value, text) in &x.ticks {
            let (px, _) = plot.pixel(*value, y.range.start);
            canvas.line(&[(px, rect[3]), (px, rect[3] + 4.0)], Pen::new(Ink::Axis));
            canvas.text(text, (px, rect[3] + 14.0), Anchor::Middle, Ink::Muted);
        }
        canvas.line(&[(rect[0], rect[3]), (rect[2], rect[3])], Pen::new(Ink::Axis));
        plot
    }

    /// A plot without drawn axes.
    pub fn bare(canvas: &Canvas, [x0, y0, x1, y1]: [f64; 4], x: Range<f64>, y: Range<f64>) -> Self {
        let ((left, top), (right, bottom)) = (units((x0, y0)), units((x1, y1)));
        let place = (left..right, bottom..top);
        let coordinates = Cartesian2d::new(x.clone(), y.clone(), place.clone());
        Self { area: canvas.area().apply_coord_spec(coordinates), x, y, place }
    }

    /// The same place with another vertical axis.
    #[must_use]
    pub fn with_y(&self, axis: &Axis) -> Self {
        let coordinates = Cartesian2d::new(self.x.clone(), axis.range.clone(), self.place.clone());
        let area = self.area.strip_coord_spec().apply_coord_spec(coordinates);
        Self { area, x: self.x.clone(), y: axis.range.clone(), place: self.place.clone() }
    }

    /// Where a value lies on the canvas.
    #[must_use]
    pub fn pixel(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.area.as_coord_spec().translate(&(x, y));
        (f64::from(x) / f64::from(UNITS), f64::from(y) / f64::from(UNITS))
    }

    /// The nearest point inside the axes.
    fn clamp(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x.start, self.x.end), y.clamp(self.y.start, self.y.end))
    }

    /// A line, broken where a point is not finite.
    pub fn line(&self, points: &[(f64, f64)], pen: Pen) {
        for run in points.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
            if run.len() > 1 {
                let run: Vec<_> = run.iter().map(|p| self.clamp(*p)).collect();
                let _ = self.area.draw(&PathElement::new(run, pen.style(false)));
            }
        }
    }

    /// The area between two lines over the same x: (x, low, high).
    pub fn band(&self, points: &[(f64, f64, f64)], pen: Pen) {
        let fine = |p: &&(f64, f64, f64)| p.0.is_finite() && p.1.is_finite() && p.2.is_finite();
        let up = points.iter().filter(fine).map(|p| self.clamp((p.0, p.1)));
        let down = points.iter().rev().filter(fine).map(|p| self.clamp((p.0, p.2)));
        let rim: Vec<_> = up.chain(down).collect();
        if rim.len() > 2 {
            let _ = self.area.draw(&Polygon::new(rim, pen.style(true)));
        }
    }

    /// A filled rectangle.
    pub fn bar(&self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        let corners = [self.clamp(from), self.clamp(to)];
        let _ = self.area.draw(&Rectangle::new(corners, pen.style(true)));
    }

    /// A mark of this radius in pixels.
    pub fn mark(&self, x: f64, y: f64, mark: Mark, radius: f64, pen: Pen) {
        if x.is_finite() && y.is_finite() {
            let (x, y) = self.clamp((x, y));
            let at = self.area.as_coord_spec().translate(&(x, y));
            mark_at(&self.area.strip_coord_spec().use_screen_coord(), at, mark, radius, pen);
        }
    }

    /// A horizontal line over the whole width.
    pub fn level(&self, y: f64, pen: Pen) {
        if self.y.contains(&y) {
            self.line(&[(self.x.start, y), (self.x.end, y)], pen);
        }
    }

    /// A vertical line over the whole height.
    pub fn upright(&self, x: f64, pen: Pen) {
        if self.x.contains(&x) {
            self.line(&[(x, self.y.start), (x, self.y.end)], pen);
        }
    }
}

/// Draws a mark at a place in plotters' units.
pub(super) fn mark_at(
    area: &DrawingArea<SceneBackend, Shift>,
    (x, y): (i32, i32),
    mark: Mark,
    radius: f64,
    pen: Pen,
) {
    let pen = pen.dash(Dash::Solid);
    let (r, _) = units((radius, 0.0));
    let corners = |points: &[(i32, i32)]| {
        let points: Vec<_> = points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        let _ = area.draw(&Polygon::new(points, pen.style(true)));
    };
    let stroke = |dx: i32| {
        let points = vec![(x - dx, y - r), (x + dx, y + r)];
        let _ = area.draw(&PathElement::new(points, pen.width(1.6).style(false)));
    };
    match mark {
        Mark::Dot => drop(area.draw(&Circle::new((x, y), r, pen.style(true)))),
        Mark::Ring => drop(area.draw(&Circle::new((x, y), r, pen.width(1.4).style(false)))),
        Mark::Diamond => corners(&[(0, -r - r / 4), (r + r / 4, 0), (0, r + r / 4), (-r - r / 4, 0)]),
        Mark::Square => corners(&[(-r, -r), (r, -r), (r, r), (-r, r)]),
        Mark::Up => corners(&[(0, -r - r / 6), (r + r / 10, r), (-r - r / 10, r)]),
        Mark::Down => corners(&[(0, r + r / 6), (r + r / 10, -r), (-r - r / 10, -r)]),
        Mark::Cross => {
            stroke(r);
            stroke(-r);
        }
    }
}
