//! A report without a log: the sample inside of the program.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::analyze;
use super::args::Cli;
use super::outcome::{Outcome, stdout};
use crate::cli::args::DemoArgs;
use stapo_base::error::{Error, Result};
use stapo_base::output::{Scratch, not_ours, write_file};

/// Half of a real run of SmolLM2-135M-Instruct whose trainer saw other prompts than the sampler.
const RUN: &[u8] = include_bytes!("../../assets/demo/run.parquet");
const TOKENIZER: &[u8] = include_bytes!("../../assets/demo/tokenizer.json");

/// Runs the main job on the sample, which is left in the folder of the report to go on with.
pub fn run(arguments: &DemoArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let temporary = Scratch::new()?;
    let folder = arguments.report.as_deref().unwrap_or(temporary.path());
    let log = write(folder, "demo.parquet", RUN)?;
    let tokenizer = write(folder, "tokenizer.json", TOKENIZER)?;
    let outcome = analyze::run(&main_job(&log, &tokenizer, arguments)?.analyze, out, talk)?;
    if arguments.report.is_some() && !arguments.quiet {
        stdout(writeln!(
            talk,
            "log: {}, half of a real run of SmolLM2-135M-Instruct (Apache-2.0)",
            log.display()
        ))?;
    }
    Ok(outcome)
}

/// What a user would have typed.
fn main_job(log: &Path, tokenizer: &Path, arguments: &DemoArgs) -> Result<Cli> {
    let mut typed: Vec<OsString> =
        vec!["stapo-analyze".into(), log.into(), "--tokenizer".into(), tokenizer.into()];
    if let Some(folder) = &arguments.report {
        typed.extend(["--report".into(), folder.into()]);
    }
    if arguments.open {
        typed.push("--open".into());
    }
    if arguments.quiet {
        typed.push("--quiet".into());
    }
    let wrong = |e: clap::Error| Error::Usage { message: e.to_string(), hint: "give another folder".into() };
    Cli::try_parse_from(typed).map_err(wrong)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(there) if there == bytes => {}
        Ok(_) => return Err(not_ours(&path, "demo")),
        Err(_) => write_file(&path, bytes)?,
    }
    Ok(path)
}
