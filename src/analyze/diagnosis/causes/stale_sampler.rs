//! The sampler's weights are old.
//!
//! Statistic: k3 of the engine gap by lag against that at lag 0 (the smallest lag, where none is 0).
//! Threshold: likely at ten times, and above 0.001; possible at three times. The factor is what
//! threads of trainers call stale; at lag 0 only rounding is left, so no constant level is needed. Where
//! more than rounding is left there, age alone must add 0.01, beyond which weights are asked for.

use std::collections::BTreeMap;

use super::super::patient::{Finding, Patient, found, number};
use super::gap::{FEWEST, LARGE, NOTICEABLE};
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const LIKELY: f64 = 10.0;
const POSSIBLE: f64 = 3.0;
const HINT: &str = "sample with fresher weights (fewer steps off-policy), or correct with importance weights; \
                    drop what is older than the lag you can afford";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::LogprobRollout) || !patient.has(Column::PolicyVersion) {
        return Finding::NotChecked("logprob_rollout and policy_version (the step of the sampler's weights)");
    }
    let mut lags: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    let mut first: Option<i64> = None;
    for fact in &patient.signs.facts.responses {
        let (Some(lag), Some(gap)) = (fact.lag, &fact.gap) else { continue };
        let sums = lags.entry(lag).or_default();
        sums.0 += gap.tokens;
        sums.1 += gap.k3;
        if lag > 0 {
            first = Some(first.map_or(fact.step, |step| step.min(fact.step)));
        }
    }
    lags.retain(|_, (tokens, _)| *tokens >= FEWEST);
    let k3: Vec<(i64, f64)> = lags.iter().map(|(lag, (tokens, k3))| (*lag, k3 / tokens)).collect();
    let Some((least, base)) = k3.first().copied() else {
        return Finding::NotChecked("policy_version as a step number");
    };
    let old: Vec<(i64, f64)> = k3[1..].to_vec();
    let evidence: Vec<_> =
        k3.iter().map(|(lag, k3)| number(&format!("engine k3 at lag {lag}"), *k3)).collect();
    let Some(worst) = old.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        // One lag only: there is nothing to hold it against but what rounding leaves.
        if least == 0 || base < LARGE {
            return Finding::Absent;
        }
        return found(
            CauseCode::StaleSampler,
            Confidence::Possible,
            first,
            format!(
                "all responses are {least} steps old, and trainer and sampler disagree: engine k3 {base:.4}"
            ),
            HINT,
            evidence,
        );
    };
    let times = worst.1 / base.max(f64::MIN_POSITIVE);
    if worst.1 < NOTICEABLE || times < POSSIBLE {
        return Finding::Absent;
    }
    found(
        CauseCode::StaleSampler,
        if times >= LIKELY || worst.1 - base > LARGE { Confidence::Likely } else { Confidence::Possible },
        first,
        format!(
            "the gap between trainer and sampler grows with the age of the sampler's weights: engine k3 \
             {base:.1e} at lag {least}, {:.4} at lag {} ({times:.0} times)",
            worst.1, worst.0
        ),
        HINT,
        evidence,
    )
}
