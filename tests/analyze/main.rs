//! The analysis of a run: numbers, diagnosis, pieces on many machines, schemas.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/schema_support/mod.rs"]
mod schema_support;
#[path = "../shared/support/mod.rs"]
mod support;

mod run;
mod schemas;
mod shards;
