//! Offline, token-level analysis of RL training runs of language models.
//!
//! The way data takes: [`ingest`] (any log → one token stream) → [`framework`] (the math of the
//! STAPO paper); [`stats`] and [`convert`] stand beside it.

pub mod analyze;
pub mod check;
pub mod cli;
pub mod convert;
pub mod error;
pub mod framework;
pub mod ingest;
pub mod output;
pub mod report;
pub mod stats;

pub use error::{Error, Result};
