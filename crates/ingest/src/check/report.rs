//! What `check` found: the one result that the terminal table and the JSON show.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Layout, RawSource, Reason, Skipped};

/// Everything `check` found.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The frameworks that wrote the log.
    pub frameworks: Vec<String>,
    /// How tokens lie in rows.
    pub layouts: Vec<Layout>,
    /// How list values are brought onto tokens.
    pub alignments: Vec<String>,
    /// Files read.
    pub files: usize,
    /// Their size on disk.
    pub bytes: u64,
    /// What was not read, and why.
    pub skipped: Vec<Skipped>,
    /// Steps in the log.
    pub steps: Steps,
    /// Responses.
    pub responses: u64,
    /// Tokens of all responses.
    pub tokens: u64,
    /// Tokens that are trained on (the mask applied).
    pub trained_tokens: u64,
    /// Groups.
    pub groups: Option<u64>,
    /// Vocabulary size and where it comes from.
    pub vocabulary: Vocabulary,
    /// Columns with their mapping and the share that is missing.
    pub columns: Vec<ColumnReport>,
    /// Columns of the log that are not used.
    pub unused: Vec<String>,
    /// Key-value metadata of the files.
    pub metadata: BTreeMap<String, String>,
    /// Guesses that may be overruled.
    pub notes: Vec<String>,
    /// The health checks.
    pub checks: Vec<Check>,
}

/// The steps of a log.
#[derive(Clone, Debug, Serialize)]
pub struct Steps {
    /// How many there are.
    pub count: usize,
    /// The first.
    pub first: Option<i64>,
    /// The last.
    pub last: Option<i64>,
}

/// The size of the vocabulary.
#[derive(Clone, Debug, Serialize)]
pub struct Vocabulary {
    /// Number of tokens.
    pub size: Option<u32>,
    /// `option`, `metadata` or `guessed`.
    pub from: &'static str,
    /// Largest token id seen.
    pub largest_id: Option<i32>,
}

/// A canonical column of the log.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnReport {
    /// Canonical name; `reward/<name>` for a part of the reward.
    pub canonical: String,
    /// Where it comes from.
    pub sources: Vec<RawSource>,
    /// Why it was taken.
    pub reason: Reason,
    /// Values looked at (of trained tokens, or of responses).
    pub values: Option<u64>,
    /// Share of these that is missing or bad.
    pub missing_share: Option<f64>,
    /// NaN or infinite.
    pub not_finite: u64,
    /// Impossible values.
    pub out_of_range: u64,
    /// Placeholders.
    pub sentinel: u64,
    /// Where the first bad value is.
    pub first_bad: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// As it should be.
    Pass,
    /// Worth a look.
    Warn,
    /// The numbers of an analysis would mislead.
    Fail,
    /// Not checked: the log has not what it needs.
    Skip,
}

impl CheckOutcome {
    /// The word shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// One health check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Stable name.
    pub code: &'static str,
    /// How it ended.
    pub verdict: CheckOutcome,
    /// What was seen, with the numbers.
    pub message: String,
    /// What to do where it did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

impl CheckReport {
    /// Whether any check failed.
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|c| c.verdict == CheckOutcome::Fail)
    }
}
