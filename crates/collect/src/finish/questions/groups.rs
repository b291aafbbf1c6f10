//! Groups by outcome, and pass@k.

use std::collections::BTreeMap;
use std::ops::Add;

use rayon::prelude::*;

use super::pass_at::{self, Sizes};
use crate::collect::groups::{GroupTable, GroupTally, GroupsOfStep, group_hash};
use crate::collect::questions::siblings::Siblings;
use crate::collect::rows::Place;
use crate::collect::signs::rounding::Rounding;
use crate::finish::ratios::{mean, share};
use stapo_base::stats::exact_sum::ExactSum;
use stapo_ingest::right::RightRule;
use stapo_result::groups::{ByAnswer, ByOutcome, Groups, OutcomeLength, PassRateRow, StepGroupOutcomes};

/// Counts of groups; parts add up in any order.
#[derive(Clone, Debug, Default)]
struct Tally {
    groups: ByOutcome<u64>,
    tokens: ByOutcome<u64>,
    energy: ByOutcome<ExactSum>,
    all_tokens: u64,
    all_energy: ExactSum,
    right: u64,
    judged: u64,
    /// Groups by their responses and how many of them are right.
    sizes: Sizes,
}

impl Tally {
    fn add(&mut self, group: &GroupTally, (right, judged): (u32, u32), learns: bool) {
        self.all_tokens += group.tokens;
        self.all_energy.merge(&group.energy);
        self.right += u64::from(right);
        self.judged += u64::from(judged);
        *self.sizes.entry((judged, right)).or_default() += 1;
        let none = right == 0;
        let is = ByOutcome {
            all_right: right == judged,
            all_wrong: none,
            mixed: right > 0 && right < judged,
            phantom: none && learns,
            dead: !learns,
        };
        self.groups = self.groups.zip(&is.map(u64::from), u64::add);
        let tokens = is.map(|is| if is { group.tokens } else { 0 });
        self.tokens = self.tokens.zip(&tokens, u64::add);
        for (energy, is) in self.energy.each_mut().into_iter().zip(is.each()) {
            if is {
                energy.merge(&group.energy);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.groups = self.groups.zip(&other.groups, u64::add);
        self.tokens = self.tokens.zip(&other.tokens, u64::add);
        self.energy = self.energy.zip(&other.energy, together);
        self.all_tokens += other.all_tokens;
        self.all_energy.merge(&other.all_energy);
        self.right += other.right;
        self.judged += other.judged;
        other.sizes.iter().for_each(|(size, groups)| *self.sizes.entry(*size).or_default() += groups);
    }

    fn token_share(&self) -> ByOutcome<f64> {
        self.tokens.map(|tokens| mean(tokens as f64, self.all_tokens).unwrap_or(0.0))
    }

    fn energy_share(&self) -> Option<ByOutcome<f64>> {
        let all = self.all_energy.value();
        (all > 0.0).then(|| self.energy.map(|energy| share(energy.value(), all).unwrap_or(0.0)))
    }

    fn pass_rate(&self) -> f64 {
        mean(self.right as f64, self.judged).unwrap_or(0.0)
    }

    /// pass@k for k = 1, 2, 4, … up to the largest group, each over the groups that are large enough.
    fn pass_at(&self) -> BTreeMap<u64, f64> {
        let orders = pass_at::orders(&self.sizes);
        orders.filter_map(|k| Some((u64::from(k), pass_at::mean(&self.sizes, k)?))).collect()
    }
}

/// Both sums in one.
fn together(mut sum: ExactSum, other: ExactSum) -> ExactSum {
    sum.merge(&other);
    sum
}

/// Ranges of pass rates.
const RATES: [&str; 6] = ["0", "0..1/4", "1/4..1/2", "1/2..3/4", "3/4..1", "1"];

/// Which of the [`RATES`].
fn rate(right: u32, judged: u32) -> usize {
    match right {
        0 => 0,
        all if all == judged => RATES.len() - 1,
        // Upper ends belong to their range; below 1, the last holds the rest.
        some => (4 * u64::from(some)).div_ceil(u64::from(judged)) as usize,
    }
}

/// Groups of one range.
#[derive(Clone, Copy, Debug, Default)]
struct RateTally {
    groups: u64,
    tokens: u64,
    energy: ExactSum,
}

impl RateTally {
    fn add(&mut self, group: &GroupTally) {
        self.groups += 1;
        self.tokens += group.tokens;
        self.energy.merge(&group.energy);
    }

    fn merge(&mut self, other: &Self) {
        self.groups += other.groups;
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
    }
}

/// What tells whether a group teaches anything.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// An advantage beyond what rounding leaves.
    Advantages(Rounding),
    /// Rewards that differ: advantages are not logged.
    Rewards,
}

impl Signal {
    fn teaches(self, group: &GroupTally) -> bool {
        match self {
            Self::Advantages(rounding) => group.learns(rounding),
            Self::Rewards => !group.has_equal_rewards(),
        }
    }
}

/// The groups of one step.
struct StepTally {
    step: i64,
    tally: Tally,
    by_rate: [RateTally; RATES.len()],
    /// Responses of each group and how many of them are right, in the order of the groups' hashes.
    sizes: Vec<(u32, u32)>,
}

impl StepTally {
    /// `None` where of no group it is known what is right.
    fn of(step: i64, groups: &GroupsOfStep, rule: &RightRule, signal: Signal) -> Option<Self> {
        let mut tally = Tally::default();
        let mut by_rate: [RateTally; RATES.len()] = Default::default();
        let mut judged_groups = Vec::new();
        for (id, group) in groups.by_id() {
            let (right, judged) = group.right_by(rule);
            if judged > 0 {
                tally.add(group, (right, judged), signal.teaches(group));
                by_rate[rate(right, judged)].add(group);
                judged_groups.push((group_hash(step, id).word(), (judged, right)));
            }
        }
        judged_groups.sort_unstable();
        let sizes: Vec<_> = judged_groups.into_iter().map(|(_, size)| size).collect();
        (!sizes.is_empty()).then_some(Self { step, tally, by_rate, sizes })
    }
}

fn rate_rows(rates: &[RateTally], all: &Tally) -> Vec<PassRateRow> {
    let energy = all.all_energy.value();
    let row = |(name, tally): (&&str, &RateTally)| PassRateRow {
        pass_rate: (*name).into(),
        groups: tally.groups,
        token_share: mean(tally.tokens as f64, all.all_tokens).unwrap_or(0.0),
        energy_share: share(tally.energy.value(), energy),
    };
    RATES.iter().zip(rates).map(row).collect()
}

/// Length by outcome, over the groups that were kept whole; `None` where none was.
fn length(rule: &RightRule, kept: &Siblings) -> Option<ByAnswer<OutcomeLength>> {
    let mut sums = [(0_u64, 0_u64); 2];
    for group in kept.groups.values() {
        let places = group.places();
        for (at, sibling) in group.siblings.iter().enumerate() {
            if let Some(right) = sibling.right_by(rule) {
                let is_response = places.as_ref().is_none_or(|places| places[at] == Place::First);
                let (responses, tokens) = &mut sums[usize::from(right)];
                *responses += u64::from(is_response);
                *tokens += u64::from(sibling.trained);
            }
        }
    }
    let [wrong, right] = sums
        .map(|(responses, tokens)| OutcomeLength { responses, mean_length: mean(tokens as f64, responses) });
    (wrong.responses + right.responses > 0).then_some(ByAnswer { right, wrong })
}

/// Groups by outcome; `None` without groups, or where nothing says what is right.
pub fn groups(
    groups: &GroupTable,
    rule: Option<&RightRule>,
    kept: &Siblings,
    signal: Signal,
) -> Option<Groups> {
    let rule = rule?;
    let steps: Vec<(i64, &GroupsOfStep)> = groups.by_step().collect();
    let steps: Vec<StepTally> = steps
        .into_par_iter()
        .filter_map(|(step, groups)| StepTally::of(step, groups, rule, signal))
        .collect();
    let mut all = Tally::default();
    let mut by_rate: [RateTally; RATES.len()] = Default::default();
    for step in &steps {
        all.merge(&step.tally);
        by_rate.iter_mut().zip(&step.by_rate).for_each(|(all, of_step)| all.merge(of_step));
    }
    let judged_groups: Vec<&[(u32, u32)]> = steps.iter().map(|step| &*step.sizes).collect();
    let row = |StepTally { step, tally, .. }: &StepTally| StepGroupOutcomes {
        step: *step,
        groups: tally.sizes.values().sum(),
        counts: tally.groups,
        token_share: tally.token_share(),
        energy_share: tally.energy_share(),
        pass_rate: tally.pass_rate(),
        pass_at: tally.pass_at(),
    };
    (all.judged > 0).then(|| Groups {
        rule: rule.text(),
        counts: all.groups,
        token_share: all.token_share(),
        energy_share: all.energy_share(),
        pass_rate: all.pass_rate(),
        pass_at: all.pass_at(),
        pass_at_interval: pass_at::orders(&all.sizes)
            .collect::<Vec<_>>()
            .into_par_iter()
            .filter_map(|k| Some((u64::from(k), pass_at::run_interval(&judged_groups, k)?)))
            .collect(),
        by_pass_rate: rate_rows(&by_rate, &all),
        length: length(rule, kept),
        steps: steps.iter().map(row).collect(),
    })
}
