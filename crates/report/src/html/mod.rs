//! `report.html`: one file, no libraries, no network, never larger than [`PAGE_LIMIT`].
//!
//! How a section is added is said in `report/page`.

mod answers;
mod case_rows;
mod cases;
mod diagnosis;
mod drill;
mod heat;
mod limits;
mod material;
mod partial;
mod responses;
mod rollouts;
mod rollouts_data;
mod tables;
mod tuning;
mod tuning_data;
mod verdict;
mod views;
mod warnings;

pub use limits::statements;
pub use partial::{partial_page, partial_when, partial_word, statements as partial_statements};
pub use verdict::{since, when, word};

use super::charts::Drawn;
use super::page::{Page, Section};
use material::{Material, PageBudget};
use stapo_result::RunAnalysis;

/// Bytes of the page at most, whatever the log.
pub const PAGE_LIMIT: usize = 5_000_000;

const SCRIPT: &str = concat!(include_str!("tune.js"), include_str!("cases.js"), include_str!("rollouts.js"));

/// The sections of the page, in their order.
const SECTIONS: &[fn(&Material<'_>) -> Option<Section>] = &[
    diagnosis::section,
    diagnosis::drivers,
    warnings::section,
    tuning::section,
    tuning::charts,
    answers::section,
    tables::section,
    cases::section,
    drill::section,
    responses::section,
    limits::section,
];

/// The page; detail is left out until it is small enough, and the page says so.
#[must_use]
pub fn page(analysis: &RunAnalysis, charts: &[Drawn]) -> String {
    let mut html = String::new();
    for percent in [100, 60, 30, 10, 0] {
        html = assemble(Material::new(analysis, charts, PageBudget::FULL.scaled(percent)));
        if html.len() <= PAGE_LIMIT {
            break;
        }
    }
    html
}

fn assemble(of: Material<'_>) -> String {
    let sections = SECTIONS.iter().filter_map(|section| section(&of)).collect();
    let name = of.run_name();
    Page {
        title: format!("{name} – token report"),
        name,
        facts: of.facts(),
        verdict: verdict::verdict(of.analysis),
        sections,
        data: [("data", of.tuning.map(|t| t.json)), ("rollouts-data", of.rollouts.map(|r| r.json))]
            .into_iter()
            .filter_map(|(id, json)| Some((id, json?)))
            .collect(),
        script: SCRIPT,
    }
    .render()
}
