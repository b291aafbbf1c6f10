//! Arguments of `show`.

use std::path::PathBuf;

use clap::Args;

use super::input::InputArgs;
use super::values::Format;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Only this step
    #[arg(long, value_name = "STEP", allow_negative_numbers = true, help_heading = "Which")]
    pub step: Option<i64>,

    /// Only this group (prompt)
    #[arg(long, value_name = "GROUP", help_heading = "Which")]
    pub group: Option<String>,

    /// Only this response
    #[arg(long, value_name = "SAMPLE", help_heading = "Which")]
    pub sample: Option<String>,

    /// Responses at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "Which")]
    pub limit: u32,

    /// Tokens that are listed with their numbers, the most surprising first
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub tokens: usize,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Token texts from this tokenizer.json [default: the one the log's metadata names]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub tokenizer: Option<PathBuf>,
}
