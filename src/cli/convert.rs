//! `stapo-analyze convert`.

use std::io::Write;
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::settings;
use super::terminal::visible;
use crate::cli::args::ConvertArgs;
use stapo_base::error::{Error, Result};
use stapo_base::format::grouped;
use stapo_batch::limits::WARN_SHARE;
use stapo_ingest::convert::convert;
use stapo_ingest::{Layout, Run};

/// The output is Parquet: a name that promises another format would mislead whoever opens it.
fn require_parquet(target: &Path) -> Result<()> {
    let ending = target.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        None | Some("parquet" | "pq") => Ok(()),
        Some(other) => Err(Error::Usage {
            message: format!("{}: convert writes Parquet, not .{other}", target.display()),
            hint: "name it .parquet; every table reads Parquet".into(),
        }),
    }
}

/// Runs the command.
pub fn run(arguments: &ConvertArgs, talk: &mut dyn Write) -> Result<Outcome> {
    require_parquet(&arguments.output)?;
    let run = Run::open(
        &arguments.input.inputs,
        &settings::ingest_part(&arguments.input.reading, &arguments.part)?,
    )?;
    let layout = if arguments.long { Layout::Long } else { Layout::Nested };
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let converted = convert(&run, &arguments.output, layout, &bar);
    bar.finish();
    let converted = converted?;
    if !arguments.input.reading.quiet {
        for note in &run.notes {
            stdout(writeln!(talk, "note: {}", visible(note)))?;
        }
        for skipped in &run.skipped {
            stdout(writeln!(talk, "note: skipped {}: {}", visible(&skipped.path), skipped.reason))?;
        }
        for (column, quality) in converted.quality.iter().filter(|(_, q)| q.missing_share() > WARN_SHARE) {
            let share = quality.missing_share() * 100.0;
            stdout(writeln!(talk, "warning: {share:.1} % of `{column}` is missing or bad"))?;
        }
        let (responses, tokens) = (grouped(converted.responses), grouped(converted.tokens));
        let target = arguments.output.display();
        stdout(writeln!(talk, "{target}: {responses} responses, {tokens} tokens"))?;
    }
    Ok(Outcome::Fine)
}
