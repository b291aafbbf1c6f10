//! Legends: what each mark, line and area stands for.

use super::canvas::{Anchor, Canvas, SMALL, units};
use super::font;
use super::ink::{Ink, Pen};
use super::plot::{Mark, mark_at};

/// How a series looks.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// A line.
    Line(Pen),
    /// A line with marks.
    Marked(Pen, Mark),
    /// Marks.
    Mark(Pen, Mark),
    /// An area.
    Area(Pen),
}

/// One series of a legend.
#[derive(Clone, Debug)]
pub struct Entry {
    key: Key,
    text: String,
}

impl Entry {
    /// A series and its name.
    pub fn new(key: Key, text: impl Into<String>) -> Self {
        Self { key, text: text.into() }
    }
}

const KEY_WIDTH: f64 = 24.0;
const GAP: f64 = 18.0;
const ROW: f64 = 19.0;
const MARGIN: f64 = 14.0;

impl Canvas {
    /// Puts a legend below the title, in as many rows as it needs.
    pub fn legend(&mut self, entries: &[Entry]) {
        let height = draw(self, entries);
        self.take_room(height);
    }
}

/// Draws a legend in rows below the title; returns its height.
fn draw(canvas: &Canvas, entries: &[Entry]) -> f64 {
    let (mut x, mut row) = (MARGIN, 0.0);
    for entry in entries {
        // Readers' fonts may be wider than ours.
        let needed = KEY_WIDTH + 6.0 + font::width(&entry.text, SMALL, false) * 1.1;
        if x > MARGIN && x + needed > canvas.width() - MARGIN {
            (x, row) = (MARGIN, row + 1.0);
        }
        let y = canvas.top() + 9.0 + row * ROW;
        draw_key(canvas, entry.key, (x, y));
        canvas.text(&entry.text, (x + KEY_WIDTH + 6.0, y), Anchor::Left, Ink::Text);
        x += needed + GAP;
    }
    (row + 1.0) * ROW + 5.0
}

fn draw_key(canvas: &Canvas, key: Key, (x, y): (f64, f64)) {
    let middle = (x + KEY_WIDTH / 2.0, y);
    match key {
        Key::Line(pen) => canvas.line(&[(x, y), (x + KEY_WIDTH, y)], pen),
        Key::Marked(pen, mark) => {
            canvas.line(&[(x, y), (x + KEY_WIDTH, y)], pen);
            mark_at(canvas.area(), units(middle), mark, 4.0, pen);
        }
        Key::Mark(pen, mark) => mark_at(canvas.area(), units(middle), mark, 4.5, pen),
        Key::Area(pen) => canvas.rect([x + 3.0, y - 6.0, x + KEY_WIDTH - 3.0, y + 6.0], pen),
    }
}
