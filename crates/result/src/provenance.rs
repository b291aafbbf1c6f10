//! Where the numbers come from and how far they can be trusted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::totals::NormSource;

/// Where the numbers come from.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Provenance {
    /// Version of this program.
    pub program: String,
    /// The files, by path.
    pub files: Vec<FileReport>,
    /// Files that were found but not read, and why.
    pub skipped: Vec<String>,
    /// The framework that wrote the log, as recognised.
    pub framework: String,
    /// `nested`, `long`, or both.
    pub layout: String,
    /// Which raw column each canonical one comes from.
    pub mapping: Vec<MappedColumn>,
    /// Key-value metadata that all files agree on.
    pub metadata: BTreeMap<String, String>,
    /// V.
    pub vocab_size: u32,
    /// Where V comes from.
    pub vocab_source: VocabularySource,
    /// Where gradient norms come from; absent where entropy is not logged.
    pub gradient_source: Option<NormSource>,
    /// The clipping range in use; `None` where nothing is clipped.
    pub clip: Option<[f64; 2]>,
    /// T that the gradient is divided by.
    pub temperature: f64,
    /// Where token texts come from: a column, a tokenizer file, or nowhere.
    pub token_text: Option<String>,
    /// Responses with the step, group and sample of another one and other values, about; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_ids: Option<u64>,
    /// Responses of evaluation, by `split`, which are left out; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_responses: Option<u64>,
    /// What is approximate, and by how much at most.
    pub statements: Vec<String>,
}

/// Where V comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VocabularySource {
    /// The user.
    Option,
    /// The log's metadata.
    Metadata,
    /// The tokenizer file.
    Tokenizer,
    /// Guessed: a common vocabulary that contains the largest id seen.
    #[default]
    Guessed,
}

/// One input file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FileReport {
    /// Path as found.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
}

/// A canonical column and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MappedColumn {
    /// Canonical name.
    pub column: String,
    /// Raw columns.
    pub from: String,
}

/// Missing and bad values of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ColumnReport {
    /// Canonical name.
    pub column: String,
    /// Values looked at.
    pub values: u64,
    /// Null.
    pub null: u64,
    /// NaN or infinite.
    pub not_finite: u64,
    /// Out of the column's range.
    pub out_of_range: u64,
    /// Placeholders.
    pub sentinel: u64,
    /// Share of missing and bad values.
    pub missing_share: f64,
}
