//! Arguments of `convert`.

use std::path::PathBuf;

use clap::Args;

use super::input::InputArgs;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,

    /// Long layout: a row per token
    #[arg(long, help_heading = "Output")]
    pub long: bool,
}
