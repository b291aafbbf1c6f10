//! One document of what was found, three renderers: a page, Markdown, a terminal.
//!
//! A [`Document`](document::Document) is built from a result and says everything once; renderers decide what fits.

mod brief;
pub mod causes;
pub mod chart;
mod compare;
pub mod document;
mod files;
pub mod hostile;
pub mod html;
mod live;
pub mod markdown;
mod replay;
mod run;
pub mod terminal;
pub mod told;
pub mod words;

pub use brief::{BRIEF, Brief, brief};
pub use compare::compare;
pub use files::{Files, write, write_beside};
pub use live::live_page;
pub use replay::replay;
pub use run::{run, run_in_part};

use std::path::Path;

use stapo_base::error::Result;
use stapo_compare::Comparison;
use stapo_result::replay::ReplayResult;
use stapo_result::{PartialAnalysis, RunAnalysis};

/// What the files of a run's report are called.
pub const REPORT: &str = "report";

/// Writes `report.html`, `report.md` and `charts/*.svg` into a folder; the same bytes for the same analysis. The page
/// links `tables/*.parquet`, which the analysis writes itself.
pub fn write_report(analysis: &RunAnalysis, folder: &Path) -> Result<Files> {
    write(&run(analysis), REPORT, folder)
}

/// The same for a run without entropies or advantages: what can be told, and what cannot.
pub fn write_partial_report(analysis: &PartialAnalysis, folder: &Path) -> Result<Files> {
    write(&run_in_part(analysis), REPORT, folder)
}

/// Writes `compare.html`, `compare.md` and `charts/*.svg` into a folder.
pub fn write_comparison(comparison: &Comparison, folder: &Path) -> Result<Files> {
    write(&compare(comparison), "compare", folder)
}

/// Writes `replay.html`, `replay.md` and `charts/*.svg` into a folder.
pub fn write_replay(result: &ReplayResult, folder: &Path) -> Result<Files> {
    write(&replay(result), "replay", folder)
}
