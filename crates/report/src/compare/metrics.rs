//! The metrics of an arm against the baseline: one list of cells for page and Markdown.

use maud::{Markup, html};

use super::shown_arms::{left_out, shown};
use crate::page::{Kind, Section, Sheet, note};
use crate::text::prose;
use stapo_base::format::{none, number_or_dash};
use stapo_compare::Comparison;
use stapo_compare::result::{Family, MetricRow, Test};
use stapo_compare::shown::{level, shown as with_unit, shown_difference, shown_interval, shown_p};

/// Families of many metrics, which are folded, with what they are.
const FOLDED: [(Family, &str); 2] = [
    (Family::Questions, "Sampler, groups, clipping, KL, loops and parts of the reward"),
    (Family::Classes, "Shares of the classes of tokens"),
];

/// Whether a metric is of a family of many.
pub fn is_folded(row: &MetricRow) -> bool {
    FOLDED.iter().any(|(family, _)| *family == row.family)
}

/// The metrics of one arm.
pub fn sheet(comparison: &Comparison, arm: &str, which: impl Fn(&MetricRow) -> bool) -> Sheet {
    let interval = format!("{} % interval", level(comparison.settings.confidence));
    let base = comparison.arms.first().map_or(String::new(), |a| prose(&a.name));
    let columns =
        ["metric", &base, &prose(arm), "difference", &interval, "p", "p corrected", "effect", "test"];
    let mut sheet = Sheet::new(&columns).with(Kind::Text, "test");
    for r in comparison.metrics.iter().filter(|r| r.run == arm && which(r)) {
        let cells = [
            prose(&r.label),
            with_unit(r, r.baseline),
            with_unit(r, r.other),
            shown_difference(r, r.difference),
            shown_interval(r).unwrap_or_else(none),
            r.p_value.map_or_else(none, shown_p),
            r.p_adjusted.map_or_else(none, shown_p),
            number_or_dash(r.effect),
            test_name(r),
        ];
        sheet.push_marked(cells, r.significant);
    }
    sheet
}

/// How a test is called.
fn test_name(row: &MetricRow) -> String {
    let name = match row.test {
        Test::WilcoxonSignedRank => "Wilcoxon",
        Test::MannWhitney => "Mann–Whitney",
        Test::WelchT => "Welch’s t",
        Test::None => return "no test".into(),
    };
    format!("{name}, {}", row.test_unit.counted(row.n))
}

/// The section, open: the metrics are what the page is for.
pub fn section(comparison: &Comparison) -> Section {
    let body = html! {
        @for arm in shown(comparison).into_iter().skip(1).map(|place| &comparison.arms[place]) {
            h3 { (prose(&arm.name)) " against " (prose(&comparison.arms[0].name)) }
            (sheet(comparison, &arm.name, |r| !is_folded(r)).html())
            @for (family, what) in FOLDED { (folded(comparison, &arm.name, family, what)) }
            "\n"
        }
        @if let Some(said) = left_out(comparison) { (note(&said)) }
        p.note {
            "Shaded: differs beyond noise. Differences of shares are in percentage points. Effect: Cliff’s delta, from −1 (always lower) to 1 (always higher), within pairs where they are paired. "
            span.files {
                a href="tables/compare_metrics.parquet" { "All numbers (Parquet)" } " "
                a href="compare.json" { "compare.json" }
            }
        }
    };
    Section { id: "metrics", link: "Metrics", heading: "Metrics", body }
}

fn folded(comparison: &Comparison, arm: &str, family: Family, what: &str) -> Markup {
    let rows = || comparison.metrics.iter().filter(|r| r.run == arm && r.family == family);
    let differing = rows().filter(|r| r.significant).count();
    html! {
        @if rows().next().is_some() {
            details {
                summary {
                    (what) " "
                    span { (differing) " of " (rows().count()) " differ beyond noise" }
                }
                (sheet(comparison, arm, |r| r.family == family).html())
            }
        }
    }
}
