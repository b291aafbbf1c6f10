//! `report.html`: one file, no libraries, no network, never larger than [`PAGE_LIMIT`].

mod case_rows;
mod cases;
mod drill;
pub(in crate::report) mod figures;
mod limits;
mod responses;
pub(in crate::report) mod tables;
mod tuning;
mod tuning_data;
pub(in crate::report) mod verdict;

pub use limits::statements;
pub use verdict::when;

use std::fmt::Write as _;

use base64::Engine as _;
use sha2::{Digest, Sha256};

use super::charts::Drawn;
use super::draw::Ink;
use super::text::{escape_xml, prose};
use crate::analyze::RunAnalysis;

/// Bytes of the page at most, whatever the log.
pub const PAGE_LIMIT: usize = 5_000_000;

const STYLE: &str = include_str!("style.css");
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
    write_head(&mut out, &title(analysis), Some(SCRIPT));
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
    let _ = write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// Writes the page up to its body: nothing may run or be loaded but this style and this script.
pub(in crate::report) fn write_head(out: &mut String, title: &str, script: Option<&str>) {
    let style = format!("{}{STYLE}", palette());
    let script = script.map_or("none".to_owned(), hash);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{script}'; base-uri 'none'; form-action 'none'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        hash(&style),
        escape_xml(title)
    );
}

/// The inks as variables, and the classes of charts.
fn palette() -> String {
    let variables = |colour: fn(Ink) -> [u8; 3]| -> String {
        let one = |ink: &Ink| {
            let [r, g, b] = colour(*ink);
            format!("--{}:#{r:02x}{g:02x}{b:02x};", ink.name())
        };
        Ink::ALL.iter().map(one).collect()
    };
    let mut css = format!(
        ":root{{{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n@media print{{:root{{{}}}}}\n",
        variables(Ink::light),
        variables(Ink::dark),
        variables(Ink::light)
    );
    for ink in Ink::ALL {
        let name = ink.name();
        let _ = writeln!(css, ".f-{name}{{fill:var(--{name})}}.s-{name}{{fill:none;stroke:var(--{name})}}");
    }
    css
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(digest))
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
