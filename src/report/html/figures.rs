//! The charts of the page.

use std::fmt::Write as _;

use crate::report::charts::{Chart, Drawn};
use crate::report::draw::svg;
use crate::report::text::escape_xml;

/// The chart that stands beside the sliders, not among the others.
pub const TUNED: &str = "plane";

/// Writes all charts but the tuned one, and a line for each that is missing.
pub fn write(out: &mut String, charts: &[Drawn]) {
    out.push_str("<section id=\"charts\"><h2>Charts</h2>\n<div class=\"grid\">\n");
    for chart in charts.iter().filter_map(|c| c.as_ref().ok()).filter(|c| c.name != TUNED) {
        write_figure(out, chart);
    }
    out.push_str("</div>\n");
    let missing: Vec<_> = charts.iter().filter_map(|c| c.as_ref().err()).collect();
    if !missing.is_empty() {
        out.push_str("<h3>Left out</h3>\n<ul class=\"missing\">\n");
        for chart in missing {
            let _ = writeln!(
                out,
                "<li><b>{}</b> needs {}.</li>",
                escape_xml(chart.title),
                escape_xml(&chart.needs)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</section>\n");
}

/// Writes one chart with its sentence and its numbers.
pub fn write_figure(out: &mut String, chart: &Chart) {
    let name = chart.name;
    let _ = write!(
        out,
        "<figure id=\"chart-{name}\"><h3>{}</h3><p class=\"reading\">{}</p><div class=\"scroll\" tabindex=\"0\">{}</div><figcaption>",
        escape_xml(&chart.title),
        escape_xml(&chart.reading),
        svg::inline(&chart.scene, name, &chart.title)
    );
    for note in &chart.notes {
        let _ = write!(out, "{} ", escape_xml(note));
    }
    let _ = writeln!(
        out,
        "<span class=\"files\"><a href=\"charts/{name}.csv\">Numbers (CSV)</a> <a href=\"charts/{name}.svg\">SVG</a> <a href=\"charts/{name}.png\">PNG</a></span></figcaption></figure>"
    );
}
