//! Arguments of `stapo-analyze explain`.

use clap::Args;

/// Which cause.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The name of a cause, as in `summary.json` and on the terminal
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}
