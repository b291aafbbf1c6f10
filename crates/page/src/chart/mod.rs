//! Charts, drawn by plotters as inline SVG.
//!
//! A chart is data: each renderer makes of it what it can, the page an SVG, the terminal a line of blocks. It is drawn
//! once, [`WIDTH`] pixels wide, and scaled by its `viewBox`; titles and names of axes are words of the page.

mod axis;
mod canvas;
mod lines;
pub mod palette;
mod panel;
mod plane;
mod rows;

pub use axis::{Axis, Unit};
pub use lines::{Along, Band, Lines, Series};
pub use panel::Panel;
pub use plane::Plane;
pub use rows::{Bar, Bars, Event, Events, Interval, Intervals};

/// Pixels that a chart is wide: no wider than a phone, so that its labels stay readable there.
pub const WIDTH: i32 = 360;
/// Pixels that a chart of lines is high.
const HEIGHT: i32 = 138;
/// Pixels of a small one.
const PANEL: (i32, i32) = (180, 96);

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Lines over steps or places.
    Lines(Lines),
    /// Bars with their values.
    Bars(Bars),
    /// Values with how far they are known.
    Intervals(Intervals),
    /// What began when.
    Events(Events),
    /// Counts by two quantities.
    Plane(Plane),
    /// Many quantities over the steps, small.
    Panels(Vec<Panel>),
}

impl Chart {
    /// As inline SVGs: several of [`Chart::Panels`], one of all others; `label` is what a screen reader says.
    #[must_use]
    pub fn svgs(&self, label: &str) -> Vec<String> {
        let one = match self {
            Self::Lines(lines) => canvas::svg(WIDTH, HEIGHT, label, |root| lines.draw(root)),
            Self::Bars(bars) => {
                canvas::svg(WIDTH, rows::height(bars.bars.len()), label, |root| bars.draw(root))
            }
            Self::Intervals(intervals) => {
                canvas::svg(WIDTH, rows::height(intervals.rows.len()), label, |root| intervals.draw(root))
            }
            Self::Events(events) => {
                canvas::svg(WIDTH, rows::height(events.events.len()), label, |root| events.draw(root))
            }
            Self::Plane(plane) => canvas::svg(WIDTH, 240, label, |root| plane.draw(root)),
            Self::Panels(panels) => {
                let draw = |panel: &Panel| {
                    let label = format!("{}: {}", panel.name, panel.ends);
                    canvas::svg(PANEL.0, PANEL.1, &label, |root| panel.draw(root))
                };
                return panels.iter().map(draw).collect();
            }
        };
        vec![one]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: Vec<(f64, f64)>) -> Chart {
        Chart::Lines(Lines { series: vec![Series::new("<b>&\u{202E}", points)], ..Lines::default() })
    }

    #[test]
    fn labels_cannot_leave_their_attribute() {
        let svg = line(vec![(0.0, 1.0), (1.0, 2.0)]).svgs("\"><script>\u{7}").concat();
        assert!(svg.contains("aria-label=\"&quot;&gt;&lt;script&gt;‹U+0007›\""));
        assert!(svg.contains("&lt;b&gt;&amp;‹U+202E›") && !svg.contains("<b>"));
    }

    #[test]
    fn nothing_is_drawn_at_what_is_not_finite() {
        let with_gap = line(vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 2.0), (4.0, 3.0)]);
        let svg = with_gap.svgs("").concat();
        // A dot alone, and a line of two points with a dot each.
        assert_eq!((svg.matches("stroke-width=\"8\"").count(), svg.matches("<circle").count()), (1, 3));
        let empty = line(vec![]).svgs("").concat();
        assert!(empty.starts_with("<svg") && empty.ends_with("</svg>\n"));
    }

    #[test]
    fn no_style_attribute_meets_the_policy() {
        for svg in line((0..300).map(|i| (f64::from(i), f64::from(i))).collect()).svgs("long") {
            assert!(!svg.contains("style=") && !svg.contains("xmlns"));
        }
    }
}
