//! The state machine against its prototype, on runs made up to be unlike any log.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod expected;
mod properties;
mod rates;
mod runs;
#[path = "../simulated/mod.rs"]
mod simulated;
