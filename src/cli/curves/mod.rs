//! The main job on a log of scalars.

mod document;

use std::io::{self, Write};
use std::path::Path;

use super::outcome::Outcome;
use super::present::{Presentation, Shown};
use super::terminal::{self, paragraph, visible};
use crate::analyze::CurveAnalysis;
use stapo_base::error::Result;
use stapo_base::format::words;
use stapo_base::output::{json_text, write_file};
use stapo_report::ReportFiles;

impl Shown for CurveAnalysis {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = terminal::columns();
        let mut line = |lead: &str, text: &str, indent: usize| {
            writeln!(out, "{}", paragraph(lead, &visible(text), indent, columns))
        };
        let diagnosis = &self.diagnosis;
        line(&format!("{}  ", diagnosis.state.words()), &diagnosis.sentence, 0)?;
        for event in &diagnosis.events {
            line("event    ", &event.sentence, 9)?;
        }
        for cause in &diagnosis.causes {
            line("likely   ", &format!("{}: {}", words(cause.code.as_str()), cause.sentence), 9)?;
        }
        for sign in &diagnosis.signs {
            line("sign     ", &sign.sentence, 9)?;
        }
        for note in &diagnosis.notes {
            line("note     ", note, 9)?;
        }
        if !self.unknown_columns.is_empty() {
            line("unknown  ", &format!("{} (name them with --map)", self.unknown_columns.join(", ")), 9)?;
        }
        line("more     ", &self.more, 9)
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
fn write_all(analysis: &CurveAnalysis, folder: &Path) -> Result<ReportFiles> {
    let summary = folder.join("summary.json");
    write_file(&summary, json_text(analysis, &summary)?.as_bytes())?;
    let files = stapo_page::write(&document::document(analysis), "report", folder)?;
    Ok(ReportFiles { html: files.html, markdown: files.markdown, charts: Vec::new(), missing: Vec::new() })
}
