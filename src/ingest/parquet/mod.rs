//! Parquet files: their columns as Arrow arrays, as runs of equal values, as sparse lists.

pub mod checked_pages;
pub mod column_chunks;
mod definitions;
mod footer;
mod inflate;
mod page_header;
pub mod reader;
mod row_groups;
pub mod run_length;
pub mod sparse_lists;
mod thrift;
mod window;
