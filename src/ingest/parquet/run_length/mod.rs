//! Columns that repeat a value over many rows, read as runs instead of row by row.
//!
//! In the long layout a response's step, ids, reward and advantage stand on each of its tokens.
//! Writers store them as runs of dictionary indices; here they stay runs, so that what grows with
//! the tokens is only what differs between them.

pub mod chunk_pages;
mod column;
mod hybrid;
pub mod page;
mod unpack;

pub use column::{RunColumn, is_readable};
pub use hybrid::{EMPTY_ROOM, HybridRuns, Room, bad};
