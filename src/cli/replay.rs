//! `stapo-analyze replay`.

use std::io::Write;
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::present::on_terminal;
use super::replay_progress::ReplayBar;
use super::{open, replay_settings, settings};
use crate::cli::args::Format;
use crate::cli::args::ReplayArgs;
use serde_json::json;
use stapo_base::error::Result;
use stapo_base::output::{OutputFolder, json_text};
use stapo_ingest::Run;
use stapo_replay::{Workspace, replay};

/// Runs the command.
pub fn run(arguments: &ReplayArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let settings = replay_settings::replay(arguments);
    let run = Run::open(&arguments.input.inputs, &settings::ingest(&arguments.input.reading)?)?;
    let claimed = OutputFolder::claim(&arguments.report)?;
    let bar = ReplayBar::new(arguments.input.reading.quiet);
    let workspace = Workspace { folder: arguments.report.clone(), resume: arguments.resume };
    let replayed = replay(&run, &settings, Some(&workspace), &bar);
    bar.finish();
    let replayed = replayed?;
    claimed.retire("replay.html")?;
    replayed.write(&arguments.report)?;
    let document = stapo_page::replay(&replayed.result);
    let files = stapo_page::write(&document, "replay", &arguments.report)?;
    let result = replayed.result.clone();
    replayed.forget_checkpoints()?;
    stdout(match arguments.showing.format {
        Format::Json if arguments.showing.full => {
            out.write_all(json_text(&result, Path::new("stdout"))?.as_bytes())
        }
        Format::Json => {
            let brief = stapo_page::brief(&document, vec![("differences", json!(result.differences))]);
            out.write_all(json_text(&brief, Path::new("stdout"))?.as_bytes())
        }
        Format::Text => on_terminal(&document, arguments.showing.verbose, out),
    })?;
    if !arguments.input.reading.quiet {
        stdout(writeln!(talk, "\nreport: {}", files.html.display()))?;
    }
    if arguments.showing.open {
        open::in_browser(&files.html, talk)?;
    }
    Ok(Outcome::Fine)
}
