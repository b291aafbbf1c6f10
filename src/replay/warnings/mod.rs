//! What the user should know of a replay, and do. One file a subject.

mod arms;
mod data;
mod objectives;
mod policy;
mod rate;
mod seeds;

use super::result::{ReplayResult, Warning, WarningCode};
use super::settings::ReplaySettings;
use crate::ingest::Run;

/// What warnings are made from.
struct Subject<'a> {
    result: &'a ReplayResult,
    run: &'a Run,
    settings: &'a ReplaySettings,
    /// Held-out responses that count as correct, and as wrong.
    labels: (usize, usize),
}

/// All warnings of a replay.
pub fn warnings(
    result: &ReplayResult,
    run: &Run,
    settings: &ReplaySettings,
    labels: (usize, usize),
) -> Vec<Warning> {
    let subject = Subject { result, run, settings, labels };
    let groups: [fn(&Subject<'_>) -> Vec<Warning>; 11] = [
        policy::lost,
        arms::out_of_time,
        policy::surrogate,
        arms::stopped,
        policy::another,
        policy::drift,
        seeds::few,
        rate::other_than_logged,
        arms::nothing_silenced,
        data::warnings,
        objectives::warnings,
    ];
    groups.iter().flat_map(|group| group(&subject)).collect()
}

fn warning(code: WarningCode, message: String, hint: impl Into<String>) -> Warning {
    Warning { code, message, hint: hint.into() }
}
