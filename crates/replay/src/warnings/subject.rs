//! What warnings are about.

use crate::settings::ReplaySettings;
use stapo_ingest::Run;
use stapo_result::replay::{ReplayResult, ReplayWarning, ReplayWarningCode};

/// What warnings are made from.
pub struct Subject<'a> {
    /// What the replay found.
    pub result: &'a ReplayResult,
    /// The log.
    pub run: &'a Run,
    /// What was asked for.
    pub settings: &'a ReplaySettings,
    /// Held-out responses that count as correct, and as wrong.
    pub labels: (usize, usize),
}

/// A warning.
pub fn warning(code: ReplayWarningCode, message: String, hint: impl Into<String>) -> ReplayWarning {
    ReplayWarning { code, message, hint: hint.into() }
}
