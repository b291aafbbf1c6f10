//! The advantage against the reward, within groups: sign, mean, scale, and what other grouping makes its mean 0.

use super::groups::{Group, groups, median};
use stapo_evidence::rewards::{NO_ADVANTAGE, Place, Rewards, Sibling};
use std::collections::BTreeMap;

/// Share of responses whose tokens have advantages of their own, above which a critic or a price of tokens makes them.
const SOME: f64 = 0.05;
/// A mean of this part of the largest |A| is not 0; one of `NEAR` of it is, in single precision.
const OFF: f64 = 0.05;
const NEAR: f64 = 0.01;
/// Share of groups whose mean is not 0 that no rounding gives.
const MANY: f64 = 0.2;
/// How much larger what has blown up is than others.
const TIMES: f64 = 10.0;
/// Groups of another grouping that tell something, and the share of them whose mean has to be 0.
const FEWEST: u64 = 8;
const NEARLY_ALL: f64 = 0.95;

/// Advantages against rewards.
#[derive(Clone, Debug, Default)]
pub struct Advantages {
    /// Whether any advantage is known.
    pub are_known: bool,
    /// Whether tokens have advantages of their own: the identities of groups do not hold then.
    pub are_of_tokens: bool,
    /// Groups of two responses or more.
    pub groups: u64,
    /// Of these, those with an advantage all of whose members are known.
    pub advantaged: u64,
    /// Of these, those whose mean is not 0.
    pub off: u64,
    /// First step with one.
    pub off_from: Option<i64>,
    /// Groups whose rewards differ that have an advantage, those of them without A < 0, and without A > 0.
    pub signs: [u64; 3],
    /// Responses that were not cut and whose reward a sibling has, too, where both are off the mean; and those of them with
    /// an advantage of exactly 0 where that sibling's is not.
    pub zeroed: [u64; 2],
    /// Groups whose advantages have blown up.
    pub blown: Blown,
    /// Groups whose advantages fall with their rewards, by slice.
    pub falling: Vec<Falling>,
    /// The other grouping of steps whose means are 0.
    pub other: Option<Other>,
}

/// Groups with differing rewards whose |A| no baseline and deviation of their own can give.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blown {
    /// How many.
    pub groups: u64,
    /// Largest |A|.
    pub largest: f64,
    /// Median of the largest |A| of groups.
    pub usual: f64,
    /// First step with one.
    pub from: Option<i64>,
}

/// Of one slice the groups in which rewards and advantages differ.
#[derive(Clone, Copy, Debug)]
pub struct Falling {
    /// Hash of the slice's name.
    pub slice: u32,
    /// Groups whose advantage falls with the reward.
    pub hits: u64,
    /// Groups.
    pub tries: u64,
    /// First step with one that falls.
    pub from: i64,
}

/// Another grouping of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Every n-th response: a `repeat` where the log has a `repeat_interleave`.
    Strided,
    /// Neighbours: the other way round.
    Neighbours,
}

impl Advantages {
    /// The measure.
    pub fn of(rewards: &Rewards) -> Self {
        let all = groups(rewards);
        let counts = super::trained::totals(rewards);
        let are_known = all.iter().any(|group| group.siblings.iter().any(|s| s.advantage.is_finite()));
        let told = || all.iter().filter(|group| group.is_advantaged() && group.mean_advantage.is_some());
        let is_off =
            |group: &&Group<'_>| group.mean_advantage.is_some_and(|mean| mean.abs() > OFF * group.largest);
        Self {
            are_known: are_known || counts.advantaged > 0,
            are_of_tokens: counts.varying as f64 > SOME * counts.responses as f64,
            groups: all.len() as u64,
            advantaged: told().count() as u64,
            off: told().filter(is_off).count() as u64,
            off_from: told().filter(is_off).map(|group| group.step).min(),
            signs: signs(&all),
            zeroed: zeroed(&all),
            blown: blown(&all),
            falling: falling(&all),
            other: other_grouping(rewards, &all),
        }
    }

    /// Whether means are not 0 in their groups, and are in another grouping. Advantages that have blown up round all others
    /// to 0.
    pub fn show_wrong_groups(&self) -> bool {
        let are_off = self.off as f64 > MANY * self.advantaged.max(1) as f64;
        !self.are_of_tokens && are_off && self.blown.groups == 0 && self.other.is_some()
    }
}

/// Divided by its own deviation (over n or n − 1) no advantage exceeds √n, and centred alone, its scale is that of all
/// others. So a blown one is beyond √n and has ten times the scale of its siblings, or of other groups and their size as well.
fn blown(all: &[Group<'_>]) -> Blown {
    let mixed = || all.iter().filter(|group| group.is_mixed() && group.largest > 0.0);
    let usual = median(mixed().map(|group| group.largest).collect());
    let scale = median(mixed().map(|group| group.scales()[0]).collect());
    let (Some(usual), Some(scale)) = (usual, scale) else { return Blown::default() };
    let is_blown = |group: &&Group<'_>| {
        let [largest, of_siblings] = group.scales();
        let in_group = largest > TIMES * of_siblings;
        let in_run = group.largest > TIMES * usual && largest > TIMES * scale;
        group.largest > 1.5 * (group.len() as f64).sqrt() && (in_group || in_run)
    };
    Blown {
        groups: mixed().filter(is_blown).count() as u64,
        largest: mixed().map(|group| group.largest).fold(0.0, f64::max),
        usual,
        from: mixed().filter(is_blown).map(|group| group.step).min(),
    }
}

fn signs(all: &[Group<'_>]) -> [u64; 3] {
    let mut signs = [0; 3];
    for group in all.iter().filter(|group| group.is_mixed() && group.is_advantaged()) {
        let has = |sign: f64| group.siblings.iter().any(|s| sign * f64::from(s.advantage) > NO_ADVANTAGE);
        signs[0] += 1;
        signs[1] += u64::from(!has(-1.0));
        signs[2] += u64::from(!has(1.0));
    }
    signs
}

fn zeroed(all: &[Group<'_>]) -> [u64; 2] {
    let mut zeroed = [0; 2];
    for group in all.iter().filter(|group| group.is_mixed() && group.is_advantaged()) {
        let is_off = |s: &&Sibling| (f64::from(s.reward) - group.mean_reward).abs() > 1e-6;
        let known = group.siblings.iter().filter(|s| s.cut != Some(true) && s.advantage.is_finite());
        // Of each reward its responses, those with exactly 0, and those with an advantage.
        let mut rewards: BTreeMap<u32, [u64; 3]> = BTreeMap::new();
        for sibling in known.filter(is_off) {
            let [count, zero, advantaged] = rewards.entry(sibling.reward.to_bits()).or_default();
            *count += 1;
            *zero += u64::from(sibling.advantage == 0.0);
            *advantaged += u64::from(f64::from(sibling.advantage).abs() > NO_ADVANTAGE);
        }
        for [count, zero, advantaged] in rewards.into_values().filter(|[count, ..]| *count > 1) {
            zeroed[0] += count;
            zeroed[1] += if advantaged > 0 { zero } else { 0 };
        }
    }
    zeroed
}

fn falling(all: &[Group<'_>]) -> Vec<Falling> {
    let mut slices: BTreeMap<u32, Falling> = BTreeMap::new();
    for group in all {
        let Some(falls) = group.contradicts() else { continue };
        let slice = group.slice();
        let counts = slices.entry(slice).or_insert(Falling { slice, hits: 0, tries: 0, from: i64::MAX });
        counts.tries += 1;
        if falls {
            counts.hits += 1;
            counts.from = counts.from.min(group.step);
        }
    }
    slices.into_values().collect()
}

/// The grouping of whole steps, in the order of the log, in which the advantages' means are 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of responses
fn other_grouping(rewards: &Rewards, all: &[Group<'_>]) -> Option<Other> {
    let size = median(all.iter().map(|group| group.len() as f64).collect())? as usize;
    let fits = |other: Other| {
        let (mut zero, mut tries) = (0, 0);
        for step in rewards.places.sets().filter(|step| step.len() % size == 0 && step.len() > size) {
            let most = step.iter().map(|p| f64::from(p.advantage).abs()).fold(0.0, f64::max);
            for place in 0..step.len() / size {
                let Some(mean) = mean_of(step, other, place, size) else { continue };
                tries += 1;
                zero += u64::from(mean.abs() < NEAR * most);
            }
        }
        tries >= FEWEST && zero as f64 > NEARLY_ALL * tries as f64
    };
    [Other::Strided, Other::Neighbours].into_iter().find(|other| fits(*other))
}

/// Mean advantage of the `at`-th group of another grouping, where it has one and all are known.
fn mean_of(step: &[Place], other: Other, at: usize, size: usize) -> Option<f64> {
    let stride = step.len() / size;
    let index = |member: usize| match other {
        Other::Strided => at + member * stride,
        Other::Neighbours => at * size + member,
    };
    let values = || (0..size).filter_map(|member| step.get(index(member))).map(|p| f64::from(p.advantage));
    let is_told = values().all(f64::is_finite) && values().any(|a| a.abs() > NO_ADVANTAGE);
    is_told.then(|| values().sum::<f64>() / size as f64)
}
