//! The end of every command that makes a report: write it, print it, say where it is, hold it against gates.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::open;
use super::outcome::{Outcome, stdout};
use crate::cli::args::Format;
use stapo_base::error::{Error, Result};
use stapo_base::output::{OutputFolder, json_text};
use stapo_report::ReportFiles;
use stapo_result::gate::Gate;

/// What is done with a result.
pub struct Presentation<'a> {
    /// Where the report goes.
    pub report: Option<&'a Path>,
    /// Whether it is shown.
    pub open: bool,
    /// What is printed.
    pub format: Format,
    /// Whether nothing else is.
    pub quiet: bool,
    /// What it is held against.
    pub gates: &'a [Gate],
    /// The claimed folder of the report.
    pub claimed: Option<&'a OutputFolder>,
}

/// A result that a command ends with; most are a run's.
pub trait Shown: Serialize {
    /// Its page.
    const PAGE: &'static str = "report.html";
    /// Its JSON file, as gates name it.
    const FILE: &'static str = "summary.json";

    /// For a terminal.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// As JSON text.
    fn json(&self) -> Result<String> {
        json_text(self, Path::new(Self::FILE))
    }

    /// As a JSON value.
    fn value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::write(Path::new(Self::FILE), e))
    }
}

impl Presentation<'_> {
    /// Writes, prints and judges a result; `write` makes its report.
    pub fn present<R: Shown>(
        &self,
        result: &R,
        write: impl FnOnce(&Path) -> Result<ReportFiles>,
        out: &mut dyn Write,
        talk: &mut dyn Write,
    ) -> Result<Outcome> {
        self.claimed.map_or(Ok(()), |folder| folder.retire(R::PAGE))?;
        let report = self.report.map(write).transpose()?;
        stdout(match self.format {
            Format::Json => out.write_all(result.json()?.as_bytes()),
            Format::Text => result.text(out),
        })?;
        if let Some(report) = report {
            if !self.quiet {
                stdout(writeln!(talk, "\nreport: {}", report.html.display()))?;
            }
            if self.open {
                open::in_browser(&report.html, talk)?;
            }
        }
        if self.gates.is_empty() { Ok(Outcome::Fine) } else { self.judge(&result.value()?, R::FILE, talk) }
    }

    fn judge(&self, value: &Value, file: &str, talk: &mut dyn Write) -> Result<Outcome> {
        let mut outcome = Outcome::Fine;
        for gate in self.gates {
            if let Some(failed) = gate.check_value(value, file)? {
                stdout(writeln!(talk, "failed: {failed}"))?;
                outcome = Outcome::GateFailed;
            }
        }
        Ok(outcome)
    }
}
