//! Runs against each other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/compare_support/mod.rs"]
mod compare_support;
#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/schema_support/mod.rs"]
mod schema_support;
#[path = "../shared/support/mod.rs"]
mod support;

mod null_pairs;
mod runs;
