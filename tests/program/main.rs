//! The program as a person calls it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/schema_support/mod.rs"]
mod schema_support;
#[path = "../shared/step_logs/mod.rs"]
mod step_logs;
#[path = "../shared/support/mod.rs"]
mod support;

mod cli;
mod curves;
mod explained;
mod fuzz_corpus;
mod interrupted;
mod newcomer;
mod readme;
mod samples;
mod show;
mod terminal;
mod threads;
mod watch;
