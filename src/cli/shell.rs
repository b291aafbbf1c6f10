//! What a shell wants to know of the program: completions and manual pages.

use std::io::Write;

use clap::CommandFactory;

use super::args::Cli;
use super::outcome::{Outcome, stdout};
use crate::cli::args::{CompletionsArgs, ManArgs};
use stapo_base::error::{Error, Result};

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArgs, out: &mut dyn Write) -> Result<Outcome> {
    let (mut script, mut command) = (Vec::new(), Cli::command());
    clap_complete::generate(arguments.shell, &mut command, env!("CARGO_PKG_NAME"), &mut script);
    stdout(out.write_all(&script))?;
    Ok(Outcome::Fine)
}

/// Prints the manual page, or writes all pages into a folder.
pub fn man(arguments: &ManArgs, out: &mut dyn Write) -> Result<Outcome> {
    if let Some(folder) = &arguments.output {
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(|e| Error::write(folder, e))?;
        return Ok(Outcome::Fine);
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
    stdout(rendered.and_then(|()| out.write_all(&page)))?;
    Ok(Outcome::Fine)
}
