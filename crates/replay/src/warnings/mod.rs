//! What the user should know of a replay, and do. One file a subject.

mod arms;
mod data;
mod objectives;
mod policy;
mod rate;
mod subject;

use self::subject::Subject;
use super::settings::ReplaySettings;
use stapo_ingest::Run;
use stapo_result::replay::{ReplayResult, ReplayWarning};

/// All warnings of a replay.
pub fn warnings(
    result: &ReplayResult,
    run: &Run,
    settings: &ReplaySettings,
    labels: (usize, usize),
) -> Vec<ReplayWarning> {
    let subject = Subject { result, run, settings, labels };
    let groups: [fn(&Subject<'_>) -> Vec<ReplayWarning>; 10] = [
        policy::lost,
        arms::out_of_time,
        policy::surrogate,
        arms::stopped,
        policy::another,
        policy::drift,
        rate::other_than_logged,
        arms::nothing_silenced,
        data::warnings,
        objectives::warnings,
    ];
    groups.iter().flat_map(|group| group(&subject)).collect()
}
