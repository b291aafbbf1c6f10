//! No response is pushed up.
//!
//! Statistic and threshold: `shared::one_sided`.

use super::shared::one_sided::OneSided;
use crate::finding::Finding;
use crate::patient::Patient;
use stapo_result::CauseCode;

/// Looks for advantages that are never positive.
pub fn examine(patient: &Patient<'_>) -> Finding {
    OneSided::of(patient, 0).map_or(Finding::Absent, |found| {
        found.told(
            CauseCode::NoPositiveSignal,
            ["up", "A > 0"],
            "look at the baseline that is taken off the rewards: pushing down alone drives the policy to noise",
        )
    })
}
