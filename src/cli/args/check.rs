//! Arguments of `check`.

use clap::Args;

use super::input::InputArgs;
use super::values::Format;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Size of the vocabulary [default: from metadata, else guessed from the largest id]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub vocab_size: Option<u32>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Exit with 1 when a check fails
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}
