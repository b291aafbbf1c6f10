//! The plane and the sliders beside it.

use std::fmt::Write as _;

use super::figures::{TUNED, write_figure};
use super::tuning_data::TuningData;
use crate::analyze::RunAnalysis;
use crate::report::charts::Drawn;
use crate::report::numbers::{count, number, percent, percent_or_dash};

/// Writes the section; without scripts it shows the run's own thresholds.
pub fn write(out: &mut String, analysis: &RunAnalysis, charts: &[Drawn], data: Option<&TuningData>) {
    let plane = charts.iter().filter_map(|c| c.as_ref().ok()).find(|c| c.name == TUNED);
    out.push_str("<section id=\"tune\"><h2>Where the spurious tokens are</h2>\n<div class=\"tune\">\n");
    if let Some(chart) = plane {
        write_figure(out, chart);
    }
    let s2t = &analysis.s2t;
    out.push_str("<div class=\"panel\"><h3>Try other thresholds</h3>\n");
    match data {
        None => out
            .push_str("<p>The candidates do not fit this page; see the chart of other thresholds below.</p>"),
        Some(data) => write_controls(out, data),
    }
    let rows = [
        ("tau", "τ<sub>p</sub>", s2t.tau_p.to_string()),
        ("q", "q", s2t.entropy_quantile.map_or("–".into(), |q| q.to_string())),
        ("tau-h", "median τ<sub>h</sub> (nats)", s2t.median_tau_h.map_or("–".into(), number)),
        ("candidates", "candidates", count(s2t.candidates)),
        ("silenced", "silenced", count(s2t.silenced)),
        ("exploratory", "exploratory", count(s2t.exploratory)),
        ("fraction", "share of tokens", percent(s2t.fraction)),
        ("energy", "share of energy", percent_or_dash(s2t.energy_share)),
    ];
    out.push_str("<table class=\"live\"><thead><tr><td></td><th scope=\"col\" class=\"n\">this run</th><th scope=\"col\" class=\"n js\">now</th></tr></thead><tbody aria-live=\"polite\">");
    for (id, name, value) in rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{value}</td><td class=\"js\" id=\"live-{id}\">{value}</td></tr>"
        );
    }
    out.push_str("</tbody></table>\n<p class=\"js\" id=\"live-exact\"></p><p class=\"js\">Silenced most: <span id=\"live-tokens\"></span></p></div></div></section>\n");
}

fn write_controls(out: &mut String, data: &TuningData) {
    let _ = write!(
        out,
        "<p class=\"nojs\">With scripts enabled, two sliders here recompute the mask.</p><div class=\"controls js\"><label for=\"tau-p\"><span>τ<sub>p</sub></span> <output id=\"tau-p-value\"></output></label><input type=\"range\" id=\"tau-p\" min=\"0\" max=\"{}\" step=\"1\" value=\"{}\">",
        data.stops.len() - 1,
        data.start
    );
    let _ = write!(
        out,
        "<label for=\"quantile\">q <output id=\"quantile-value\"></output></label><input type=\"range\" id=\"quantile\" min=\"0\" max=\"100\" step=\"1\"{}>",
        if data.by_quantile { "" } else { " disabled" }
    );
    if !data.by_quantile {
        out.push_str("<p>τ<sub>h</sub> stays as this run’s rule found it for each batch: it is not a quantile of the candidates.</p>");
    }
    out.push_str("<button type=\"button\" id=\"tune-reset\">Back to this run</button></div>\n");
}
