//! Trainer and sampler compute different probabilities with the same weights.
//!
//! Statistic: k3 of the engine gap at the smallest lag that neither a temperature nor truncation
//! explains; only possible where that lag is not 0.
//! Threshold: 0.001 is possible (a bfloat16 sampler leaves a tenth of it), 0.01 likely: there
//! importance weights are asked for.

use super::super::patient::{Finding, Patient, found, number};
use super::gap::{Gap, LARGE, NOTICEABLE};
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let Some(gap) = Gap::fresh(patient) else {
        return Finding::NotChecked("logprob_rollout (the sampler's own log-probabilities)");
    };
    if gap.k3() < NOTICEABLE || gap.is_temperature() || gap.is_truncation() {
        return Finding::Absent;
    }
    let lags = patient.has(Column::PolicyVersion);
    let likely = gap.k3() > LARGE && lags && gap.lag == 0;
    let unknown = match gap.lag {
        _ if !lags => "; how old the sampler's weights are is not logged (policy_version)".to_owned(),
        0 => String::new(),
        lag => format!("; the youngest weights that are logged are {lag} steps old, which may explain it"),
    };
    found(
        CauseCode::PrecisionGap,
        if likely { Confidence::Likely } else { Confidence::Possible },
        gap.from_step,
        format!(
            "trainer and sampler disagree with {}: engine k3 {:.4}, which no temperature and \
             no truncation explains{unknown}",
            if gap.lag == 0 { "the same weights" } else { "the youngest weights" },
            gap.k3()
        ),
        "bring precision and kernels of both together, or correct with importance weights (TIS, MIS)",
        vec![
            number("engine k3 at the smallest lag", gap.k3()),
            number("mean of |ln μ − ln π_old|", gap.all.absolute / gap.all.tokens),
        ],
    )
}
