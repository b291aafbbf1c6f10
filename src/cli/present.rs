//! The end of every command that makes a report: write it, print it, say where it is, hold it against gates.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::open;
use super::outcome::{Outcome, stdout};
use super::terminal::{Colours, columns};
use crate::cli::args::Format;
use stapo_base::error::{Error, Result};
use stapo_base::output::{OutputFolder, json_text};
use stapo_page::document::Document;
use stapo_page::terminal::{self, Terminal};
use stapo_page::{Brief, Files};
use stapo_result::gate::Gate;
use stapo_result::{Cause, Confidence, Diagnosis, Evidence};

/// What is done with a result.
pub struct Presentation<'a> {
    /// Where the report goes.
    pub report: Option<&'a Path>,
    /// Whether it is shown.
    pub open: bool,
    /// What is printed.
    pub format: Format,
    /// Whether all of it is, not only what matters: as text, as JSON.
    pub verbose: bool,
    /// See `verbose`.
    pub full: bool,
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

    /// For a terminal; all of it where that is asked for.
    fn text(&self, verbose: bool, out: &mut dyn Write) -> io::Result<()>;

    /// As JSON of a few kilobytes: what an answer needs.
    fn brief(&self) -> Option<Brief> {
        None
    }

    /// As JSON text.
    fn json(&self) -> Result<String> {
        json_text(self, Path::new(Self::FILE))
    }

    /// As a JSON value.
    fn value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::write(Path::new(Self::FILE), e))
    }
}

/// Writes a document as the terminal shows it.
pub fn on_terminal(document: &Document, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let columns = columns().unwrap_or(terminal::COLUMNS);
    let how = Terminal { columns, colours: Colours::of_stdout().any(), verbose };
    out.write_all(terminal::terminal(document, how).as_bytes())
}

/// What a diagnosis found, in few words: the causes that are more than a note with the numbers that decide, and what
/// could not be checked.
pub fn brief_of(document: &Document, diagnosis: &Diagnosis) -> Brief {
    let cause = |cause: &Cause| {
        let number = |of: &Evidence| json!({"what": of.what, "value": of.value, "healthy": of.healthy});
        let evidence: Vec<Value> = cause.evidence.iter().take(3).map(number).collect();
        json!({"code": cause.code, "confidence": cause.confidence, "from_step": cause.from_step, "slice": cause.slice,
               "follows_from": cause.follows_from, "message": cause.message, "next": cause.hint, "evidence": evidence})
    };
    let causes: Vec<Value> =
        diagnosis.causes.iter().filter(|c| c.confidence != Confidence::Note).take(5).map(cause).collect();
    let more = vec![
        ("reward", json!(diagnosis.reward)),
        ("causes", json!(causes)),
        ("not_checked", json!(diagnosis.not_checked.iter().take(8).collect::<Vec<_>>())),
    ];
    stapo_page::brief(document, more)
}

impl Presentation<'_> {
    /// Writes, prints and judges a result; `write` makes its report.
    pub fn present<R: Shown>(
        &self,
        result: &R,
        write: impl FnOnce(&Path) -> Result<Files>,
        out: &mut dyn Write,
        talk: &mut dyn Write,
    ) -> Result<Outcome> {
        self.claimed.map_or(Ok(()), |folder| folder.retire(R::PAGE))?;
        let report = self.report.map(write).transpose()?;
        stdout(match self.format {
            Format::Json => match result.brief().filter(|_| !self.full) {
                Some(brief) => writeln!(out, "{}", json_text(&brief, Path::new("stdout"))?.trim_end()),
                None => out.write_all(result.json()?.as_bytes()),
            },
            Format::Text => result.text(self.verbose, out),
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
