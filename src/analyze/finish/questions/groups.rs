//! Groups by outcome, and pass@k.

use std::collections::BTreeMap;
use std::ops::Add;

use super::pass_at::{self, Sizes};
use crate::analyze::collect::groups::{GroupTable, GroupTally, group_hash};
use crate::analyze::collect::questions::siblings::Siblings;
use crate::analyze::collect::signs::facts::Rounding;
use crate::analyze::finish::steps::{mean, share};
use crate::analyze::result::groups::{
    ByAnswer, ByOutcome, Groups, OutcomeLength, PassRateRow, StepGroupOutcomes,
};
use crate::analyze::right::Rule;
use crate::stats::exact_sum::ExactSum;

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
        let energy = is.map(|is| if is { group.energy } else { ExactSum::new() });
        self.energy = self.energy.zip(&energy, together);
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

impl<T: Copy> ByOutcome<T> {
    fn map<U>(&self, of: impl Fn(T) -> U) -> ByOutcome<U> {
        ByOutcome {
            all_right: of(self.all_right),
            all_wrong: of(self.all_wrong),
            mixed: of(self.mixed),
            phantom: of(self.phantom),
            dead: of(self.dead),
        }
    }

    fn zip(&self, other: &Self, sum: impl Fn(T, T) -> T) -> Self {
        ByOutcome {
            all_right: sum(self.all_right, other.all_right),
            all_wrong: sum(self.all_wrong, other.all_wrong),
            mixed: sum(self.mixed, other.mixed),
            phantom: sum(self.phantom, other.phantom),
            dead: sum(self.dead, other.dead),
        }
    }
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
fn length(rule: &Rule, kept: &Siblings) -> Option<ByAnswer<OutcomeLength>> {
    let mut sums = [(0_u64, 0_u64); 2];
    for sibling in kept.groups.values().flat_map(|group| &group.siblings) {
        if let Some(right) = sibling.right_by(rule) {
            let (responses, tokens) = &mut sums[usize::from(right)];
            *responses += 1;
            *tokens += u64::from(sibling.trained);
        }
    }
    let [wrong, right] = sums
        .map(|(responses, tokens)| OutcomeLength { responses, mean_length: mean(tokens as f64, responses) });
    (wrong.responses + right.responses > 0).then_some(ByAnswer { right, wrong })
}

/// Groups by outcome; `None` without groups, or where nothing says what is right.
pub fn groups(
    groups: &GroupTable,
    rule: Option<&Rule>,
    kept: &Siblings,
    rounding: Rounding,
) -> Option<Groups> {
    let rule = rule?;
    let mut steps: BTreeMap<i64, Tally> = BTreeMap::new();
    let mut judged_groups = BTreeMap::<i64, Vec<_>>::new();
    let mut by_rate: [RateTally; RATES.len()] = Default::default();
    for (step, id, group) in groups.by_id() {
        let (right, judged) = group.right_by(rule);
        if judged > 0 {
            steps.entry(step).or_default().add(group, (right, judged), group.learns(rounding));
            let hash = group_hash(step, id).word();
            judged_groups.entry(step).or_default().push((hash, (judged, right)));
            by_rate[rate(right, judged)].add(group);
        }
    }
    let in_order = |mut groups: Vec<(u64, (u32, u32))>| {
        groups.sort_unstable();
        groups.into_iter().map(|(_, size)| size).collect()
    };
    let judged_groups: Vec<Vec<(u32, u32)>> = judged_groups.into_values().map(in_order).collect();
    let mut all = Tally::default();
    steps.values().for_each(|tally| all.merge(tally));
    let row = |(step, tally): (&i64, &Tally)| StepGroupOutcomes {
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
            .filter_map(|k| Some((u64::from(k), pass_at::run_interval(&judged_groups, k)?)))
            .collect(),
        by_pass_rate: rate_rows(&by_rate, &all),
        length: length(rule, kept),
        steps: steps.iter().map(row).collect(),
    })
}
