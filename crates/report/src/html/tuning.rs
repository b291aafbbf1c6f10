//! The plane and the sliders beside it; the other charts follow.

use maud::{Markup, html};

use super::diagnosis;
use super::material::Material;
use super::tuning_data::TuningData;
use crate::page::{Section, figures};
use crate::tables;
use stapo_base::format::{grouped as count, none, number, percent, percent_or_dash};

/// The chart that stands beside the sliders, not among the others.
const TUNED: &str = "plane";

/// The section; without scripts it shows the run's own thresholds.
pub fn section(of: &Material<'_>) -> Option<Section> {
    let plane = of.charts.iter().filter_map(|c| c.as_ref().ok()).find(|c| c.name == TUNED);
    let s2t = &of.analysis.s2t;
    let rows = [
        ("tau", "τₚ", s2t.tau_p.to_string()),
        ("q", "q", s2t.entropy_quantile.map_or_else(none, |q| q.to_string())),
        ("tau-h", "median τₕ (nats)", s2t.median_tau_h.map_or_else(none, number)),
        ("candidates", "candidates", count(s2t.candidates)),
        ("silenced", "silenced", count(s2t.silenced)),
        ("exploratory", "exploratory", count(s2t.exploratory)),
        ("fraction", "share of tokens", percent(s2t.fraction)),
        ("energy", "share of energy", percent_or_dash(s2t.energy_share)),
    ];
    let claims = tables::claims(of.analysis);
    let body = html! {
        @if !claims.is_empty() {
            (claims.folded("The paper's claims on this run", Some("claims"), ""))
        }
        div.tune {
            @if let Some(chart) = plane { (figures::figure(chart)) "\n" }
            div.panel {
                h3 { "Try other thresholds" }
                @if let Some(data) = &of.tuning { (controls(data)) }
                @else { p { "The candidates do not fit this page; see the chart of other thresholds below." } }
                table.live {
                    thead {
                        tr { td {} th.n scope="col" { "this run" } th.n.js scope="col" { "now" } }
                    }
                    tbody aria-live="polite" {
                        @for (id, name, value) in &rows {
                            tr { th scope="row" { (name) } td { (value) } td.js id={ "live-" (id) } { (value) } }
                        }
                    }
                }
                p.js #live-exact {}
                p.js { "Silenced most: " span #live-tokens {} }
            }
        }
    };
    Some(Section { id: "tune", link: "Thresholds", heading: "Where the spurious tokens are", body })
}

fn controls(data: &TuningData) -> Markup {
    html! {
        p.nojs { "With scripts enabled, two sliders here recompute the mask." }
        div.controls.js {
            label for="tau-p" { span { "τ" sub { "p" } } " " output #tau-p-value {} }
            input type="range" id="tau-p" min="0" max=(data.stops.len() - 1) step="1" value=(data.start);
            label for="quantile" { "q " output #quantile-value {} }
            input type="range" id="quantile" min="0" max="100" step="1" disabled[!data.by_quantile];
            @if !data.by_quantile {
                p { "τ" sub { "h" } " stays as this run’s rule found it for each batch: it is not a quantile of the candidates." }
            }
            button type="button" #tune-reset { "Back to this run" }
        }
    }
}

/// All other charts.
pub fn charts(of: &Material<'_>) -> Option<Section> {
    let elsewhere: Vec<&str> = diagnosis::CHARTS.into_iter().chain([TUNED]).collect();
    figures::section(of.charts, &elsewhere)
}
