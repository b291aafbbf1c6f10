//! The pages of some chunks of a column, one after another.

use std::sync::Arc;

use parquet::column::page::{Page, PageReader};
use parquet::errors::Result;

use super::hybrid::bad;
use crate::parquet::budget::Budget;
use crate::parquet::checked_pages::CheckedPages;
use crate::parquet::row_groups::{CheckedRowGroups, Chunks};
use crate::storage::ranges::Ranges;

/// The pages of some chunks.
pub struct ChunkPages {
    file: Arc<dyn Ranges>,
    chunks: Chunks,
    budget: Budget,
    open: Option<CheckedPages>,
}

/// What comes next of a column.
pub enum Next {
    /// Another chunk: the dictionary of the last one is not its own.
    Chunk,
    /// A page of the chunk at hand.
    Page(Page),
}

impl ChunkPages {
    /// Those of `chunks`, which are of `groups`.
    pub fn new(groups: &CheckedRowGroups, chunks: Chunks) -> Self {
        Self { file: groups.file.clone(), chunks, budget: groups.budget.clone(), open: None }
    }

    /// The next chunk or page, which is to take the place of the last one: its memory is used again where nobody
    /// looks at it. An error behind the last.
    pub fn next(&mut self) -> Result<Next> {
        if let Some(page) = self.open.as_mut().map(CheckedPages::get_next_page).transpose()?.flatten() {
            return Ok(Next::Page(page));
        }
        let memory = self.open.take().map(|mut pages| pages.leave_memory()).unwrap_or_default();
        let next = self.chunks.pop_front();
        let (chunk, rows) = next.ok_or_else(|| bad("fewer rows than the other columns"))?;
        self.open = Some(CheckedPages::open(&self.file, &chunk, rows, &self.budget, memory)?);
        Ok(Next::Chunk)
    }
}
