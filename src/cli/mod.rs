//! The command line: arguments in, exit code out. stdout is data, stderr is talk.

mod analyze;
mod args;
mod check;
mod compare;
mod convert;
mod curves;
mod demo;
#[cfg(feature = "replay")]
mod devices;
mod explain;
mod gates;
mod open;
mod outcome;
mod partial;
mod present;
mod progress;
#[cfg(feature = "replay")]
mod replay;
#[cfg(feature = "replay")]
mod replay_progress;
#[cfg(feature = "replay")]
mod replay_settings;
mod resources;
mod settings;
mod shards;
mod shell;
mod show;
mod terminal;
mod typos;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use self::args::{Cli, Command};
use self::outcome::Outcome;
pub use self::resources::bind_threads;
use stapo_base::error::{Error, Result};
use stapo_base::guard::internal;

/// Parses the arguments and runs the command. Exit codes: 0 fine, 1 a gate failed, 2 an error,
/// 3 a defect of the program itself, 4 shards have to look at the log again.
pub fn main() -> ExitCode {
    let mut cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            let hint = typos::meant_option(&mut error);
            // Help and versions come this way, too.
            let _ = error.print();
            if let Some(hint) = hint {
                let hint = terminal::paragraph("hint: ", &hint, 6, terminal::columns_of_stderr());
                let _ = writeln!(io::stderr(), "{hint}");
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    resources::keep_to_limits(&mut cli);
    stapo_base::guard::quieten_guarded_panics();
    stapo_base::output::clean_up_on_signals();
    let outcome = internal(|| run(&cli));
    if let Err(error) = &outcome {
        report(error, &mut io::stderr().lock());
    }
    end(exit_code(&outcome))
}

/// Ends the program. Its files are closed by now, and its memory goes with it at once: the allocator would give it back
/// piece by piece before.
#[cfg(unix)]
fn end(code: u8) -> ExitCode {
    let _ = io::stdout().flush();
    signal_hook::low_level::exit(i32::from(code))
}

#[cfg(not(unix))]
fn end(code: u8) -> ExitCode {
    ExitCode::from(code)
}

fn exit_code(outcome: &Result<Outcome>) -> u8 {
    match outcome {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::GateFailed) => 1,
        Err(Error::Internal { .. }) => 3,
        Err(Error::AnotherLook { .. }) => 4,
        Err(_) => 2,
    }
}

fn run(cli: &Cli) -> Result<Outcome> {
    // stderr is never locked for a whole command: the progress bar draws on it from its own thread
    // and would wait for the lock forever.
    let (out, talk) = (&mut io::stdout().lock(), &mut io::stderr());
    match &cli.command {
        None => analyze::run(&cli.analyze, out, talk),
        Some(Command::Check(arguments)) => check::run(arguments, out),
        Some(Command::Collect(arguments)) => shards::collect(arguments, talk),
        Some(Command::Compare(arguments)) => compare::run(arguments, out, talk),
        Some(Command::Demo(arguments)) => demo::run(arguments, out, talk),
        #[cfg(feature = "replay")]
        Some(Command::Devices) => devices::run(out),
        Some(Command::Explain(arguments)) => explain::run(arguments, out),
        Some(Command::Completions(arguments)) => shell::completions(arguments, out),
        Some(Command::Man(arguments)) => shell::man(arguments, out),
        Some(Command::Merge(arguments)) => shards::merge(arguments, out, talk),
        Some(Command::Plan(arguments)) => shards::plan(arguments, out),
        Some(Command::Convert(arguments)) => convert::run(arguments, talk),
        #[cfg(feature = "replay")]
        Some(Command::Replay(arguments)) => replay::run(arguments, out, talk),
        Some(Command::Show(arguments)) => show::run(arguments, out, talk),
        Some(Command::Watch(arguments)) => watch::run(arguments, out, talk),
    }
}

fn report(error: &Error, talk: &mut dyn Write) {
    let columns = terminal::columns_of_stderr();
    let line = |lead: &str, text: &str| terminal::paragraph(lead, &terminal::visible(text), 6, columns);
    // Nothing is left to do where even stderr is gone.
    let _ = writeln!(talk, "{}", line("error: ", &error.to_string()));
    if let Some(hint) = typos::meant_command(error).or_else(|| error.hint()) {
        let _ = writeln!(talk, "{}", line("hint: ", &hint));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_of_the_program_is_told_from_an_error_of_the_input() {
        assert_eq!(exit_code(&Ok(Outcome::Fine)), 0);
        assert_eq!(exit_code(&Ok(Outcome::GateFailed)), 1);
        assert_eq!(exit_code(&Err(Error::NotFound { path: "gone.parquet".into() })), 2);
        // As `main` runs a command that panics.
        let outcome = internal(|| -> Result<Outcome> { panic!("a defect of ours") });
        assert_eq!(exit_code(&outcome), 3);
        let mut said = Vec::new();
        report(&outcome.unwrap_err(), &mut said);
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("a defect of ours") && said.contains("report"), "{said}");
    }
}
