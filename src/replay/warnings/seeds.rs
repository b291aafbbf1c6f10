//! Whether seeds can tell differences from chance.

use super::{Subject, warning};
use crate::replay::result::{Warning, WarningCode};

/// One or two seeds.
pub fn few(subject: &Subject<'_>) -> Vec<Warning> {
    if subject.settings.seeds >= 3 || subject.settings.objectives.len() < 2 {
        return Vec::new();
    }
    vec![warning(
        WarningCode::FewSeeds,
        "with fewer than three seeds, differences between arms cannot be told from the order of mini-batches"
            .into(),
        "give --seeds 5",
    )]
}
