//! `report.html`: one file, no libraries, no network, never larger than [`PAGE_LIMIT`].

mod case_rows;
mod cases;
mod drill;
pub mod figures;
pub mod frame;
mod limits;
mod responses;
mod tables;
mod tuning;
mod tuning_data;
mod verdict;

pub use limits::statements;
pub use verdict::when;

use std::fmt::Write as _;

use super::charts::Drawn;
use super::text::prose;
use crate::analyze::RunAnalysis;

/// Bytes of the page at most, whatever the log.
pub const PAGE_LIMIT: usize = 5_000_000;

const SCRIPT: &str = concat!(include_str!("tune.js"), include_str!("cases.js"));

/// Bytes that the parts which grow with the log may take, by what a reader misses most.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Candidates for live thresholds.
    pub candidates: usize,
    /// Flagged tokens in their context.
    pub cases: usize,
    /// Whole responses.
    pub responses: usize,
    /// From a step to its flagged tokens.
    pub drill: usize,
}

impl Budget {
    const FULL: Self = Self { candidates: 1_400_000, cases: 1_400_000, responses: 1_000_000, drill: 250_000 };

    fn scaled(self, percent: usize) -> Self {
        let part = |bytes: usize| bytes / 100 * percent;
        Self {
            candidates: part(self.candidates),
            cases: part(self.cases),
            responses: part(self.responses),
            drill: part(self.drill),
        }
    }
}

/// The page; detail is left out until it is small enough, and the page says so.
#[must_use]
pub fn page(analysis: &RunAnalysis, charts: &[Drawn]) -> String {
    let mut html = String::new();
    for percent in [100, 60, 30, 10, 0] {
        html = assemble(analysis, charts, Budget::FULL.scaled(percent));
        if html.len() <= PAGE_LIMIT {
            break;
        }
    }
    html
}

fn assemble(analysis: &RunAnalysis, charts: &[Drawn], budget: Budget) -> String {
    let chosen = case_rows::choose(analysis, budget.cases);
    let views = responses::choose(analysis, budget.responses);
    let data = tuning_data::collect(analysis, &chosen, budget.candidates);
    let mut out = String::with_capacity(1 << 20);
    verdict::write(&mut out, analysis);
    tuning::write(&mut out, analysis, charts, data.as_ref());
    figures::write(&mut out, charts);
    tables::write(&mut out, analysis);
    cases::write(&mut out, analysis, &chosen);
    drill::write(&mut out, &chosen, &views, budget.drill);
    responses::write(&mut out, analysis, &views);
    limits::write(&mut out, analysis);
    out.push_str("</main>\n");
    if let Some(data) = &data {
        let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", data.json);
    }
    frame::document(&title(analysis), &out, SCRIPT)
}

/// The run's name: its file, or how many there are.
fn title(analysis: &RunAnalysis) -> String {
    format!("{} – token report", run_name(analysis))
}

fn run_name(analysis: &RunAnalysis) -> String {
    match analysis.provenance.files.as_slice() {
        [] => "Run".into(),
        [file] => prose(file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path)),
        files => format!("Run of {} files", files.len()),
    }
}
