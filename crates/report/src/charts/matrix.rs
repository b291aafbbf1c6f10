//! Tables of shaded cells with their numbers.

use crate::draw::{Anchor, Canvas, Ink, Pen};

/// Where a matrix lies on its canvas.
pub struct Grid {
    /// Left end.
    pub left: f64,
    /// Upper end.
    pub top: f64,
    /// Width of a cell.
    pub width: f64,
    /// Height of a cell.
    pub height: f64,
}

impl Grid {
    fn rect(&self, row: usize, column: usize) -> [f64; 4] {
        let (x, y) = (self.left + column as f64 * self.width, self.top + row as f64 * self.height);
        [x, y, x + self.width, y + self.height]
    }

    /// Middle of a cell.
    pub fn middle(&self, row: usize, column: usize) -> (f64, f64) {
        let [x0, y0, x1, y1] = self.rect(row, column);
        ((x0 + x1) / 2.0, (y0 + y1) / 2.0)
    }

    /// A cell, shaded by `strength` from 0 to 1, with a text that stays readable on it.
    pub fn cell(&self, canvas: &Canvas, (row, column): (usize, usize), strength: f64, text: &str) {
        let [x0, y0, x1, y1] = self.rect(row, column);
        let strength = if strength.is_finite() { strength.clamp(0.0, 1.0) } else { 0.0 };
        // Few levels: cells of one look become one path. Never so dark that the text is lost.
        let alpha = 0.04 + 0.38 * (strength * 8.0).round() / 8.0;
        canvas.rect([x0 + 1.0, y0 + 1.0, x1 - 1.0, y1 - 1.0], Pen::new(Ink::Density).alpha(alpha));
        canvas.text(text, self.middle(row, column), Anchor::Middle, Ink::Text);
    }

    /// A frame around a cell.
    pub fn frame(&self, canvas: &Canvas, row: usize, column: usize, pen: Pen) {
        let [x0, y0, x1, y1] = self.rect(row, column);
        canvas.line(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], pen);
    }
}
