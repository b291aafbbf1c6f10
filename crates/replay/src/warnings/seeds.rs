//! Whether seeds can tell differences from chance.

use super::subject::{Subject, warning};
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// One or two seeds.
pub fn few(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    if subject.settings.seeds >= 3 || subject.settings.objectives.len() < 2 {
        return Vec::new();
    }
    vec![warning(
        ReplayWarningCode::FewSeeds,
        "with fewer than three seeds, differences between arms cannot be told from the order of mini-batches"
            .into(),
        "give --seeds 5",
    )]
}
