//! What moves the advantage inside of groups: parts of the reward and length.
//!
//! Values are centred on their group's mean, so prompts that are easy or hard do not count. From the
//! groups that are kept whole.

use crate::collect::questions::siblings::{Sibling, Siblings};
use crate::finish::ratios::share;
use stapo_result::groups::{PartInfluence, WithinGroups};

/// Place of the advantage and of the length among the values of a response; parts follow.
const ADVANTAGE: usize = 0;
const LENGTH: usize = 1;
const FIRST_PART: usize = 2;

/// Sums of products of centred values.
struct Moments {
    products: Vec<Vec<f64>>,
    responses: u64,
    groups: u64,
}

impl Moments {
    fn of(kept: &Siblings, parts: usize) -> Self {
        let size = FIRST_PART + parts;
        let mut moments = Self { products: vec![vec![0.0; size]; size], responses: 0, groups: 0 };
        kept.groups.values().for_each(|group| moments.add(&group.siblings));
        moments
    }

    fn add(&mut self, siblings: &[Sibling]) {
        let values = |s: &Sibling| -> Option<Vec<f64>> {
            let parts = s.parts.iter().map(|part| f64::from(*part));
            let all: Vec<f64> =
                [f64::from(s.advantage), f64::from(s.trained)].into_iter().chain(parts).collect();
            all.iter().all(|value| value.is_finite()).then_some(all)
        };
        let rows: Vec<Vec<f64>> = siblings.iter().filter_map(values).collect();
        if rows.len() < 2 {
            return;
        }
        let n = rows.len() as f64;
        let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / n;
        let means: Vec<f64> = (0..self.products.len()).map(mean).collect();
        for row in &rows {
            for (i, products) in self.products.iter_mut().enumerate() {
                for (j, product) in products.iter_mut().enumerate() {
                    *product += (row[i] - means[i]) * (row[j] - means[j]);
                }
            }
        }
        self.responses += rows.len() as u64;
        self.groups += 1;
    }

    fn correlation(&self, i: usize, j: usize) -> Option<f64> {
        share(self.products[i][j], (self.products[i][i] * self.products[j][j]).sqrt())
    }

    /// The coefficients of the advantage on all parts with variance, and the share of its variance that
    /// they explain together.
    fn regression(&self) -> (Vec<Option<f64>>, Option<f64>) {
        let size = self.products.len();
        let used: Vec<usize> = (FIRST_PART..size).filter(|i| self.products[*i][*i] > 0.0).collect();
        let matrix: Vec<Vec<f64>> =
            used.iter().map(|i| used.iter().map(|j| self.products[*i][*j]).collect()).collect();
        let right: Vec<f64> = used.iter().map(|i| self.products[*i][ADVANTAGE]).collect();
        let solved = solve(matrix, right.clone());
        let explained = solved.as_ref().and_then(|beta| {
            let sum: f64 = beta.iter().zip(&right).map(|(beta, right)| beta * right).sum();
            share(sum, self.products[ADVANTAGE][ADVANTAGE])
        });
        let coefficient = |i: usize| {
            let at = used.iter().position(|used| *used == i)?;
            solved.as_ref().map(|beta| beta[at])
        };
        ((FIRST_PART..size).map(coefficient).collect(), explained)
    }
}

/// Solves a small symmetric system; `None` where parts depend on each other.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        let size = matrix.iter().flatten().fold(0.0_f64, |size, value| size.max(value.abs()));
        if matrix[pivot][column].abs() <= 1e-12 * size {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            let pivot_row = matrix[column].clone();
            matrix[row].iter_mut().zip(&pivot_row).skip(column).for_each(|(a, b)| *a -= factor * b);
            right[row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|i| matrix[row][i] * right[i]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

/// What moves the advantage inside of groups; `None` where no group has two responses.
pub fn within_groups(kept: &Siblings, parts: &[String]) -> Option<WithinGroups> {
    let moments = Moments::of(kept, parts.len());
    if moments.groups == 0 {
        return None;
    }
    let (coefficients, explained) = moments.regression();
    let part = |(number, name): (usize, &String)| {
        let i = FIRST_PART + number;
        let other = |(number, other): (usize, &String)| {
            let correlation = moments.correlation(i, FIRST_PART + number)?;
            (other != name).then(|| (other.clone(), correlation))
        };
        PartInfluence {
            name: name.clone(),
            variance: share(moments.products[i][i], (moments.responses - moments.groups) as f64)
                .unwrap_or(0.0),
            coefficient: coefficients[number],
            advantage_share: moments.correlation(ADVANTAGE, i).map(|r| r * r),
            correlations: parts.iter().enumerate().filter_map(other).collect(),
        }
    };
    Some(WithinGroups {
        groups: moments.groups,
        exact: kept.level() == 0,
        advantage_length_correlation: moments.correlation(ADVANTAGE, LENGTH),
        advantage_explained: explained.filter(|_| !parts.is_empty()),
        parts: parts.iter().enumerate().map(part).collect(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn small_systems_are_solved() {
        let found = solve(vec![vec![2.0, 1.0], vec![1.0, 3.0]], vec![5.0, 10.0]).unwrap();
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12);
        assert_eq!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 2.0]), None);
        assert_eq!(solve(Vec::new(), Vec::new()), Some(Vec::new()));
    }
}
