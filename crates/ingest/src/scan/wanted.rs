//! What a consumer of a scan wants of it.

use stapo_batch::columns::Column;

/// What a consumer of a scan wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The columns that it looks at; others need not be decoded.
    pub columns: &'a [Column],
    /// Columns beyond the canonical ones, by the log's names; see [`OtherColumns`](stapo_batch::OtherColumns).
    pub others: &'a [String],
    /// Whether prompts are only wanted on the first response of several in a row that are of one
    /// step and group: the others need not be decoded, and may have none.
    pub prompts_by_group: bool,
}

impl<'a> From<&'a [Column]> for Wanted<'a> {
    fn from(columns: &'a [Column]) -> Self {
        Self { columns, others: &[], prompts_by_group: false }
    }
}

impl<'a, const N: usize> From<&'a [Column; N]> for Wanted<'a> {
    fn from(columns: &'a [Column; N]) -> Self {
        Self { columns, others: &[], prompts_by_group: false }
    }
}
