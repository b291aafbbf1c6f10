//! Logged batches through a policy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/schema_support/mod.rs"]
mod schema_support;
#[path = "../shared/support/mod.rs"]
mod support;

mod arms;
mod objectives;
mod replay_checkpoints;
mod replay_sample;
