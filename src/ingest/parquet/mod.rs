//! Parquet files: their columns as Arrow arrays, as runs of equal values, as sparse lists.

pub mod column_chunks;
pub mod reader;
pub mod run_length;
pub mod sparse_lists;
