//! The sampler's weights are old.
//!
//! Statistic: k3 of the engine gap of old weights against that of the youngest, and how often a group of
//! old weights has the larger gap of two (Mann and Whitney): a few tokens far out, which any lag may
//! have, make a mean of any size, but move no ranks.
//! Threshold: possible at three times, and above 0.001; likely where age alone adds 0.01, beyond which weights
//! are asked for; in both cases ranks three standard errors above chance. A factor alone is no threshold: an
//! engine that leaves little at lag 0 makes it any size, while ratios stay far inside of the clip.
//! Whatever is logged of their age: a gap that grows from nothing with every step (`growth`), to 0.01.

use std::collections::BTreeMap;

use super::shared::gap::phase::FEWEST;
use super::shared::gap::{COPIED, Gap, LARGE, NOTICEABLE};
use super::shared::lasting::{Counts, Side};
use crate::evidence::{at, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::measured;
use stapo_base::format::counted;
use stapo_base::format::grouped;
use stapo_batch::columns::Column;
use stapo_result::{CauseCode, Confidence};

const POSSIBLE: f64 = 3.0;
const ERRORS: f64 = 3.0;
const HINT: &str = "sample with fresher weights (fewer steps off-policy), or correct with importance weights; \
                    drop what is older than the lag you can afford";
const STUCK_HINT: &str = "see whether the sampler still gets new weights, and whether policy_version is read from the sampler: \
                          the trainer's own step number says nothing of its age";
const NEEDS_VERSION: &str = "policy_version (the step of the sampler's weights)";
const NEEDS: &str = "logprob_rollout and policy_version (the step of the sampler's weights)";

/// The gap at one age.
#[derive(Default)]
struct AtAge {
    tokens: f64,
    k3: f64,
    /// Mean k3 by group.
    groups: Vec<f64>,
}

/// The steps to which groups with weights older than the youngest are confined, where that is not chance.
fn side_of_old(patient: &Patient<'_>, youngest: i64) -> Option<Side> {
    let mut old = Counts::default();
    for group in patient.groups() {
        old.add(group[0].step, group.iter().any(|fact| fact.lag.is_some_and(|lag| lag > youngest)));
    }
    let share = old.share(0.0)?;
    (share.hits == share.of_run[0]).then_some(share.side)
}

/// The gaps by age, as far as there are enough tokens, and the first step with old weights.
fn by_age(patient: &Patient<'_>) -> (BTreeMap<i64, AtAge>, Option<i64>) {
    let mut ages: BTreeMap<i64, AtAge> = BTreeMap::new();
    let mut first: Option<i64> = None;
    for group in patient.groups() {
        let mut own: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for fact in group {
            let (Some(age), Some(gap)) = (fact.lag, &fact.gap) else { continue };
            let sums = own.entry(age).or_default();
            sums[0] += gap.tokens;
            sums[1] += gap.k3;
            if age > 0 {
                first = Some(first.map_or(fact.step, |step| step.min(fact.step)));
            }
        }
        for (age, [tokens, k3]) in own.into_iter().filter(|(_, [tokens, _])| *tokens > 0.0) {
            let sums = ages.entry(age).or_default();
            sums.tokens += tokens;
            sums.k3 += k3;
            sums.groups.push(k3 / tokens);
        }
    }
    ages.retain(|_, sums| sums.tokens >= FEWEST);
    (ages, first)
}

/// How far above chance the ranks of `old` lie, in standard errors; equal ones count half.
fn ranks_above(young: &[f64], old: &[f64]) -> f64 {
    let mut sorted = young.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins: f64 = old
        .iter()
        .map(|k3| {
            let below = sorted.partition_point(|v| v < k3);
            let ties = sorted.partition_point(|v| v <= k3) - below;
            below as f64 + 0.5 * ties as f64
        })
        .sum();
    let (n, m) = (young.len() as f64, old.len() as f64);
    (wins - 0.5 * n * m) / (n * m * (n + m + 1.0) / 12.0).sqrt()
}

/// A factor: 3.4, 34, 3,362.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn factor(of: f64) -> String {
    if (10.0..1e15).contains(&of) { grouped(of.round() as u64) } else { measured(of, 1) }
}

/// A gap that grows from nothing although no age is logged, or none that explains it.
fn stuck(patient: &Patient<'_>, gap: &Gap) -> Option<Finding> {
    let growth = gap.growth().filter(|_| gap.k3_of_many() >= NOTICEABLE)?;
    let [first, last] = growth.squares.map(f64::sqrt);
    // Without entropies a temperature that is turned up step by step cannot be ruled out.
    let likely = gap.k3_of_many() > LARGE && !patient.plan.stand_in.entropy;
    Some(found(
        CauseCode::StaleSampler,
        if likely { Confidence::Likely } else { Confidence::Possible },
        Some(growth.from_step),
        format!(
            "trainer and sampler agree up to step {}; from there on their gap grows step by step, from {} to {} \
             nats (the median response's): the sampler's weights seem to be those of step {}",
            growth.last_without,
            measured(first, 3),
            measured(last, 3),
            growth.last_without
        ),
        STUCK_HINT,
        vec![
            at(growth.from_step, "root of the mean square of ln μ − ln π_old, median response", first),
            number("the same over the last quarter of the steps with a gap", last),
            number("the last step without a gap", growth.last_without as f64),
            number("engine k3", gap.k3()),
        ],
    ))
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    if let Some(stuck) = gap.and_then(|gap| stuck(patient, gap)) {
        return stuck;
    }
    match [Column::LogprobRollout, Column::PolicyVersion].map(|column| patient.has(column)) {
        [true, true] => {}
        [true, false] => return Finding::NotChecked(NEEDS_VERSION),
        [false, _] => return Finding::NotChecked(NEEDS),
    }
    if gap.is_some_and(Gap::is_copied) {
        return Finding::NotChecked(COPIED);
    }
    let (ages, first) = by_age(patient);
    let Some((least, youngest)) = ages.first_key_value() else {
        let logged =
            patient.signs.facts.responses.iter().any(|fact| fact.lag.is_some() && fact.gap.is_some());
        let more = "more tokens: 500 of one age of the sampler's weights";
        return if logged { Finding::TooFew(more) } else { Finding::NotChecked(NEEDS) };
    };
    let steps = patient.signs.facts.ages_are_steps;
    let age = |age: i64| if steps { format!("lag {age}") } else { format!("{age} versions behind") };
    let base = youngest.k3 / youngest.tokens;
    let evidence: Vec<_> = ages
        .iter()
        .map(|(lag, sums)| number(&format!("engine k3 at {}", age(*lag)), sums.k3 / sums.tokens))
        .collect();
    let old = || ages.iter().skip(1);
    let Some((worst, sums)) = old().max_by(|a, b| (a.1.k3 / a.1.tokens).total_cmp(&(b.1.k3 / b.1.tokens)))
    else {
        // One age only: there is nothing to hold it against but what rounding leaves.
        if *least == 0 || base < LARGE || !steps {
            return Finding::Absent;
        }
        return found(
            CauseCode::StaleSampler,
            Confidence::Possible,
            first,
            format!(
                "all responses are {} old, and trainer and sampler disagree: engine k3 {}",
                counted(least.unsigned_abs(), "step", "steps"),
                measured(base, 4)
            ),
            HINT,
            evidence,
        );
    };
    let far = sums.k3 / sums.tokens;
    let groups: Vec<f64> = old().flat_map(|(_, sums)| sums.groups.iter().copied()).collect();
    if far < NOTICEABLE || far < POSSIBLE * base || ranks_above(&youngest.groups, &groups) < ERRORS {
        return Finding::Absent;
    }
    let times = if base > 0.0 { format!(" ({} times)", factor(far / base)) } else { String::new() };
    let k3_at = |age_of: i64, k3: f64| format!("{} at {}", measured(k3, 4), age(age_of));
    // A gap that is largest at another age than the oldest does not grow with every step of age.
    let (verb, oldest) = match old().next_back() {
        Some((oldest, sums)) if oldest != worst => (
            "is larger with old weights of the sampler",
            format!("{}, ", k3_at(*oldest, sums.k3 / sums.tokens)),
        ),
        _ => ("grows with the age of the sampler's weights", String::new()),
    };
    let most = if oldest.is_empty() { "" } else { "at most " };
    let side = side_of_old(patient, *least).unwrap_or(Side::Whole);
    let mended = side.end().map(|_| format!("; weights are old{} alone", side.told())).unwrap_or_default();
    found(
        CauseCode::StaleSampler,
        if far - base > LARGE { Confidence::Likely } else { Confidence::Possible },
        first,
        format!(
            "the gap between trainer and sampler {verb}: engine k3 {} at {}, {oldest}{most}{}{times}{mended}",
            if base > 0.0 { format!("{base:.1e}") } else { "0".into() },
            age(*least),
            k3_at(*worst, far)
        ),
        HINT,
        evidence,
    )
    .before(side.end())
}

#[cfg(test)]
mod tests {
    use super::{factor, ranks_above};

    #[test]
    fn factors_can_be_read() {
        assert_eq!([3.42, 34.2, 3362.4].map(factor), ["3.4", "34", "3,362"]);
    }

    #[test]
    fn a_few_groups_far_out_are_no_trend() {
        let like = |from: u32| (from..from + 60).map(|i| f64::from(i * 37 % 60)).collect::<Vec<f64>>();
        let mut far_out = like(3);
        far_out[5] = 1e9;
        assert!(ranks_above(&like(0), &far_out).abs() < 1.0);
        let older: Vec<f64> = like(0).iter().map(|k3| 3.0 * k3 + 1.0).collect();
        assert!(ranks_above(&like(0), &older) > 3.0);
        assert_eq!(ranks_above(&[0.0; 20], &[0.0; 20]), 0.0);
    }
}
