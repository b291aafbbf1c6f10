//! How the result of a command is shown.

use clap::Args;

use super::values::Format;

/// How a result is shown, by a command that makes a report of it.
#[derive(Debug, Args)]
pub struct ShowingArgs {
    /// Open the page in the browser when it is written
    #[arg(long, requires = "report", help_heading = "Output")]
    pub open: bool,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,
}
