//! Logs of every kind, good and bad: what is read of them, and what is said.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/object_store_support/mod.rs"]
mod object_store_support;
#[path = "../shared/step_logs/mod.rs"]
mod step_logs;
#[path = "../shared/support/mod.rs"]
mod support;

mod bad_input;
mod formats;
mod gaps;
mod layouts;
mod object_store;
mod restarts_and_limits;
mod roundtrip;
mod trust;
