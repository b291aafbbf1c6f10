//! The charts of a page.

use maud::{Markup, PreEscaped, html};

use super::Section;
use super::words::with_code;
use crate::charts::{Chart, Drawn};
use crate::draw::svg;

/// The section of all charts but those that stand elsewhere, with a line for each that is missing; `None`
/// where it would be empty.
pub fn section(charts: &[Drawn], elsewhere: &[&str]) -> Option<Section> {
    let drawn: Vec<&Chart> =
        charts.iter().filter_map(|c| c.as_ref().ok()).filter(|c| !elsewhere.contains(&c.name)).collect();
    let missing: Vec<_> = charts.iter().filter_map(|c| c.as_ref().err()).collect();
    let body = html! {
        div.grid { @for chart in &drawn { (figure(chart)) "\n" } }
        @if !missing.is_empty() {
            h3 { "Left out" }
            ul.missing { @for chart in &missing { li { b { (chart.title) } " needs " (with_code(&chart.needs)) "." } "\n" } }
        }
    };
    let section = Section { id: "charts", link: "Charts", heading: "Charts", body };
    (!drawn.is_empty() || !missing.is_empty()).then_some(section)
}

/// One chart with its sentence and its numbers.
pub fn figure(chart: &Chart) -> Markup {
    let name = chart.name;
    html! {
        figure id={ "chart-" (name) } {
            h3 { (chart.title) }
            p.reading { (chart.reading) }
            div.wide { (PreEscaped(svg::inline(&chart.scenes.wide, name, &chart.title))) }
            template.small-chart { (PreEscaped(svg::inline(&chart.scenes.narrow, &format!("{name}-narrow"), &chart.title))) }
            figcaption {
                @for note in &chart.notes { (note) " " }
                span.files {
                    a href={ "charts/" (name) ".csv" } { "Numbers (CSV)" } " "
                    a href={ "charts/" (name) ".svg" } { "SVG" } " "
                    a href={ "charts/" (name) ".png" } { "PNG" }
                }
            }
        }
    }
}
