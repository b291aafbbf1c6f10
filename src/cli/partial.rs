//! The main job on a log without entropy or advantages: as far as it goes.

use std::io::{self, Write};
use std::path::Path;

use super::present::{Shown, brief_of, on_terminal};
use stapo_base::error::Result;
use stapo_page::{Brief, Files, write_partial_report};
use stapo_result::PartialAnalysis;

impl Shown for PartialAnalysis {
    fn text(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
        on_terminal(&stapo_page::run_in_part(self), verbose, out)
    }

    fn brief(&self) -> Option<Brief> {
        Some(brief_of(&stapo_page::run_in_part(self), &self.diagnosis))
    }
}

/// Everything `--report` asks for; the page comes last.
pub fn write_all(analysis: &PartialAnalysis, folder: &Path) -> Result<Files> {
    analysis.write_tables(folder)?;
    analysis.write_summary(folder)?;
    write_partial_report(analysis, folder)
}
