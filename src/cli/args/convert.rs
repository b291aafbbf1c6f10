//! Arguments of `convert`.

use std::path::PathBuf;

use clap::Args;

use super::input::{InputArgs, StepsArgs};
use super::values::on_disk;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Which part of it.
    #[command(flatten)]
    pub part: StepsArgs,

    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE", help_heading = "Output", value_parser = on_disk)]
    pub output: PathBuf,

    /// Long layout: a row per token
    #[arg(long, help_heading = "Output")]
    pub long: bool,
}
