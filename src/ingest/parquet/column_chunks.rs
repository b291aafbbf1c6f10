//! The chunks of one column, for readers of our own.

use std::collections::VecDeque;
use std::ops::Range;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// Chunks with their rows, in order.
pub type Chunks = VecDeque<(ColumnChunkMetaData, usize)>;

/// The chunks of column number `leaf` in some row groups.
pub fn chunks_of(metadata: &ParquetMetaData, row_groups: Range<usize>, leaf: usize) -> Option<Chunks> {
    let groups = metadata.row_groups().get(row_groups)?.iter();
    groups
        .map(|group| Some((group.columns().get(leaf)?.clone(), usize::try_from(group.num_rows()).ok()?)))
        .collect()
}
