//! The `stapo-analyze` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    stapo_analyze::cli::main()
}
