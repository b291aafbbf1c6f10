//! The reward on its parts, within groups whose rewards differ, slice by slice.

use super::groups::{Group, groups};
use super::right::is_goal;
use stapo_evidence::rewards::Rewards;
use std::collections::BTreeMap;

/// Groups whose rewards differ that a slice needs.
const FEWEST: u64 = 4;
/// What rounding leaves of 1 − R² where a part is the reward.
const SAME: f64 = 1e-6;

/// How much of the reward of a slice its parts explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// Hash of the slice's name.
    pub slice: u32,
    /// Groups whose rewards differ.
    pub groups: u64,
    /// Of these, those in which a part differs: where none does, the reward is made of something that is not logged.
    pub told: u64,
    /// Share of the squares within these groups that the parts remove.
    pub share: f64,
    /// The same without parts that are the reward again and are not named as a goal: a coin that is logged as a part of
    /// itself says nothing.
    pub by_others: f64,
    /// First step with such a group.
    pub from: i64,
}

/// Sums of squares and products within groups: of the parts, with the reward, of the reward.
struct Squares {
    parts: Vec<Vec<f64>>,
    products: Vec<f64>,
    reward: f64,
    groups: u64,
    told: u64,
    from: i64,
}

/// Measures it, by slice; `parts` are the names of the reward's parts.
pub fn explained(rewards: &Rewards, names: &[String]) -> Vec<Explained> {
    let parts = rewards.groups.sets().flatten().map(|s| s.parts.len()).max().unwrap_or(0);
    if parts == 0 {
        return Vec::new();
    }
    let mut slices: BTreeMap<u32, Squares> = BTreeMap::new();
    for group in groups(rewards).into_iter().filter(Group::is_mixed) {
        slices.entry(group.slice()).or_insert_with(|| Squares::new(parts, group.step)).add(&group);
    }
    let told = slices.into_iter().filter(|(_, squares)| squares.groups >= FEWEST);
    told.map(|(slice, squares)| Explained {
        slice,
        groups: squares.groups,
        told: squares.told,
        share: squares.explained(&|_| true) / squares.reward,
        by_others: {
            let is_goal = |at: usize| names.get(at).is_some_and(|name| is_goal(name));
            squares.explained(&|at| is_goal(at) || !squares.is_the_reward(at)) / squares.reward
        },
        from: squares.from,
    })
    .collect()
}

impl Squares {
    fn new(parts: usize, from: i64) -> Self {
        Self {
            parts: vec![vec![0.0; parts]; parts],
            products: vec![0.0; parts],
            reward: 0.0,
            groups: 0,
            told: 0,
            from,
        }
    }

    fn add(&mut self, group: &Group<'_>) {
        self.groups += 1;
        self.from = self.from.min(group.step);
        let known: Vec<_> = group.siblings.iter().filter(|s| s.reward.is_finite()).collect();
        // A part that was not applied to a response (TRL writes NaN) adds nothing to its reward.
        let part = |s: &stapo_evidence::rewards::Sibling, at: usize| {
            s.parts.get(at).map(|value| f64::from(*value)).filter(|value| value.is_finite()).unwrap_or(0.0)
        };
        let size = self.products.len();
        let means: Vec<f64> =
            (0..size).map(|at| known.iter().map(|s| part(s, at)).sum::<f64>() / known.len() as f64).collect();
        let mut spread = 0.0;
        for sibling in known {
            let reward = f64::from(sibling.reward) - group.mean_reward;
            let apart: Vec<f64> = (0..size).map(|at| part(sibling, at) - means[at]).collect();
            spread += apart.iter().map(|value| value * value).sum::<f64>();
            self.reward += reward * reward;
            for (at, value) in apart.iter().enumerate() {
                self.products[at] += value * reward;
                self.parts[at].iter_mut().zip(&apart).for_each(|(sum, other)| *sum += value * other);
            }
        }
        self.told += u64::from(spread > 1e-9);
    }

    /// Whether a part is the reward again, but for its scale.
    fn is_the_reward(&self, at: usize) -> bool {
        self.products[at] * self.products[at] > (1.0 - SAME) * self.parts[at][at] * self.reward
    }

    /// The squares that a regression on some of the parts removes: each part in turn, less what those before it explain; one that
    /// they explain whole is left out.
    fn explained(&self, takes: &dyn Fn(usize) -> bool) -> f64 {
        let (mut parts, mut products) = (self.parts.clone(), self.products.clone());
        let mut removed = 0.0;
        for at in 0..products.len() {
            let (square, product) = (parts[at][at], products[at]);
            if !takes(at) || square <= 1e-9 * self.parts[at][at].max(1e-9) {
                continue;
            }
            removed += product * product / square;
            let row = parts[at].clone();
            for below in at + 1..products.len() {
                let slope = row[below] / square;
                products[below] -= slope * product;
                parts[below].iter_mut().zip(&row).for_each(|(value, pivot)| *value -= slope * pivot);
            }
        }
        removed
    }
}
