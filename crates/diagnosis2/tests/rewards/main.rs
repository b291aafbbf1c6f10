//! Causes in rewards, advantages and what was trained, on made-up logs of known truth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod causes;
mod dump;
mod log;
mod made;
