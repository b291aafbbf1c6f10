//! The token stream's unit: a batch of whole responses in canonical columns.

use std::sync::Arc;

use arrow_array::{Array, StringArray};
use arrow_buffer::ScalarBuffer;

use crate::columns::{Column, PerColumn};
use crate::others::OtherColumns;

/// Tokens of a batch, about: small enough for a cache, large enough to forget the overhead.
pub const BATCH_TOKENS: usize = 32 * 1024;

/// A token id that was not logged.
pub const MISSING_ID: i32 = i32::MIN;
/// A flag that was not logged.
pub const MISSING_FLAG: u8 = u8::MAX;

/// An identifier: compared, never calculated with.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Id {
    /// Not logged.
    #[default]
    Missing,
    /// A number.
    Int(i64),
    /// A text.
    Text(#[serde(with = "stapo_base::encode::text")] Arc<str>),
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Missing => Ok(()),
            Id::Int(i) => write!(f, "{i}"),
            Id::Text(t) => f.write_str(t),
        }
    }
}

/// Where a batch comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// Index of the file in the run.
    pub file: u32,
    /// Index of the scan unit in the run.
    pub unit: u32,
    /// Ordinal of the batch's first response in its unit.
    pub first_response: u64,
}

/// The first response of rows that may be the rest of one that began before: its own values are
/// counted when that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OpenStart {
    /// Row of the file.
    pub row: u64,
    /// Numbers that are in the log and are none.
    pub not_finite: Vec<Column>,
}

/// Response-level columns; every vector has one entry a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseColumns {
    /// Trainer step.
    pub step: Vec<i64>,
    /// Group and sample ids.
    pub ids: PerColumn<Vec<Id>>,
    /// Whole numbers.
    pub ints: PerColumn<Vec<Option<i64>>>,
    /// Numbers; missing is NaN.
    pub floats: PerColumn<Vec<f32>>,
    /// Texts.
    pub texts: PerColumn<Vec<Option<Arc<str>>>>,
    /// Flags.
    pub flags: PerColumn<Vec<Option<bool>>>,
    /// Prompt token ids.
    pub prompt_ids: Option<Vec<Option<ScalarBuffer<i32>>>>,
    /// Components of the reward, `reward/<name>`.
    pub reward_parts: Vec<(Arc<str>, Vec<f32>)>,
    /// Columns that are none of the canonical ones, where they were asked for.
    pub others: OtherColumns,
    /// What is known of the first response, where it may have begun before.
    pub open_start: Option<OpenStart>,
}

/// Token-level columns; every buffer has one entry a token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenColumns {
    /// Numbers; missing is NaN.
    pub floats: PerColumn<ScalarBuffer<f32>>,
    /// Numbers whose use cancels; missing is NaN.
    pub doubles: PerColumn<ScalarBuffer<f64>>,
    /// Token ids, turns, positions; missing is [`MISSING_ID`].
    pub ints: PerColumn<ScalarBuffer<i32>>,
    /// 0, 1 or [`MISSING_FLAG`].
    pub flags: PerColumn<ScalarBuffer<u8>>,
    /// Token texts.
    pub texts: Option<StringArray>,
}

/// Whole responses, their tokens one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBatch {
    /// Where it comes from.
    pub origin: Origin,
    /// Response `i` has the tokens `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Response-level columns.
    pub responses: ResponseColumns,
    /// Token-level columns.
    pub tokens: TokenColumns,
}

impl TokenBatch {
    /// Number of responses.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no response.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of tokens.
    pub fn token_count(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The tokens of response `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// A token-level number column.
    pub fn floats(&self, column: Column) -> Option<&[f32]> {
        self.tokens.floats.get(column).map(|b| &b[..])
    }

    /// A token-level double column.
    pub fn doubles(&self, column: Column) -> Option<&[f64]> {
        self.tokens.doubles.get(column).map(|b| &b[..])
    }

    /// Ids of all tokens; [`MISSING_ID`] where one was not logged. `None` where the log has none.
    pub fn token_ids(&self) -> Option<&[i32]> {
        self.tokens.ints.get(Column::TokenId).map(|b| &b[..])
    }

    /// The training mask: 1 where the token is trained on. `None` means all are.
    pub fn mask(&self) -> Option<&[u8]> {
        self.tokens.flags.get(Column::Mask).map(|b| &b[..])
    }

    /// The text of token `t`, where it was logged.
    pub fn token_text(&self, t: usize) -> Option<&str> {
        let texts = self.tokens.texts.as_ref()?;
        texts.is_valid(t).then(|| texts.value(t))
    }

    /// Advantages of all tokens: the token-level column, else the response's own spread over its
    /// tokens.
    pub fn advantages(&self) -> Option<ScalarBuffer<f32>> {
        if let Some(tokens) = self.tokens.floats.get(Column::Advantage) {
            return Some(tokens.clone());
        }
        let scalars = self.responses.floats.get(Column::AdvantageSeq)?;
        let mut spread = Vec::with_capacity(self.token_count());
        for (i, a) in scalars.iter().enumerate() {
            spread.resize(self.offsets[i + 1], *a);
        }
        Some(spread.into())
    }

    /// The ids of group or sample of all responses, where logged.
    pub fn ids(&self, column: Column) -> Option<&[Id]> {
        self.responses.ids.get(column).map(|v| &v[..])
    }

    /// Position of token `t` of response `i` in its response.
    pub fn position(&self, i: usize, t: usize) -> i32 {
        match self.tokens.ints.get(Column::Position) {
            Some(positions) => positions[t],
            None => i32::try_from(t - self.offsets[i]).unwrap_or(i32::MAX),
        }
    }
}
