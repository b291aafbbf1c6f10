//! What a chart consists of, as recorded by a plotters backend.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle, FontTransform,
};

use super::font;
use super::ink::{Pen, UNITS};

/// A point in pixels.
pub type Point = (f64, f64);

/// One thing that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle: left, top, width, height.
    Rect([f64; 4], Pen),
    /// A line through points.
    Line(Vec<Point>, Pen),
    /// A filled polygon.
    Polygon(Vec<Point>, Pen),
    /// A circle; filled, or only its rim.
    Circle(Point, f64, Pen, bool),
    /// A line of text.
    Text(Label),
    /// What follows belongs to this layer.
    Layer(&'static str),
}

/// Which end of a line of text is at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAnchor {
    /// Where it starts.
    Start,
    /// Its middle.
    Middle,
    /// Where it ends.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// Where its anchor and baseline are.
    pub at: Point,
    /// Font size in pixels.
    pub size: f64,
    /// Which end is there.
    pub anchor: TextAnchor,
    /// Ink and opacity.
    pub pen: Pen,
    /// Semi-bold.
    pub bold: bool,
    /// Written upwards.
    pub upwards: bool,
}

/// Width of charts in pixels.
pub const WIDTH: u32 = 640;
/// Width of charts on a phone, where they are scaled down a little.
pub const NARROW: u32 = 420;

/// A chart at its usual width, and drawn anew for a phone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenes {
    /// For files and for pages on a screen.
    pub wide: Scene,
    /// For pages on a phone.
    pub narrow: Scene,
}

impl Scenes {
    /// Draws at both widths.
    pub fn draw(ink: impl Fn(u32) -> Scene) -> Self {
        Self { wide: ink(WIDTH), narrow: ink(NARROW) }
    }
}

/// A recorded chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Height of the title, which the page leaves out.
    pub title_height: u32,
    /// What was drawn, in order.
    pub shapes: Vec<Shape>,
    /// Facts for the page's script, as attributes `data-…` of the SVG.
    pub data: Vec<(&'static str, String)>,
}

/// The layer of the title, which the page leaves out (it has a heading).
pub const TITLE_LAYER: &str = "title";

/// Records into a scene.
pub struct SceneBackend(pub Rc<RefCell<Scene>>);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

fn pixels(point: BackendCoord) -> Point {
    (f64::from(point.0) / f64::from(UNITS), f64::from(point.1) / f64::from(UNITS))
}

fn pen<S: BackendStyle>(style: &S) -> Pen {
    let color = style.color();
    Pen::decode(color.rgb, color.alpha, style.stroke_width())
}

impl SceneBackend {
    fn push(&self, shape: Shape) -> Drawn {
        self.0.borrow_mut().shapes.push(shape);
        Ok(())
    }
}

impl DrawingBackend for SceneBackend {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let scene = self.0.borrow();
        (scene.width * UNITS, scene.height * UNITS)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: plotters_backend::BackendColor) -> Drawn {
        let (x, y) = pixels(point);
        let size = 1.0 / f64::from(UNITS);
        self.push(Shape::Rect([x, y, size, size], pen(&color)))
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.push(Shape::Line(vec![pixels(from), pixels(to)], pen(style)))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let ((x0, y0), (x1, y1)) = (pixels(upper_left), pixels(bottom_right));
        let (x0, x1, y0, y1) = (x0.min(x1), x0.max(x1), y0.min(y1), y0.max(y1));
        if fill {
            self.push(Shape::Rect([x0, y0, x1 - x0, y1 - y0], pen(style)))
        } else {
            self.push(Shape::Line(vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], pen(style)))
        }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.push(Shape::Line(path.into_iter().map(pixels).collect(), pen(style)))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.push(Shape::Polygon(path.into_iter().map(pixels).collect(), pen(style)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let radius = f64::from(radius) / f64::from(UNITS);
        self.push(Shape::Circle(pixels(center), radius, pen(style), fill))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Drawn {
        let color = style.color();
        let size = style.size() / f64::from(UNITS);
        let upwards = matches!(style.transform(), FontTransform::Rotate270);
        let (mut x, mut y) = pixels(pos);
        // From the anchor to the baseline: capitals are 0.73 em high.
        let shift = match style.anchor().v_pos {
            VPos::Top => 0.73 * size,
            VPos::Center => 0.365 * size,
            VPos::Bottom => 0.0,
        };
        if upwards {
            x += shift;
        } else {
            y += shift;
        }
        let anchor = match style.anchor().h_pos {
            HPos::Left => TextAnchor::Start,
            HPos::Center => TextAnchor::Middle,
            HPos::Right => TextAnchor::End,
        };
        self.push(Shape::Text(Label {
            text: text.to_owned(),
            at: (x, y),
            size,
            anchor,
            pen: Pen::decode(color.rgb, color.alpha, UNITS),
            bold: matches!(style.style(), FontStyle::Bold),
            upwards,
        }))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let bold = matches!(style.style(), FontStyle::Bold);
        Ok((font::width(text, style.size(), bold).ceil() as u32, style.size().ceil() as u32))
    }
}
