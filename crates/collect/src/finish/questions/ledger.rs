//! The off-policy ledger from its sums.

use std::collections::BTreeMap;

use super::steps::Steps;
use crate::collect::questions::difference_tally::DifferenceTally;
use crate::collect::questions::step_facts::StepFacts;
use stapo_result::offpolicy::{
    Difference, DifferenceQuantiles, Differences, LagDifference, OffPolicy, StepDifferences, StepLag,
};

/// The ledger; `None` where no two policies are logged.
pub fn ledger(steps: &Steps) -> Option<OffPolicy> {
    let mut run = StepFacts::default();
    steps.values().for_each(|facts| merge_differences(&mut run, facts));
    let (lags, lag_is_version) = by_lag(steps);
    let ledger = OffPolicy {
        quantile_error: run.differences().map(|d| d.kept.error()).fold(0.0, f64::max),
        run: differences(&run),
        steps: steps
            .iter()
            .map(|(step, facts)| StepDifferences { step: *step, differences: differences(facts) })
            .collect(),
        lags: lags
            .iter()
            .filter_map(|(lag, tally)| Some(LagDifference { lag: *lag, difference: difference(tally)? }))
            .collect(),
        step_lags: step_lags(steps, lag_is_version),
        lag_is_version,
        corrections: Vec::new(),
        breakdown: None,
        spurious: None,
    };
    let any = ledger.run.engine.is_some() || ledger.run.update.is_some();
    any.then_some(ledger)
}

/// Only what the ledger shows: the rest of a step's facts is not added up.
fn merge_differences(run: &mut StepFacts, facts: &StepFacts) {
    run.engine_rest.merge(&facts.whole_engine());
    run.update.merge(&facts.update);
    run.total.merge(&facts.total);
}

fn differences(facts: &StepFacts) -> Differences {
    Differences {
        engine: difference(&facts.whole_engine()),
        update: difference(&facts.update),
        total: difference(&facts.total),
    }
}

/// Lags, or versions where some version is above its step and so is no step.
fn by_lag(steps: &Steps) -> (BTreeMap<i64, DifferenceTally>, bool) {
    let versions =
        || steps.iter().flat_map(|(step, facts)| facts.engine.iter().map(move |(v, t)| (*step, *v, t)));
    let is_version = versions().any(|(step, version, _)| version.is_some_and(|version| version > step));
    let mut lags: BTreeMap<i64, DifferenceTally> = BTreeMap::new();
    for (step, version, tally) in versions() {
        if let Some(version) = version {
            lags.entry(lag(step, version, is_version)).or_default().merge(tally);
        }
    }
    (lags, is_version)
}

fn lag(step: i64, version: i64, is_version: bool) -> i64 {
    if is_version { version } else { step.saturating_sub(version) }
}

fn step_lags(steps: &Steps, is_version: bool) -> Vec<StepLag> {
    let mut rows = Vec::new();
    for (step, facts) in steps {
        let known = facts.engine.iter().filter_map(|(version, tally)| version.zip(difference(tally)));
        rows.extend(known.map(|(version, d)| StepLag {
            step: *step,
            lag: lag(*step, version, is_version),
            tokens: d.tokens,
            mean: d.mean,
            mean_abs: d.mean_abs,
            k3: d.k3,
            ess: d.ess,
        }));
    }
    rows.sort_by_key(|row| (row.step, row.lag));
    rows
}

/// A difference from its sums; `None` without tokens.
pub fn difference(tally: &DifferenceTally) -> Option<Difference> {
    let (n, responses) = (tally.tokens as f64, tally.responses as f64);
    let quantiles: [f64; 9] = tally.kept.quantiles(&DifferenceQuantiles::ORDERS)?.try_into().ok()?;
    let [narrow, middle, wide] = tally.outside.map(|tokens| tokens as f64 / n);
    let finite = |value: f64| value.is_finite().then_some(value);
    let chi2 = tally.ratio_squared.value() / n - 1.0;
    let verl_chi2 = tally.verl_ratio_squared.value() / n - 1.0;
    let chi2_sequence = tally.sequence_squared.value() / responses - 1.0;
    let verl_chi2_sequence = tally.verl_sequence_squared.value() / responses - 1.0;
    // Both sums have the same bits where no value was clamped.
    let differs = |ours: f64, theirs: f64| (ours != theirs).then_some(theirs);
    Some(Difference {
        tokens: tally.tokens,
        responses: tally.responses,
        mean: tally.sum.value() / n,
        mean_abs: tally.absolute.value() / n,
        k2: tally.square.value() / (2.0 * n),
        k3: tally.k3.value() / n,
        k3_bounded: tally.bounded_k3.value() / n,
        chi2: finite(chi2),
        ess: (2.0 * tally.ratio.ln() - tally.ratio_squared.ln() - n.ln()).exp(),
        outside_0_9_1_1: narrow,
        outside_0_5_2: middle,
        outside_0_2_5: wide,
        beyond_e20: tally.beyond as f64 / n,
        quantiles: DifferenceQuantiles::from_values(quantiles),
        ess_sequence: (2.0 * tally.sequence.ln() - tally.sequence_squared.ln() - responses.ln()).exp(),
        chi2_sequence: finite(chi2_sequence),
        max_abs: tally.max_abs,
        mean_sequence_sum: tally.sum.value() / responses,
        geometric_mean: tally.geometric.value() / responses,
        verl_chi2: differs(chi2, verl_chi2),
        verl_chi2_sequence: differs(chi2_sequence, verl_chi2_sequence),
    })
}
