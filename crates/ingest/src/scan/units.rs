//! Scan units: stretches of a file that one worker decodes.

use std::ops::Range;

use crate::files::opened::Source;
use crate::files::run::Run;
use crate::parquet::reader::RowGroup;
use crate::schema::mapping::Layout;
use stapo_batch::batch::BATCH_TOKENS;
use stapo_batch::limits::Limits;

/// Fewer tokens than this are not worth a unit of their own.
const UNIT_TOKENS: u64 = 128 * 1024;
/// Bytes of a token in JSON, about: only shares of work depend on it.
const JSON_BYTES: u64 = 24;
/// More rows than this in a batch gain nothing.
const MAX_BATCH_ROWS: u64 = 8192;

/// A stretch of a file.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Index of the file in the run.
    pub file: usize,
    /// Row groups of a Parquet file; empty for JSON lines, which are read as a whole.
    pub row_groups: Range<usize>,
    /// First row in the file.
    pub first_row: u64,
    /// Rows; 0 for JSON lines.
    pub rows: u64,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// Compressed bytes, for the progress.
    pub bytes: u64,
    /// Tokens, about.
    pub tokens: u64,
    /// Whether its responses are so long that only one worker at a time may hold one.
    pub large: bool,
}

/// Cuts a file into units.
pub fn units_of(run: &Run, index: usize) -> Vec<Unit> {
    let file = &run.files[index];
    let mapping = run.mapping_of(file);
    let least = match run.settings.unit_tokens {
        0 => UNIT_TOKENS,
        tokens => tokens,
    };
    let head = match &file.source {
        Source::Parquet(head) => head,
        Source::Json => {
            let (bytes, tokens) = (file.bytes, file.bytes / JSON_BYTES);
            let (row_groups, first_row, rows, batch_rows) = (0..0, 0, 0, 0);
            return vec![Unit {
                file: index,
                row_groups,
                first_row,
                rows,
                batch_rows,
                bytes,
                tokens,
                large: false,
            }];
        }
        Source::Elsewhere { .. } => return Vec::new(),
    };
    let mut units: Vec<Unit> = Vec::new();
    let (mut row, mut content) = (0, Content::default());
    for (at, group) in head.row_groups().enumerate() {
        let open = units.last_mut().filter(|_| content.tokens > 0 && content.tokens < least);
        match open {
            Some(unit) => {
                content.add(&group);
                unit.row_groups.end = at + 1;
                unit.rows += group.rows;
                unit.bytes += group.bytes;
                unit.batch_rows = content.batch_rows(mapping.layout);
                unit.tokens = content.tokens;
                unit.large = content.is_large(mapping.layout);
            }
            None => {
                content = Content::default();
                content.add(&group);
                units.push(Unit {
                    file: index,
                    row_groups: at..at + 1,
                    first_row: row,
                    rows: group.rows,
                    batch_rows: content.batch_rows(mapping.layout),
                    bytes: group.bytes,
                    tokens: content.tokens,
                    large: content.is_large(mapping.layout),
                });
            }
        }
        row += group.rows;
    }
    units
}

/// What some row groups hold.
#[derive(Default)]
struct Content {
    tokens: u64,
    rows: u64,
    unpacked: u64,
}

impl Content {
    fn add(&mut self, group: &RowGroup) {
        self.tokens += group.tokens;
        self.rows += group.rows;
        self.unpacked = self.unpacked.saturating_add(group.unpacked);
    }

    /// Rows that hold about [`BATCH_TOKENS`] tokens, and no more than a worker's share of memory: an
    /// answer of one word may have a prompt of many pages.
    fn batch_rows(&self, layout: Layout) -> usize {
        let mean = |all: u64| (all / self.rows.max(1)).max(1);
        let rows = match layout {
            Layout::Long => BATCH_TOKENS as u64,
            Layout::Nested => (BATCH_TOKENS as u64 / mean(self.tokens)).min(MAX_BATCH_ROWS),
        };
        rows.min(Limits::SHARE / mean(self.unpacked)).max(1) as usize
    }

    /// Whether responses have more tokens than a worker's share of memory holds, on the whole.
    fn is_large(&self, layout: Layout) -> bool {
        layout == Layout::Nested && self.tokens / self.rows.max(1) > Limits::SHARED_TOKENS
    }
}
