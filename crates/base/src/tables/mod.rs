//! Tables: every result table is a polars [`DataFrame`], made once and written in many ways.
//!
//! [`Columns`] makes a frame out of rows. [`parquet`] and [`text`] write one: as a file for programs, and for a
//! terminal. Which tables a result has is said
//! beside the result: `analyze::frames`, `compare::frames`, `replay::frames`.

mod batch;
mod columns;
pub mod parquet;
pub mod text;

pub use batch::BatchColumns;
pub use columns::{Columns, IntoText};
pub use polars::prelude::DataFrame;

/// Folder of the Parquet tables inside an output folder.
pub const FOLDER: &str = "tables";

/// The columns of `frame` with these names, in the order of the names; each name once.
#[must_use]
pub fn select(frame: &DataFrame, names: &[&str]) -> DataFrame {
    let columns = names.iter().filter_map(|name| frame.column(name).ok()).cloned().collect();
    // Columns of one frame have one length, and each is taken once.
    DataFrame::new(frame.height(), columns).unwrap_or_default()
}
