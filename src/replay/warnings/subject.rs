//! What warnings are about.

use crate::ingest::Run;
use crate::replay::result::{ReplayResult, ReplayWarning, ReplayWarningCode};
use crate::replay::settings::ReplaySettings;

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
