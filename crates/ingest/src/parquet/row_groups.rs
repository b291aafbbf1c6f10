//! Some row groups of a file: the Arrow reader gets its pages checked, readers of our own their chunks.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::budget::{Budget, ColumnTexts};
use super::checked_pages::CheckedPages;
use super::reused_memory::ColumnMemory;
use crate::storage::ranges::Ranges;

/// Chunks of one column with their rows, in order.
pub type Chunks = VecDeque<(ColumnChunkMetaData, usize)>;

/// Some row groups of a file.
pub struct CheckedRowGroups {
    /// Where their bytes are had.
    pub file: Arc<dyn Ranges>,
    /// The footer of the whole file.
    pub metadata: Arc<ParquetMetaData>,
    /// Which of its row groups.
    pub groups: Range<usize>,
    /// What they may take.
    pub budget: Budget,
}

impl CheckedRowGroups {
    /// The chunks of column number `leaf`.
    pub fn chunks(&self, leaf: usize) -> Option<Chunks> {
        let groups = self.metadata.row_groups().get(self.groups.clone())?.iter();
        groups
            .map(|group| Some((group.columns().get(leaf)?.clone(), usize::try_from(group.num_rows()).ok()?)))
            .collect()
    }
}

impl RowGroups for CheckedRowGroups {
    fn num_rows(&self) -> usize {
        self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum()
    }

    fn column_chunks(&self, leaf: usize) -> Result<Box<dyn PageIterator>> {
        let chunks =
            self.chunks(leaf).ok_or_else(|| ParquetError::General("a row group lacks a column".into()))?;
        let (budget, texts) = (self.budget.clone(), self.budget.column_texts());
        Ok(Box::new(Column { file: self.file.clone(), chunks, budget, texts }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().get(self.groups.clone()).into_iter().flatten())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

struct Column {
    file: Arc<dyn Ranges>,
    chunks: Chunks,
    budget: Budget,
    texts: ColumnTexts,
}

impl Iterator for Column {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (chunk, rows) = self.chunks.pop_front()?;
        let pages = CheckedPages::open(&self.file, &chunk, rows, &self.budget, ColumnMemory::default());
        Some(pages.map(|pages| Box::new(pages.with_texts(&self.texts)) as Box<dyn PageReader>))
    }
}

impl PageIterator for Column {}
