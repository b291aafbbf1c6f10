//! What all charts share: text and lines in pixels, a frame with axes, the wrapper that makes an inline SVG.

use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::palette::{AXIS, GRID, MUTED, TEXT};
use crate::hostile::{NAME, escape_xml, visible};

/// Plotters' units a pixel: it counts in whole ones.
pub const U: i32 = 4;
/// Size of labels in pixels.
pub const LABEL: f64 = 11.0;

pub type Backend<'a> = SVGBackend<'a>;
pub type Area<'a> = DrawingArea<Backend<'a>, Shift>;
pub type Plot<'a> = ChartContext<'a, Backend<'a>, Cartesian2d<Axis, Axis>>;
pub type Fail = DrawingAreaErrorKind<std::io::Error>;

/// Widths of strokes in plotters' units.
pub const HAIR: u32 = 4;
pub const FINE: u32 = 5;
pub const BOLD: u32 = 8;
pub const THICK: u32 = 20;

pub fn font(size: f64, colour: RGBColor) -> TextStyle<'static> {
    styled(size, colour, FontStyle::Normal)
}

pub fn bold(size: f64, colour: RGBColor) -> TextStyle<'static> {
    styled(size, colour, FontStyle::Bold)
}

fn styled(size: f64, colour: RGBColor, style: FontStyle) -> TextStyle<'static> {
    // The SVG backend divides by 1.24.
    ("sans-serif", size * f64::from(U) * 1.24, style).into_font().color(&colour)
}

/// How wide a text is in pixels, about: readers' fonts differ. Thirds of the size, by the shape of letters.
#[allow(clippy::cast_possible_truncation)]
pub fn width(text: &str, size: f64) -> i32 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '(' | ')' | '1' | 'I' | 't' | 'f' | ' ' => {
            0.38
        }
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        'A'..='Z' | '×' | '−' | '+' | '<' | '>' | '=' => 0.72,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.42,
        _ if (c as u32) < 0x2E80 => 0.6,
        _ => 1.05,
    };
    (text.chars().map(em).sum::<f64>() * size).ceil() as i32
}

const fn pos(h_pos: HPos) -> Pos {
    Pos { h_pos, v_pos: VPos::Center }
}
pub const LEFT: Pos = pos(HPos::Left);
pub const RIGHT: Pos = pos(HPos::Right);
pub const MIDDLE: Pos = pos(HPos::Center);

/// Text at a place in plotters' units of the whole drawing: a chart's own area would push it inside.
pub fn write(
    root: &Area<'_>,
    text: &str,
    at: (i32, i32),
    style: TextStyle<'_>,
    pos: Pos,
) -> Result<(), Fail> {
    root.use_screen_coord().draw(&Text::new(visible(text, NAME), at, style.pos(pos)))
}

pub fn stroke(root: &Area<'_>, from: (i32, i32), to: (i32, i32), style: ShapeStyle) -> Result<(), Fail> {
    root.use_screen_coord().draw(&PathElement::new([from, to], style))
}

/// Pixels around a plot.
#[derive(Clone, Copy)]
pub struct Margins {
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
    pub left: i32,
}

impl Margins {
    /// Room for the labels of an axis at the left.
    pub fn beside(y: &Axis) -> i32 {
        6 + y.labels().map(|label| width(label, LABEL)).max().unwrap_or(0)
    }
}

/// Axes with ticks: levels and labels without a line for y, a line with labels for x.
pub fn frame<'a>(root: &Area<'a>, x: Axis, y: Axis, margins: Margins) -> Result<Plot<'a>, Fail> {
    let mut plot = ChartBuilder::on(root)
        .margin_top(margins.top * U)
        .margin_right(margins.right * U)
        .x_label_area_size(margins.bottom * U)
        .y_label_area_size(margins.left * U)
        .build_cartesian_2d(x, y)?;
    let label = font(LABEL, MUTED);
    plot.configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .axis_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(HAIR))
        .label_style(label.clone())
        .set_tick_mark_size(LabelAreaPosition::Left, 3 * U)
        .draw()?;
    plot.configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .axis_style(AXIS.stroke_width(HAIR))
        .label_style(label)
        .set_tick_mark_size(LabelAreaPosition::Bottom, 3 * U)
        .draw()?;
    Ok(plot)
}

/// Rows with a name at the left: what bars and intervals share.
pub fn rows<'a>(root: &Area<'a>, names: &[&str], x: Axis, right: i32) -> Result<Plot<'a>, Fail> {
    let longest = names.iter().map(|name| width(name, LABEL)).max().unwrap_or(0).min(200) + 10;
    let mut plot = ChartBuilder::on(root)
        .margin_top(2 * U)
        .margin_right(right * U)
        .x_label_area_size(20 * U)
        .y_label_area_size(longest * U)
        .build_cartesian_2d(x, Axis::named(names.len() as f64..0.0, vec![]))?;
    plot.configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .axis_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(HAIR))
        .label_style(font(LABEL, MUTED))
        .set_tick_mark_size(LabelAreaPosition::Bottom, 3 * U)
        .draw()?;
    let left = plot.plotting_area().get_pixel_range().0.start;
    for (row, name) in names.iter().enumerate() {
        let y = plot.backend_coord(&(0.0, row as f64 + 0.5)).1;
        write(root, name, (left - 8 * U, y), font(LABEL, TEXT), RIGHT)?;
    }
    Ok(plot)
}

/// Draws at `width` × `height` pixels: an inline SVG without a size of its own; empty where drawing fails, which
/// memory does not.
pub fn svg(
    width: i32,
    height: i32,
    label: &str,
    draw: impl for<'b> FnOnce(&Area<'b>) -> Result<(), Fail>,
) -> String {
    let (wide, high) = (width * U, height * U);
    let mut raw = String::new();
    let size = (wide.unsigned_abs(), high.unsigned_abs());
    if draw(&SVGBackend::with_string(&mut raw, size).into_drawing_area()).is_err() {
        return String::new();
    }
    let body = raw.split_once('>').map_or("", |parts| parts.1);
    let body = body
        .replace("\n</text>", "</text>")
        .replace(" dy=\"0.5ex\"", " dy=\".36em\"")
        .replace(" opacity=\"1\"", "")
        .replace(" font-family=\"sans-serif\"", "")
        .replace(" stroke=\"none\"", "");
    let label = escape_xml(&visible(label, 4 * NAME));
    format!("<svg viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{label}\">{body}")
}
