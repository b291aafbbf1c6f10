//! Parquet files: their columns as Arrow arrays, as numbers, as runs of equal values, as lists.

mod batches;
pub mod budget;
pub mod checked_pages;
mod definitions;
mod delta_lengths;
mod footer;
mod inflate;
mod levels;
pub mod list_column;
pub mod number_column;
mod page_header;
pub mod reader;
mod reused_memory;
mod row_groups;
pub mod run_length;
mod shapes;
mod statistics;
mod text_bytes;
mod thrift;
mod unpack_page;
mod window;
