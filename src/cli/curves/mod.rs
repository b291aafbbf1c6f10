//! The main job on a log of scalars.

mod check;
mod document;

pub use check::check;

use std::io::{self, Write};
use std::path::Path;

use super::outcome::Outcome;
use super::present::{Presentation, Shown, on_terminal};
use crate::analyze::CurveAnalysis;
use stapo_base::error::Result;
use stapo_base::output::{json_text, write_file};
use stapo_page::{Brief, Files, REPORT};

impl Shown for CurveAnalysis {
    fn text(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        on_terminal(&document::document(self), verbose, out)
    }

    fn brief(&self) -> Option<Brief> {
        Some(stapo_page::brief(&document::document(self), Vec::new()))
    }
}

/// Presents what curves say.
pub fn present(
    analysis: &CurveAnalysis,
    wanted: &Presentation<'_>,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Result<Outcome> {
    wanted.present(analysis, |folder| write_all(analysis, folder), out, talk)
}

/// Everything `--report` asks for; the page comes last.
fn write_all(analysis: &CurveAnalysis, folder: &Path) -> Result<Files> {
    let summary = folder.join("summary.json");
    write_file(&summary, json_text(analysis, &summary)?.as_bytes())?;
    stapo_page::write(&document::document(analysis), REPORT, folder)
}
