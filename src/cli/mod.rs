//! The command line: arguments in, exit code out. stdout is data, stderr is talk.

mod analyze;
mod args;
mod check;
mod compare;
mod convert;
mod demo;
mod open;
mod outcome;
mod progress;
mod replay;
mod replay_progress;
mod settings;
mod shell;
mod show;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use self::args::{Cli, Command};
use self::outcome::Outcome;
use crate::error::Error;

/// Parses the arguments and runs the command. Exit codes: 0 fine, 1 a gate failed, 2 an error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    crate::ingest::quieten_guarded_panics();
    // stderr is never locked for a whole command: the progress bar draws on it from its own thread
    // and would wait for the lock forever.
    let (out, talk) = (&mut io::stdout().lock(), &mut io::stderr());
    let outcome = match &cli.command {
        None => analyze::run(&cli.analyze, out, talk),
        Some(Command::Check(arguments)) => check::run(arguments, out),
        Some(Command::Compare(arguments)) => compare::run(arguments, out, talk),
        Some(Command::Demo(arguments)) => demo::run(arguments, out, talk),
        Some(Command::Completions(arguments)) => shell::completions(arguments, out),
        Some(Command::Man(arguments)) => shell::man(arguments, out),
        Some(Command::Convert(arguments)) => convert::run(arguments, talk),
        Some(Command::Replay(arguments)) => replay::run(arguments, out, talk),
        Some(Command::Show(arguments)) => show::run(arguments, out, talk),
    };
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::GateFailed) => ExitCode::from(1),
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

fn report(error: &Error) {
    let mut talk = io::stderr().lock();
    // Nothing is left to do where even stderr is gone.
    let _ = writeln!(talk, "error: {}", terminal::visible(&error.to_string()));
    if let Some(hint) = error.hint() {
        let _ = writeln!(talk, "hint: {}", terminal::visible(&hint));
    }
}
