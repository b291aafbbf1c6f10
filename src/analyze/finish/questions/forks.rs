//! Forks: prefixes that siblings share and go on from differently.
//!
//! Siblings are sorted by their ids, so those that share a prefix stand side by side.

use std::borrow::Cow;

use rayon::prelude::*;

use super::spurious::SpuriousPlaces;
use crate::analyze::collect::questions::siblings::{Sibling, SiblingGroup, Siblings};
use crate::analyze::collect::rows::Place;
use crate::analyze::result::siblings::{Branch, Fork, Forks, SpuriousForks};
use crate::analyze::token_text::TokenTexts;
use crate::ingest::MISSING_ID;
use crate::stats::bootstrap::t_interval;
use crate::stats::welch::welch_interval;

/// Forks in the list.
const TOP: usize = 50;
/// Fewer forks say nothing about a mean.
const FEWEST: usize = 5;
const CONFIDENCE: f64 = 0.95;

/// The responses `from..to` of sorted siblings share `depth` tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shared {
    from: usize,
    to: usize,
    depth: usize,
}

/// The branches of one prefix: stretches of sorted siblings by their next id. A response whose next id
/// is not logged is in none: what it goes on with is not known.
fn branches(siblings: &[Sibling], shared: Shared) -> Vec<Shared> {
    let Shared { from, to, depth } = shared;
    let next = |i: usize| siblings[i].ids.get(depth).filter(|id| **id != MISSING_ID);
    let mut found: Vec<Shared> = Vec::new();
    for i in (from..to).filter(|i| next(*i).is_some()) {
        match found.last_mut() {
            Some(last) if next(last.from) == next(i) => last.to = i + 1,
            _ => found.push(Shared { from: i, to: i + 1, depth: depth + 1 }),
        }
    }
    found
}

/// Calls `visit` with the prefix and the branches of every fork.
fn each_fork(siblings: &[Sibling], mut visit: impl FnMut(usize, &[Shared])) {
    let mut open = vec![Shared { from: 0, to: siblings.len(), depth: 0 }];
    while let Some(shared) = open.pop() {
        let branches = branches(siblings, shared);
        if branches.len() >= 2 {
            visit(shared.depth, &branches);
        }
        open.extend(branches.into_iter().filter(|branch| branch.to - branch.from >= 2));
    }
}

/// What one group has.
#[derive(Default)]
struct GroupForks {
    forks: u64,
    twice: u64,
    /// Entropy at forks and elsewhere, with the number of tokens.
    at: (f64, u64),
    elsewhere: (f64, u64),
    spurious: Vec<f64>,
    list: Vec<Fork>,
}

/// Forks; `None` without groups that were kept.
pub fn forks(kept: &Siblings, spurious: &SpuriousPlaces, texts: &TokenTexts) -> Option<Forks> {
    if kept.groups.is_empty() {
        return None;
    }
    let groups: Vec<_> = kept.groups.iter().collect();
    let found: Vec<GroupForks> = groups
        .par_iter()
        .map(|((step, _), group)| of_group(*step, &group.id.to_string(), &beginnings(group), spurious, texts))
        .collect();
    let mut all = GroupForks::default();
    for mut group in found {
        all.forks += group.forks;
        all.twice += group.twice;
        all.at = (all.at.0 + group.at.0, all.at.1 + group.at.1);
        all.elsewhere = (all.elsewhere.0 + group.elsewhere.0, all.elsewhere.1 + group.elsewhere.1);
        all.spurious.append(&mut group.spurious);
        all.list.append(&mut group.list);
        keep_top(&mut all.list);
    }
    let scaled = |count: u64| count << kept.level().min(40);
    let mean = |(sum, count): (f64, u64)| (count > 0).then(|| sum / count as f64);
    let differences = &all.spurious;
    Some(Forks {
        forks: scaled(all.forks),
        all_branches_twice: scaled(all.twice),
        groups: kept.groups.len() as u64,
        exact: kept.level() == 0,
        entropy_at_forks: mean(all.at),
        entropy_elsewhere: mean(all.elsewhere),
        spurious: Some(SpuriousForks {
            forks: differences.len() as u64,
            reward_difference: mean((differences.iter().sum(), differences.len() as u64)),
            interval: t_interval(differences, CONFIDENCE).filter(|_| differences.len() >= FEWEST),
        }),
        top: all.list,
    })
}

/// The siblings of a group from their first token on: a later turn that is a row of its own has another context.
fn beginnings(group: &SiblingGroup) -> Cow<'_, [Sibling]> {
    match group.places() {
        None => Cow::Borrowed(&group.siblings),
        Some(places) => {
            let rows = group.siblings.iter().zip(places);
            rows.filter(|(_, place)| *place == Place::First).map(|(sibling, _)| sibling.clone()).collect()
        }
    }
}

fn of_group(
    step: i64,
    group_id: &str,
    siblings: &[Sibling],
    spurious: &SpuriousPlaces,
    texts: &TokenTexts,
) -> GroupForks {
    let mut found = GroupForks::default();
    let finite = |h: &&f32| h.is_finite();
    let entropies = siblings.iter().flat_map(|s| &s.entropy).filter(finite);
    let (sum, count) = entropies.fold((0.0, 0), |(sum, n), h| (sum + f64::from(*h), n + 1));
    each_fork(siblings, |depth, branches| {
        found.forks += 1;
        found.twice += u64::from(branches.iter().all(|branch| branch.to - branch.from >= 2));
        let members = branches.iter().flat_map(|branch| &siblings[branch.from..branch.to]);
        let here = members.filter_map(|s| s.entropy.get(depth)).filter(finite);
        let (here, tokens) = here.fold((0.0, 0), |(sum, n), h| (sum + f64::from(*h), n + 1));
        found.at = (found.at.0 + here, found.at.1 + tokens);
        let fork = Fork {
            step,
            group_id: group_id.into(),
            position: depth as u64,
            entropy: (tokens > 0).then(|| here / tokens as f64),
            ..described(depth, branches, siblings, spurious, texts)
        };
        found.spurious.extend(spurious_difference(depth, branches, siblings, &fork));
        found.list.push(fork);
    });
    found.elsewhere = (sum - found.at.0, count - found.at.1);
    keep_top(&mut found.list);
    found
}

fn rewards(siblings: &[Sibling], branch: &Shared) -> Vec<f64> {
    let all = siblings[branch.from..branch.to].iter().map(|s| f64::from(s.reward));
    all.filter(|reward| reward.is_finite()).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn described(
    depth: usize,
    branches: &[Shared],
    siblings: &[Sibling],
    spurious: &SpuriousPlaces,
    texts: &TokenTexts,
) -> Fork {
    let mut all: Vec<(Branch, Vec<f64>)> = branches
        .iter()
        .map(|branch| {
            let id = siblings[branch.from].ids[depth];
            let members = &siblings[branch.from..branch.to];
            let rewards = rewards(siblings, branch);
            let row = Branch {
                token_id: i64::from(id),
                token: texts.known(id).map(str::to_owned),
                responses: members.len() as u64,
                mean_reward: mean(&rewards),
                spurious: Some(members.iter().any(|s| spurious.of(s).any(|place| place == depth))),
            };
            (row, rewards)
        })
        .collect();
    let rank = |branch: &Branch| branch.mean_reward.unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|(a, _), (b, _)| rank(b).total_cmp(&rank(a)).then(a.token_id.cmp(&b.token_id)));
    let rewarded: Vec<&(Branch, Vec<f64>)> = all.iter().filter(|(_, rewards)| !rewards.is_empty()).collect();
    let (difference, interval) = match &rewarded[..] {
        [(best, high), .., (worst, low)] => (
            best.mean_reward.zip(worst.mean_reward).map(|(best, worst)| best - worst),
            welch_interval(low, high, CONFIDENCE)
                .filter(|_| all.iter().all(|(_, rewards)| rewards.len() >= 2)),
        ),
        _ => (None, None),
    };
    Fork {
        reward_difference: difference,
        interval,
        branches: all.into_iter().map(|(branch, _)| branch).collect(),
        ..Fork::default()
    }
}

/// The reward of branches that begin with a spurious token minus that of the others.
fn spurious_difference(depth: usize, branches: &[Shared], siblings: &[Sibling], fork: &Fork) -> Option<f64> {
    let is_spurious = |branch: &Shared| {
        let id = i64::from(siblings[branch.from].ids[depth]);
        fork.branches.iter().any(|row| row.spurious == Some(true) && row.token_id == id)
    };
    let (with, without): (Vec<&Shared>, Vec<&Shared>) = branches.iter().partition(|b| is_spurious(b));
    let of = |side: &[&Shared]| mean(&side.iter().flat_map(|b| rewards(siblings, b)).collect::<Vec<_>>());
    Some(of(&with)? - of(&without)?)
}

/// The forks whose branches differ most; those with two responses in every branch first.
fn keep_top(list: &mut Vec<Fork>) {
    let rank = |fork: &Fork| (fork.interval.is_some(), fork.reward_difference.unwrap_or(-1.0));
    let size = |fork: &Fork| fork.branches.iter().map(|branch| branch.responses).sum::<u64>();
    list.sort_by(|a, b| {
        let ((a_twice, a_difference), (b_twice, b_difference)) = (rank(a), rank(b));
        let place = |fork: &Fork| (fork.step, fork.group_id.clone(), fork.position);
        b_twice
            .cmp(&a_twice)
            .then(b_difference.total_cmp(&a_difference))
            .then(size(b).cmp(&size(a)))
            .then_with(|| place(a).cmp(&place(b)))
    });
    list.truncate(TOP);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::spurious::tests::sibling;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn as_by_the_definition(responses in prop::collection::vec(prop::collection::vec(0..3_i32, 0..7), 0..9)) {
            let mut prefixes: BTreeMap<Vec<i32>, BTreeMap<i32, usize>> = BTreeMap::new();
            for ids in &responses {
                for depth in 0..ids.len() {
                    let next = prefixes.entry(ids[..depth].to_vec()).or_default();
                    *next.entry(ids[depth]).or_default() += 1;
                }
            }
            let mut expected: Vec<(usize, Vec<(i32, usize)>)> = prefixes
                .into_iter()
                .filter(|(_, next)| next.len() >= 2)
                .map(|(prefix, next)| (prefix.len(), next.into_iter().collect()))
                .collect();
            expected.sort();
            let mut siblings: Vec<Sibling> = responses.iter().map(|ids| sibling(ids, 0.0)).collect();
            siblings.sort_by(|a, b| a.ids.cmp(&b.ids));
            let mut found = Vec::new();
            each_fork(&siblings, |depth, branches| {
                let of = |b: &Shared| (siblings[b.from].ids[depth], b.to - b.from);
                found.push((depth, branches.iter().map(of).collect::<Vec<_>>()));
            });
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_missing_id_is_no_branch() {
        let ids: [&[i32]; 5] = [&[1, 2], &[1, MISSING_ID, 3], &[1, MISSING_ID, 4], &[MISSING_ID, 5], &[6]];
        let mut siblings: Vec<Sibling> = ids.iter().map(|ids| sibling(ids, 0.0)).collect();
        siblings.sort_by(|a, b| a.ids.cmp(&b.ids));
        let mut found = Vec::new();
        each_fork(&siblings, |depth, branches| {
            found.push((depth, branches.iter().map(|b| b.to - b.from).collect::<Vec<_>>()));
        });
        assert_eq!(found, [(0, vec![3, 1])]);
    }

    #[test]
    fn rewards_of_branches_are_compared() {
        let mut siblings =
            vec![sibling(&[1, 2], 1.0), sibling(&[1, 2], 1.0), sibling(&[1, 3], 0.0), sibling(&[1, 3], 0.5)];
        siblings[3].candidates = vec![1];
        let spurious = SpuriousPlaces::new([(&siblings[3].batch.clone(), &Some(0.9))]);
        let found = of_group(7, "g", &siblings, &spurious, &TokenTexts::default());
        assert_eq!((found.forks, found.twice), (1, 1));
        let fork = &found.list[0];
        assert_eq!((fork.position, fork.branches[0].token_id, fork.reward_difference), (1, 2, Some(0.75)));
        assert!(fork.interval.is_some() && fork.branches[1].spurious == Some(true));
        assert_eq!(found.spurious, [-0.75]);
        assert_eq!(found.at, (2.0, 4));
    }
}
