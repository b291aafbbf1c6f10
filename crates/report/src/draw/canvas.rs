//! A chart in the making: title, legend, texts in pixels, and the plots inside it.

use std::cell::RefCell;
use std::rc::Rc;

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Drawable, PointCollection};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, TextStyle};

use super::font;
use super::ink::{Ink, Pen, UNITS};
use super::scene::{Scene, SceneBackend, Shape, TITLE_LAYER};

/// Font size of ticks, legends and values.
pub const SMALL: f64 = 12.0;
/// Font size of the title.
const TITLE: f64 = 15.5;
/// Height that the title takes.
const TITLE_HEIGHT: u32 = 34;

/// Where a text hangs on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// To the right of the point.
    Left,
    /// Over it.
    Middle,
    /// To the left of it.
    Right,
    /// Over it, written upwards.
    Upwards,
}

/// A chart in the making.
pub struct Canvas {
    scene: Rc<RefCell<Scene>>,
    root: DrawingArea<SceneBackend, Shift>,
    width: u32,
    height: u32,
    /// Where free room begins, below title and legend.
    top: f64,
}

impl Canvas {
    /// An empty chart of this size (with the title) in pixels.
    #[must_use]
    pub fn new(width: u32, height: u32, title: &str) -> Self {
        let height = height + TITLE_HEIGHT;
        let scene = Rc::new(RefCell::new(Scene {
            width,
            height,
            title_height: TITLE_HEIGHT,
            shapes: Vec::new(),
            data: Vec::new(),
        }));
        let root = SceneBackend(Rc::clone(&scene)).into_drawing_area();
        let canvas = Self { scene, root, width, height, top: f64::from(TITLE_HEIGHT) };
        canvas.layer(TITLE_LAYER);
        canvas.write(title, (14.0, 19.0), TITLE, Anchor::Left, Ink::Text, true);
        canvas.layer("chart");
        canvas
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> f64 {
        f64::from(self.width)
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> f64 {
        f64::from(self.height)
    }

    /// Where free room begins, below title and legend.
    #[must_use]
    pub fn top(&self) -> f64 {
        self.top
    }

    /// Takes room below what is there.
    pub(super) fn take_room(&mut self, height: f64) {
        self.top += height;
    }

    /// What follows belongs to a layer of this name.
    pub fn layer(&self, name: &'static str) {
        self.scene.borrow_mut().shapes.push(Shape::Layer(name));
    }

    /// A fact for the page's script.
    pub fn data(&self, name: &'static str, value: String) {
        self.scene.borrow_mut().data.push((name, value));
    }

    /// A small text, centred on its line.
    pub fn text(&self, text: &str, at: (f64, f64), anchor: Anchor, ink: Ink) {
        self.write(text, at, SMALL, anchor, ink, false);
    }

    /// What the horizontal axis shows, below the plots; in two lines where it is too long for one.
    pub fn x_label(&self, text: &str, middle: f64) {
        let room = 2.0 * (middle.min(self.width() - middle) - 4.0);
        // Readers' fonts may be wider than ours.
        if font::width(text, SMALL, false) * 1.12 <= room {
            return self.text(text, (middle, self.height() - 12.0), Anchor::Middle, Ink::Muted);
        }
        let (first, second) = font::halves(text);
        let room = self.width() - 8.0;
        for (line, below) in [(first, 21.0), (second, 8.0)] {
            let line = font::fit(line, SMALL, room);
            let half = font::width(&line, SMALL, false) / 2.0;
            let middle = middle.max(half + 4.0).min(self.width() - half - 4.0);
            self.text(&line, (middle, self.height() - below), Anchor::Middle, Ink::Muted);
        }
    }

    /// A small semi-bold text.
    pub fn strong(&self, text: &str, at: (f64, f64), anchor: Anchor, ink: Ink) {
        self.write(text, at, SMALL, anchor, ink, true);
    }

    fn write(&self, text: &str, at: (f64, f64), size: f64, anchor: Anchor, ink: Ink, bold: bool) {
        let (horizontal, transform) = match anchor {
            Anchor::Left => (HPos::Left, FontTransform::None),
            Anchor::Middle => (HPos::Center, FontTransform::None),
            Anchor::Right => (HPos::Right, FontTransform::None),
            Anchor::Upwards => (HPos::Center, FontTransform::Rotate270),
        };
        let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::SansSerif, size * f64::from(UNITS), style).transform(transform);
        let color = Pen::new(ink).color();
        let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Center));
        self.put(&plotters::element::Text::new(text.to_owned(), units(at), style));
    }

    /// A line in pixels.
    pub fn line(&self, points: &[(f64, f64)], pen: Pen) {
        let points: Vec<_> = points.iter().copied().map(units).collect();
        self.put(&plotters::element::PathElement::new(points, pen.style(false)));
    }

    /// A filled rectangle in pixels: left, top, right, bottom.
    pub fn rect(&self, [x0, y0, x1, y1]: [f64; 4], pen: Pen) {
        self.put(&plotters::element::Rectangle::new([units((x0, y0)), units((x1, y1))], pen.style(true)));
    }

    pub(super) fn area(&self) -> &DrawingArea<SceneBackend, Shift> {
        &self.root
    }

    /// Recording into memory does not fail.
    pub(super) fn put<E>(&self, element: &E)
    where
        for<'a> &'a E: PointCollection<'a, (i32, i32)>,
        E: Drawable<SceneBackend>,
    {
        let _ = self.root.draw(element);
    }

    /// The chart.
    #[must_use]
    pub fn finish(self) -> Scene {
        self.scene.take()
    }
}

/// Pixels as plotters' whole units.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn units((x, y): (f64, f64)) -> (i32, i32) {
    let scaled = |v: f64| (v * f64::from(UNITS)).round() as i32;
    (scaled(x), scaled(y))
}
