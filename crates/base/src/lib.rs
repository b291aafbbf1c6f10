//! What every crate of stapo-analyze stands on: errors with a hint, how numbers are written, enums with names, vector
//! loops, files that appear whole, tables, statistics. Nothing here knows a token.

#[macro_use]
pub mod named;

pub mod condition;
pub mod encode;
pub mod error;
pub mod format;
pub mod guard;
pub mod non_finite;
pub mod output;
pub mod simd;
pub mod stats;
pub mod tables;

pub use error::{Error, Result};
