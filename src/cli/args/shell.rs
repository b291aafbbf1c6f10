//! Arguments of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;

use super::values::on_disk;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page for the program and for each of its commands into DIR instead
    #[arg(long, short, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub output: Option<PathBuf>,
}
