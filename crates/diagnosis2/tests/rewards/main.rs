//! Causes in rewards, advantages and what was trained, on made-up logs of known truth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod causes;
mod log;
mod made;
