//! A scene as SVG: on its own with colours, or inside the page with classes that its theme colours.

use std::fmt::Write as _;

use super::ink::{Ink, Pen};
use super::scene::{Label, Point, Scene, Shape, TITLE_LAYER, TextAnchor};
use crate::text::escape_xml;

/// Fonts of the standalone files; the page sets its own.
const FONTS: &str = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/// A file of its own, on white.
#[must_use]
pub fn standalone(scene: &Scene, title: &str) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = String::with_capacity(scene.shapes.len() * 90);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape_xml(title)
    );
    write_shapes(&mut out, &scene.shapes, Colours::Fixed);
    out.push_str("</svg>\n");
    out
}

/// A part of the page: no title (the page has a heading), colours by class.
#[must_use]
pub fn inline(scene: &Scene, name: &str, label: &str) -> String {
    let (width, height) = (scene.width, scene.height - scene.title_height);
    let mut out = String::with_capacity(scene.shapes.len() * 70);
    let _ = write!(
        out,
        "<svg id=\"svg-{name}\" viewBox=\"0 {} {width} {height}\" role=\"img\" aria-label=\"{}\"",
        scene.title_height,
        escape_xml(label)
    );
    for (key, value) in &scene.data {
        let _ = write!(out, " data-{key}=\"{}\"", escape_xml(value));
    }
    out.push_str(">\n");
    write_shapes(&mut out, &scene.shapes, Colours::Classes);
    out.push_str("</svg>");
    out
}

/// Who decides the colours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Colours {
    Fixed,
    Classes,
}

fn write_shapes(out: &mut String, shapes: &[Shape], colours: Colours) {
    let (mut open, mut hidden) = (false, false);
    let mut index = 0;
    while let Some(shape) = shapes.get(index) {
        index += 1;
        if let Shape::Layer(name) = shape {
            if std::mem::take(&mut open) {
                out.push_str("</g>\n");
            }
            hidden = *name == TITLE_LAYER && colours == Colours::Classes;
            if !hidden {
                let _ = writeln!(out, "<g class=\"layer-{name}\">");
                open = true;
            }
        } else if hidden {
        } else if let Shape::Rect(_, pen) = shape {
            // Rectangles of one look are one path: dense maps would be large otherwise.
            let end = index + shapes[index..].iter().take_while(|s| is_rect_of(s, pen)).count();
            write_rects(out, &shapes[index - 1..end], *pen, colours);
            index = end;
        } else {
            write_shape(out, shape, colours);
        }
    }
    if open {
        out.push_str("</g>\n");
    }
}

fn is_rect_of(shape: &Shape, pen: &Pen) -> bool {
    matches!(shape, Shape::Rect(_, other) if other == pen)
}

fn write_rects(out: &mut String, rects: &[Shape], pen: Pen, colours: Colours) {
    out.push_str("<path");
    fill(out, pen, colours);
    out.push_str(" shape-rendering=\"crispEdges\" d=\"");
    for shape in rects {
        if let Shape::Rect([x, y, w, h], _) = shape {
            let (x, y, w, h) = (Short(*x), Short(*y), Short(*w), Short(*h));
            let _ = write!(out, "M{x} {y}h{w}v{h}h-{w}z");
        }
    }
    out.push_str("\"/>\n");
}

fn write_shape(out: &mut String, shape: &Shape, colours: Colours) {
    match shape {
        Shape::Line(points, pen) => {
            out.push_str("<path");
            stroke(out, *pen, colours);
            out.push_str(" d=\"");
            write_points(out, points);
            out.push_str("\"/>\n");
        }
        Shape::Polygon(points, pen) => {
            out.push_str("<path");
            fill(out, *pen, colours);
            out.push_str(" d=\"");
            write_points(out, points);
            out.push_str("z\"/>\n");
        }
        Shape::Circle((x, y), radius, pen, filled) => {
            let _ = write!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", Short(*x), Short(*y), Short(*radius));
            if *filled {
                fill(out, *pen, colours)
            } else {
                stroke(out, *pen, colours)
            }
            out.push_str("/>\n");
        }
        Shape::Text(label) => write_text(out, label, colours),
        Shape::Rect(..) | Shape::Layer(_) => {}
    }
}

fn write_text(out: &mut String, label: &Label, colours: Colours) {
    let (x, y) = (Short(label.at.0), Short(label.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", Short(label.size));
    out.push_str(match label.anchor {
        TextAnchor::Start => "",
        TextAnchor::Middle => " text-anchor=\"middle\"",
        TextAnchor::End => " text-anchor=\"end\"",
    });
    if label.bold {
        out.push_str(" font-weight=\"600\"");
    }
    if label.upwards {
        let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
    }
    fill(out, label.pen, colours);
    let _ = writeln!(out, ">{}</text>", escape_xml(&label.text));
}

fn write_points(out: &mut String, points: &[Point]) {
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if index == 0 { 'M' } else { 'L' }, Short(*x), Short(*y));
    }
}

fn fill(out: &mut String, pen: Pen, colours: Colours) {
    let _ = match colours {
        Colours::Fixed => write!(out, " fill=\"{}\"", hex(pen.ink)),
        Colours::Classes => write!(out, " class=\"f-{}\"", pen.ink.name()),
    };
    opacity(out, pen);
}

fn stroke(out: &mut String, pen: Pen, colours: Colours) {
    let _ = match colours {
        Colours::Fixed => write!(out, " fill=\"none\" stroke=\"{}\"", hex(pen.ink)),
        Colours::Classes => write!(out, " class=\"s-{}\"", pen.ink.name()),
    };
    let _ = write!(out, " stroke-width=\"{}\"", Short(pen.width));
    if let Some([on, off]) = pen.dash.lengths() {
        let _ = write!(out, " stroke-dasharray=\"{on} {off}\"");
    } else {
        out.push_str(" stroke-linejoin=\"round\"");
    }
    opacity(out, pen);
}

fn opacity(out: &mut String, pen: Pen) {
    if pen.alpha < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", (pen.alpha * 100.0).round() / 100.0);
    }
}

fn hex(ink: Ink) -> String {
    let [r, g, b] = ink.light();
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A number with at most one decimal.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}
