//! No response is pushed down.
//!
//! Statistic and threshold: `shared::one_sided`.

use super::shared::one_sided::OneSided;
use crate::finding::Finding;
use crate::patient::Patient;
use stapo_result::CauseCode;

/// Looks for advantages that are never negative.
pub fn examine(patient: &Patient<'_>) -> Finding {
    OneSided::of(patient, 1).map_or(Finding::Absent, |found| {
        found.told(
            CauseCode::NoNegativeSignal,
            ["down", "A < 0"],
            "if it is not on purpose (rejection sampling), keep the negative advantages: without them entropy \
             falls and wrong answers are never unlearned",
        )
    })
}
