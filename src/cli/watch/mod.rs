//! `stapo-analyze watch`: the report of a run that goes on, kept up to date.
//!
//! A look finds what is complete, analyses it where something is new, and replaces the files of the
//! report one by one, the page last. The newest step may be half written: it is printed and judged when a later
//! one has begun or nothing more came. A signal ends the program as any other: what is in the folder is
//! the report of the last look.

mod alerts;
mod command;
mod live;
mod step_lines;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use self::alerts::Alert;
use self::live::Live;
use self::step_lines::StepLines;
use super::analyze::write_all;
use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::terminal::{columns, columns_of_stderr, paragraph, visible};
use super::{gates, settings};
use crate::analyze::analyze_cached;
use crate::cli::args::WatchArgs;
use stapo_base::error::{Error, Result};
use stapo_base::output::{OutputFolder, Scratch};
use stapo_collect::shards::Cache;
use stapo_ingest::{FileIdentity, IngestSettings, Run, Skipped};
use stapo_result::RunAnalysis;
use stapo_result::gate::{Gate, Judged};
use stapo_result::settings::AnalyzeSettings;
use stapo_store::is_url;

/// Runs the command.
pub fn run(arguments: &WatchArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = gates::of_summary(&arguments.fail_on)?;
    let _claimed = OutputFolder::claim(&arguments.report)?;
    let ingest = IngestSettings { growing: true, ..settings::ingest(&arguments.input.reading)? };
    let scratch = if arguments.cache.is_none() { Some(Scratch::new()?) } else { None };
    let folder = scratch.as_ref().map(Scratch::path).or(arguments.cache.as_deref());
    let cache = Cache::open(folder.unwrap_or(&arguments.report))?;
    let mut watch = Watch {
        arguments,
        ingest,
        analyze: settings::analyze(&arguments.options),
        gates,
        cache,
        live: Live::open(&arguments.report, &run_name(&arguments.input.inputs), arguments.every)?,
        glanced: Vec::new(),
        read: (Vec::new(), Vec::new()),
        lines: StepLines::default(),
        newest: None,
        unsettled: None,
        seen: BTreeSet::new(),
        undefined: Vec::new(),
        awaited: BTreeSet::new(),
        waiting_for: None,
    };
    let mut idle_since = Instant::now();
    loop {
        let mut outcome = Outcome::Fine;
        match watch.look(out, talk)? {
            Look::Same => {
                watch.live.looked()?;
                outcome = watch.settle(out, talk)?;
            }
            Look::Waiting => watch.live.looked()?,
            Look::New(found) => {
                outcome = found;
                idle_since = Instant::now();
            }
        }
        let ended = arguments.until_idle.is_some_and(|limit| idle_since.elapsed() >= limit);
        if ended && outcome == Outcome::Fine {
            outcome = watch.end(out, talk)?;
        }
        if ended || outcome != Outcome::Fine {
            watch.live.end()?;
            return match watch.waiting_for {
                Some(error) if outcome == Outcome::Fine => Err(error),
                _ => Ok(outcome),
            };
        }
        std::thread::sleep(arguments.every.min(arguments.until_idle.unwrap_or(Duration::MAX)));
    }
}

/// What tells the run of a watch from others: its inputs, wherever they are given from.
fn run_name(inputs: &[PathBuf]) -> String {
    let absolute = |path: &PathBuf| match is_url(path) {
        true => path.clone(),
        false => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
    };
    let names: Vec<String> = inputs.iter().map(|path| absolute(path).display().to_string()).collect();
    names.join("\n")
}

/// What a look found.
enum Look {
    /// Nothing changed.
    Same,
    /// Something is being written and not complete yet.
    Waiting,
    /// Something; the report is of it.
    New(Outcome),
}

struct Watch<'a> {
    arguments: &'a WatchArgs,
    ingest: IngestSettings,
    analyze: AnalyzeSettings,
    gates: Vec<Gate>,
    /// Only what is new is read.
    cache: Cache,
    live: Live,
    /// What the last look at the folder saw.
    glanced: Vec<(PathBuf, FileIdentity)>,
    /// What the last report is of.
    read: (Vec<(PathBuf, FileIdentity)>, Vec<Skipped>),
    lines: StepLines,
    /// The newest step and its tokens at the last look.
    newest: Option<(i64, u64)>,
    /// The last analysis, where its newest step may be half written.
    unsettled: Option<RunAnalysis>,
    /// What was wrong at the last look.
    seen: BTreeSet<String>,
    /// Gates that had no value to judge at the last look, in words.
    undefined: Vec<String>,
    /// Gates on places that were not there yet, by their number: each is said once.
    awaited: BTreeSet<usize>,
    /// What stood in the way at the last look.
    waiting_for: Option<Error>,
}

impl Watch<'_> {
    /// Looks once; what time may mend is said and waited for.
    fn look(&mut self, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Look> {
        let glanced = match Run::glance(&self.arguments.input.inputs) {
            Ok(glanced) => glanced,
            Err(error) => return self.wait_for(error, talk),
        };
        if glanced == self.glanced && self.waiting_for.is_none() {
            return Ok(Look::Same);
        }
        match self.read(out, talk) {
            Ok(look) => {
                self.glanced = glanced;
                self.waiting_for = None;
                Ok(look)
            }
            Err(error) => self.wait_for(error, talk),
        }
    }

    fn wait_for(&mut self, error: Error, talk: &mut dyn Write) -> Result<Look> {
        let may_mend = matches!(
            error,
            Error::NotFound { .. }
                | Error::NoLogs { .. }
                | Error::Empty { .. }
                | Error::NoTokens { .. }
                | Error::Changed { .. }
                | Error::Corrupt { .. }
                | Error::Remote { .. }
                | Error::Read { .. }
        );
        if !may_mend {
            return Err(error);
        }
        let said = visible(&error.to_string());
        let before = self.waiting_for.replace(error).map(|e| visible(&e.to_string()));
        if before.as_ref() != Some(&said) && !self.arguments.input.reading.quiet {
            stdout(writeln!(talk, "{}", paragraph("waiting: ", &said, 9, columns_of_stderr())))?;
        }
        Ok(Look::Waiting)
    }

    fn read(&mut self, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Look> {
        let run = Run::open(&self.arguments.input.inputs, &self.ingest)?;
        let files = run.files.iter().map(|f| (f.context.path.clone(), f.identity.clone())).collect();
        let read = (files, run.skipped.clone());
        if read == self.read {
            return Ok(Look::Waiting);
        }
        let bar = Bar::new(&run, self.arguments.input.reading.quiet);
        let analysed = analyze_cached(&run, &self.analyze, &self.cache, &bar);
        bar.finish();
        let (analysis, mut flagged, _) = analysed?;
        write_all(&analysis, &mut flagged, &self.arguments.report)?;
        self.read = read;
        self.live.show(&analysis)?;
        let newest = analysis.steps.last().map(|row| (row.step, row.tokens));
        let settled = newest == self.newest;
        self.newest = newest;
        let outcome = self.tell(&analysis, settled, out, talk)?;
        self.unsettled = (!settled).then_some(analysis);
        Ok(Look::New(outcome))
    }

    /// Nothing more came: the newest step counts as whole.
    fn settle(&mut self, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
        match self.unsettled.take() {
            Some(analysis) => self.tell(&analysis, true, out, talk),
            None => Ok(Outcome::Fine),
        }
    }

    /// Nothing more will come: what still has no value is not passed either.
    fn end(&mut self, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
        let outcome = self.settle(out, talk)?;
        for said in &self.undefined {
            stdout(writeln!(talk, "failed: {said}"))?;
        }
        Ok(if self.undefined.is_empty() { outcome } else { Outcome::GateFailed })
    }

    /// Says what is new, and whether that ends the watch. `settled` says that the newest step is whole.
    fn tell(
        &mut self,
        analysis: &RunAnalysis,
        settled: bool,
        out: &mut dyn Write,
        talk: &mut dyn Write,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::Fine;
        stdout(self.lines.write(analysis, settled, out))?;
        let mut alerts = alerts::all(analysis);
        let now = alerts.iter().map(Alert::key).collect();
        // What half a step shows is gone when it is whole: until then an alert has to hold at two looks.
        alerts.retain(|alert| settled || self.seen.contains(&alert.key()));
        self.seen = now;
        let is_wrong = !alerts.is_empty();
        alerts.retain(|alert| !self.live.known().contains(&alert.key()));
        for alert in &alerts {
            let said = visible(&alert.said());
            stdout(writeln!(out, "{}", paragraph("alert   ", &said, 8, columns())))?;
        }
        stdout(out.flush())?;
        // Known before the command runs: whoever kills the watch in between is told at most once.
        self.live.know(&alerts)?;
        for alert in &alerts {
            self.run_command(alert, talk)?;
        }
        if self.arguments.fail_on_alert && is_wrong {
            outcome = Outcome::GateFailed;
        }
        self.undefined.clear();
        for (number, gate) in self.gates.iter().enumerate() {
            let judged = match self.newest {
                Some((newest, _)) if !settled => gate.judge_before(analysis, newest)?,
                _ => gate.judge(analysis)?,
            };
            match judged {
                Judged::Passed => {}
                Judged::Failed(failed) => {
                    stdout(writeln!(talk, "failed: {failed}"))?;
                    outcome = Outcome::GateFailed;
                }
                // A run that goes on may have a value later.
                Judged::Undefined(said) => self.undefined.push(said),
                Judged::Missing(said) => {
                    if self.awaited.insert(number) && !self.arguments.input.reading.quiet {
                        stdout(writeln!(talk, "waiting: {said} yet"))?;
                    }
                    self.undefined.push(said);
                }
            }
        }
        Ok(outcome)
    }

    fn run_command(&self, alert: &Alert, talk: &mut dyn Write) -> Result<()> {
        let Some(command) = &self.arguments.on_alert else { return Ok(()) };
        match command::run(command, alert, &self.arguments.report.join("report.html")) {
            Ok(()) => Ok(()),
            // The watch is worth more than its bell.
            Err(why) => stdout(writeln!(talk, "--on-alert: {}", visible(&why))),
        }
    }
}
