//! What each function of the reward weighs, where only the functions and the advantages are logged.
//!
//! A trainer adds the functions of a response up with weights that TRL does not log, takes the group's mean off and may divide by
//! its deviation. So within each group the advantages are proportional to the weighted sum less its mean, whatever the
//! divisor is: the weights are the direction in which no group leaves anything of the sum beside its advantages.

use std::collections::BTreeMap;

use crate::schema::mapping::{Mapping, Transform, source_names};
use crate::{Run, scan_in_order};
use stapo_base::error::{Error, Result};
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;

/// Responses that are looked at.
const ROWS: usize = 4096;
/// Groups in which more than one function differs that are needed for each function.
const GROUPS: usize = 2;
/// Share of the sum's squares that a fit leaves beside the advantages: what single precision and TRL's 10⁻⁴ beside a
/// deviation make is a tenth of it.
const LEFT: f64 = 1e-3;
const ITERATIONS: usize = 50;
const ROUNDS: usize = 4;
/// Share of these groups that weights have to fit: by chance none does, and a fault of the advantages may spoil the others.
const FITTED: f64 = 0.3;
/// Weights are kept in thousandths.
const WHOLE: f64 = 1000.0;

/// Finds the weights of summed functions; where the advantages follow from no such sum, they are taken as not logged, so that
/// nothing is held against a reward that was another one.
pub fn fit(run: &mut Run) -> Result<()> {
    let is_summed = |mapping: &Mapping| {
        let sources = mapping.get(Column::Reward).map_or(0, |reward| reward.sources.len());
        sources > 1 && mapping.has(Column::AdvantageSeq)
    };
    let Some(names) = run.mappings.iter().find(|mapping| is_summed(mapping)).map(names_of) else {
        return Ok(());
    };
    if run.mappings.iter().any(|mapping| is_summed(mapping) && names_of(mapping) != names) {
        return Ok(());
    }
    let groups = first_groups(run, &names)?;
    let Some(found) = weights(&groups, names.len()) else { return Ok(()) };
    for mapping in run.mappings.iter_mut().filter(|mapping| is_summed(mapping)) {
        match &found {
            Some(weights) => set(mapping, weights),
            None => mapping.forget(
                Column::AdvantageSeq,
                "follows from no weighted sum of the reward's functions (--map reward=COLUMN names the reward)",
            ),
        }
    }
    Ok(())
}

fn names_of(mapping: &Mapping) -> Vec<String> {
    let reward = mapping.get(Column::Reward).into_iter().flat_map(|reward| &reward.sources);
    reward.map(|source| source.name.clone()).collect()
}

#[allow(clippy::cast_possible_truncation)] // thousandths of at most 1
fn set(mapping: &mut Mapping, weights: &[f64]) {
    let Some(reward) = mapping.columns.iter_mut().find(|mapped| mapped.column == Column::Reward) else {
        return;
    };
    if weights.iter().all(|weight| *weight == 1.0) {
        return;
    }
    let plain = source_names(reward);
    for (source, weight) in reward.sources.iter_mut().zip(weights) {
        source.transform = Transform::Times((weight * WHOLE).round() as i32);
    }
    let terms =
        reward.sources.iter().zip(weights).map(|(source, weight)| format!("{weight:.3} {}", source.name));
    let sum = terms.collect::<Vec<_>>().join(" + ");
    mapping.notes.retain(|note| !note.contains(&plain));
    mapping.notes.push(format!(
        "no column says the reward: by the advantages it is {sum}, up to a factor (--map reward=COLUMN to name one)"
    ));
}

/// Rewards by function, and the advantage, of a group's responses.
type Group = Vec<(Vec<f64>, f64)>;

/// The groups of the first responses that are trained on.
fn first_groups(run: &Run, names: &[String]) -> Result<Vec<Group>> {
    let mut groups: BTreeMap<(i64, Id), Group> = BTreeMap::new();
    let mut rows = 0;
    let enough = || Error::Internal { message: "enough is known".into() };
    let mut take = |batch: TokenBatch| {
        let responses = &batch.responses;
        let advantages = responses.floats.get(Column::AdvantageSeq);
        for i in (0..batch.len()).filter(|i| !responses.is_evaluation(*i)) {
            let part = |name: &String| {
                let named = responses.reward_parts.iter().find(|(known, _)| **known == **name);
                let value = named.map_or(f32::NAN, |(_, values)| values[i]);
                if value.is_finite() { f64::from(value) } else { 0.0 }
            };
            let advantage = advantages.map_or(f64::NAN, |advantages| f64::from(advantages[i]));
            let group = batch.ids(Column::GroupId).map_or(Id::Missing, |ids| ids[i].clone());
            if advantage.is_finite() && group != Id::Missing {
                let row = (names.iter().map(part).collect(), advantage);
                groups.entry((responses.step[i], group)).or_default().push(row);
            }
        }
        rows += batch.len();
        if rows >= ROWS { Err(enough()) } else { Ok(()) }
    };
    let columns = [Column::Reward, Column::AdvantageSeq, Column::GroupId, Column::Split];
    match scan_in_order(run, &columns, &Silent, &mut take) {
        Err(Error::Internal { .. }) | Ok(_) => {}
        Err(error) => return Err(error),
    }
    Ok(groups.into_values().filter(|group| group.len() > 1).collect())
}

type Matrix = Vec<Vec<f64>>;

/// What a group leaves of a weighted sum beside its advantages, and all of the sum, as quadratic forms of the weights.
struct Forms {
    left: Matrix,
    all: Matrix,
}

impl Forms {
    /// `None` where a group tells nothing of weights: without advantages, or where one direction is all that differs.
    fn of(group: &Group, functions: usize) -> Option<Self> {
        let n = group.len() as f64;
        let middle = group.iter().map(|(_, advantage)| advantage).sum::<f64>() / n;
        let size: f64 = group.iter().map(|(_, advantage)| (advantage - middle).powi(2)).sum();
        let mean = |k: usize| group.iter().map(|(parts, _)| parts[k]).sum::<f64>() / n;
        let means: Vec<f64> = (0..functions).map(mean).collect();
        let apart = |parts: &[f64], k: usize| parts[k] - means[k];
        let along: Vec<f64> = (0..functions)
            .map(|k| group.iter().map(|(parts, advantage)| apart(parts, k) * (advantage - middle)).sum())
            .collect();
        let product = |i: usize, j: usize| -> f64 {
            group.iter().map(|(parts, _)| apart(parts, i) * apart(parts, j)).sum()
        };
        let matrix = |of: &dyn Fn(usize, usize) -> f64| -> Matrix {
            (0..functions).map(|i| (0..functions).map(|j| of(i, j)).collect()).collect()
        };
        let all = matrix(&product);
        let trace: f64 = (0..functions).map(|k| all[k][k]).sum();
        let squares: f64 = all.iter().flatten().map(|value| value * value).sum();
        let is_one_direction = trace * trace - squares <= 1e-6 * trace * trace;
        (size > 1e-9 && trace > 1e-9 && !is_one_direction)
            .then(|| Self { left: matrix(&|i, j| product(i, j) - along[i] * along[j] / size), all })
    }

    /// The share of a weighted sum that is left.
    fn share(&self, weights: &[f64]) -> f64 {
        form(&self.left, weights) / form(&self.all, weights).max(1e-12)
    }
}

/// The weights, the largest 1; `Some(None)` where none fit, `None` where too few tell.
fn weights(groups: &[Group], functions: usize) -> Option<Option<Vec<f64>>> {
    let telling: Vec<Forms> = groups.iter().filter_map(|group| Forms::of(group, functions)).collect();
    if telling.len() < GROUPS * functions {
        return None;
    }
    let fitted = |weights: &[f64]| telling.iter().filter(|group| group.share(weights) <= LEFT).count();
    let fits = |fitted: usize| fitted as f64 >= FITTED * telling.len() as f64;
    let ones = vec![1.0; functions];
    if fits(fitted(&ones)) {
        return Some(Some(ones));
    }
    // Of all groups, then of the half that fits best.
    let mut kept: Vec<&Forms> = telling.iter().collect();
    let (mut best, mut most) = (ones, 0);
    for _ in 0..ROUNDS {
        let sum = |of: fn(&Forms) -> &Matrix| -> Matrix {
            let value = |i: usize, j: usize| kept.iter().map(|group| of(group)[i][j]).sum();
            (0..functions).map(|i| (0..functions).map(|j| value(i, j)).collect()).collect()
        };
        let Some(found) = least(&sum(|group| &group.left), &sum(|group| &group.all)) else { break };
        kept = telling.iter().collect();
        kept.sort_by(|a, b| a.share(&found).total_cmp(&b.share(&found)));
        kept.truncate(telling.len() / 2 + 1);
        let count = fitted(&found);
        if count > most {
            (best, most) = (found, count);
        }
    }
    Some(Some(best).filter(|_| fits(most)))
}

/// w′Mw.
fn form(matrix: &Matrix, weights: &[f64]) -> f64 {
    let rows = matrix.iter().zip(weights);
    rows.map(|(row, left)| left * row.iter().zip(weights).map(|(value, right)| value * right).sum::<f64>())
        .sum()
}

/// The direction that leaves least, the largest weight 1, in thousandths. A function that never differs within a group has
/// weight 1: it changes nothing.
fn least(left: &Matrix, all: &Matrix) -> Option<Vec<f64>> {
    let used: Vec<usize> = (0..all.len()).filter(|k| all[*k][*k] > 1e-9).collect();
    let pick = |matrix: &Matrix| -> Matrix {
        used.iter().map(|i| used.iter().map(|j| matrix[*i][*j]).collect()).collect()
    };
    let functions = all.len();
    let (left, all) = (pick(left), pick(all));
    // Inverse iteration; a little of the whole keeps it from dividing by 0.
    let mut shifted = left;
    for (k, row) in shifted.iter_mut().enumerate() {
        row.iter_mut().zip(&all[k]).for_each(|(value, whole)| *value += 1e-7 * whole);
        row[k] += 1e-9 * all[k][k];
    }
    let mut direction = vec![1.0; used.len()];
    for _ in 0..ITERATIONS {
        let right = all.iter().map(|row| row.iter().zip(&direction).map(|(a, x)| a * x).sum()).collect();
        direction = solved(shifted.clone(), right)?;
        let largest = direction.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        direction.iter_mut().for_each(|value| *value /= largest);
    }
    let sign = if direction.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let mut weights = vec![1.0; functions];
    used.iter().zip(&direction).for_each(|(k, value)| weights[*k] = (sign * value * WHOLE).round() / WHOLE);
    Some(weights).filter(|weights| weights.iter().all(|weight| weight.is_finite()))
}

/// Solves a small system.
fn solved(mut matrix: Matrix, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column] == 0.0 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            let of_pivot = matrix[column].clone();
            matrix[row].iter_mut().zip(&of_pivot).for_each(|(value, above)| *value -= factor * above);
            right[row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|at| matrix[row][at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    /// Groups of eight with functions of 0 and 1, and advantages as a trainer makes them of these weights.
    fn groups(weights: &[f64], scaled: bool, wrong: bool) -> Vec<Group> {
        let mut random = Random::new(7, 0);
        let one = |random: &mut Random| -> Group {
            let rows: Vec<Vec<f64>> = (0..8)
                .map(|_| weights.iter().map(|_| f64::from(u8::from(random.unit() < 0.5))).collect())
                .collect();
            let sum =
                |row: &Vec<f64>| row.iter().zip(weights).map(|(part, weight)| part * weight).sum::<f64>();
            let rewards: Vec<f64> = rows.iter().map(sum).collect();
            let mean = rewards.iter().sum::<f64>() / 8.0;
            let squares: f64 = rewards.iter().map(|reward| (reward - mean).powi(2)).sum();
            let scale = if scaled { (squares / 7.0).sqrt() + 1e-4 } else { 1.0 };
            let advantage = |reward: &f64| if wrong { random.unit() - 0.5 } else { (reward - mean) / scale };
            let advantages: Vec<f64> = rewards.iter().map(advantage).collect();
            rows.into_iter().zip(advantages).collect()
        };
        (0..60).map(|_| one(&mut random)).collect()
    }

    #[test]
    fn weights_are_found_whatever_the_advantages_are_divided_by() {
        for scaled in [false, true] {
            for weights in [[1.0, 1.0, 1.0], [1.0, 0.2, 0.5], [0.1, 1.0, -0.3]] {
                let found = super::weights(&groups(&weights, scaled, false), 3).flatten().unwrap_or_default();
                assert_eq!(found, weights);
            }
        }
    }

    #[test]
    fn what_fits_nothing_is_said_and_what_is_too_short_is_not() {
        assert_eq!(super::weights(&groups(&[1.0, 0.2], true, true), 2), Some(None));
        assert_eq!(super::weights(&groups(&[1.0, 0.2], true, false)[..3], 2), None);
        // The sign of the rewards is that of the weights, not of the advantages.
        let mut turned = groups(&[1.0, 0.2], true, false);
        turned.iter_mut().flatten().for_each(|(_, advantage)| *advantage = -*advantage);
        assert_eq!(super::weights(&turned, 2), Some(Some(vec![1.0, 0.2])));
    }
}
