//! Flagged tokens in their context, by step.

use maud::{Markup, html};

use super::case_rows::CaseRow;
use super::material::Material;
use crate::page::Section;
use crate::text::case_token;
use stapo_base::format::grouped as count;
use stapo_result::FlagKind;

/// Columns of the list: heading, and whether its values are numbers.
const COLUMNS: [(&str, bool); 14] = [
    ("kind", false),
    ("token", false),
    ("in its context", false),
    ("risk", true),
    ("p", true),
    ("H", true),
    ("τₕ", true),
    ("A", true),
    ("‖g‖", true),
    ("ΔH/η", true),
    ("step", true),
    ("group", false),
    ("passes", false),
    ("position", true),
];
/// Steps beyond which lists of them scroll in a box of their own.
pub const MANY_STEPS: usize = 40;
/// The column that has no order.
const CONTEXT: usize = 2;

/// The riskiest tokens, each with what stands around it.
pub fn section(of: &Material<'_>) -> Option<Section> {
    let total = of.analysis.cases.spurious + of.analysis.cases.exploratory;
    let rows = &of.cases.rows;
    let many = of.analysis.steps.len() > MANY_STEPS;
    let body = html! {
        @if rows.is_empty() && total == 0 { p { "No token of this run is flagged." } }
        @else if rows.is_empty() {
            p { "The flagged tokens do not fit this page; all are in " a href="tables/flagged.parquet" { "tables/flagged.parquet" } "." }
        }
        @else {
            (intro(rows.len() as u64, total)) "\n"
            (controls()) "\n"
            div #case-groups class=[many.then_some("long")] {
                @for (index, group) in rows.chunk_by(|a, b| a.case.step == b.case.step).enumerate() {
                    (step(group, of, index == 0)) "\n"
                }
            }
        }
    };
    Some(Section { id: "cases", link: "Cases", heading: "Cases", body })
}

/// `67 of 135`, or `135` where all of them are shown.
pub fn shown_of(shown: u64, all: u64) -> String {
    if shown < all { format!("{} of {}", count(shown), count(all)) } else { count(shown) }
}

fn intro(shown: u64, total: u64) -> Markup {
    let which =
        if shown < total { "those of the highest risk, and a few of every step" } else { "all of them" };
    html! {
        p {
            (count(shown)) " of " (count(total)) " flagged tokens: " (which) ". "
            span.f.sp { "◆ spurious" } " tokens are silenced, " span.f.ex { "○ exploratory" }
            " ones kept. Risk is −ln p − H in nats, this program’s own score: it sorts, it does not decide. Colour runs from "
            b.r1 { "low" } " to " b.r5 { "high" } " risk; hover or focus a token for its numbers. "
            a href="tables/flagged.parquet" { "All flagged tokens (Parquet)" }
        }
    }
}

fn controls() -> Markup {
    html! {
        form.controls.js #case-controls {
            label { "Filter by token " input type="search" id="case-filter" autocomplete="off"; } " "
            label {
                "Sort by "
                select #case-sort {
                    option value="" { "rank" }
                    @for (index, (name, _)) in COLUMNS.iter().enumerate().filter(|(i, _)| *i != CONTEXT) {
                        option value=(index) { (name) }
                    }
                }
            }
            " " label { input type="checkbox" id="case-down" checked; " descending" }
            " " label { input type="checkbox" id="case-flat"; " all steps in one list" }
            " " output #case-count {}
        }
    }
}

fn step(rows: &[CaseRow<'_>], of: &Material<'_>, open: bool) -> Markup {
    let spurious = rows.iter().filter(|r| r.case.kind == FlagKind::Spurious).count() as u64;
    let exploratory = rows.len() as u64 - spurious;
    let [all_spurious, all_exploratory] = rows.first().map_or([0; 2], |r| of.flagged_at(r.case.step));
    html! {
        @if let Some(first) = rows.first().map(|r| r.case) {
            details.step id={ "cases-" (first.step) } open[open] {
                summary {
                    b { "Step " (first.step) } " "
                    span {
                        "◆ " (shown_of(spurious, all_spurious)) " spurious, ○ "
                        (shown_of(exploratory, all_exploratory)) " exploratory"
                        @if spurious + exploratory < all_spurious + all_exploratory { " shown" }
                        "; riskiest "
                        code { (case_token(first)) }
                    }
                }
                div.scroll tabindex="0" {
                    table.cases {
                        thead {
                            tr {
                                @for (name, numeric) in COLUMNS {
                                    th scope="col" class=[numeric.then_some("n")] { (name) }
                                }
                            }
                        }
                        tbody { "\n" @for row in rows { (row.html) } }
                    }
                }
            }
        }
    }
}
