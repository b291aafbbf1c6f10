//! Sums over groups of one series by slice and step.

use super::range::{Distribution, Range};
use stapo_evidence::series::GroupValues;

/// Values of one series by group, of the steps that are judged.
pub struct Column<'a> {
    /// Steps with a value, ascending.
    pub steps: Vec<i64>,
    /// Slices with a value, ascending.
    pub slices: Vec<&'a str>,
    groups: Vec<ColumnGroup>,
}

struct ColumnGroup {
    step: usize,
    slice: usize,
    values: Vec<(f64, u64)>,
}

impl<'a> Column<'a> {
    pub fn new(groups: &[GroupValues<'a>], series: usize) -> Self {
        let with_values: Vec<(&GroupValues<'a>, Vec<(f64, u64)>)> = groups
            .iter()
            .map(|group| {
                (group, group.of(series).map(|(v, n)| (f64::from(v), u64::from(n))).collect::<Vec<_>>())
            })
            .filter(|(_, values)| !values.is_empty())
            .collect();
        let steps = distinct(with_values.iter().map(|(group, _)| group.step));
        let slices = distinct(with_values.iter().map(|(group, _)| group.slice));
        let groups = with_values
            .into_iter()
            .map(|(group, values)| ColumnGroup {
                step: steps.partition_point(|step| *step < group.step),
                slice: slices.partition_point(|slice| *slice < group.slice),
                values,
            })
            .collect();
        Self { steps, slices, groups }
    }

    pub fn distribution(&self) -> Distribution {
        Distribution::new(self.groups.iter().flat_map(|group| group.values.iter().copied()).collect())
    }

    /// Values of each step and how often they came, groups put together.
    pub fn by_step(&self) -> Vec<Distribution> {
        let mut values = vec![Vec::new(); self.steps.len()];
        self.groups.iter().for_each(|group| values[group.step].extend_from_slice(&group.values));
        values.into_iter().map(Distribution::new).collect()
    }
}

/// Ascending, each once.
pub fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// A number for every slice and step.
pub type Grid = Vec<Vec<f64>>;

/// Sums over groups by slice and step, of values drawn in to the range of the run.
pub struct Sums {
    pub steps: Vec<i64>,
    /// Number of groups.
    pub groups: Grid,
    /// Number of responses.
    pub responses: Grid,
    /// Σ of the groups' means.
    pub means: Grid,
    /// Σ of their squares.
    pub squares: Grid,
    /// Share of the responses, by slice.
    pub weights: Vec<f64>,
    /// Values by slice.
    pub values: Vec<Distribution>,
}

impl Sums {
    pub fn new(column: &Column<'_>, range: &Range) -> Self {
        let grid = || vec![vec![0.0; column.steps.len()]; column.slices.len()];
        let (mut groups, mut responses, mut means, mut squares) = (grid(), grid(), grid(), grid());
        let mut values = vec![Vec::new(); column.slices.len()];
        for group in &column.groups {
            let (mut sum, mut count) = (0.0, 0.0);
            for (value, n) in &group.values {
                let value = range.draw_in(*value);
                sum += value * *n as f64;
                count += *n as f64;
                values[group.slice].push((value, *n));
            }
            let mean: f64 = sum / count;
            groups[group.slice][group.step] += 1.0;
            responses[group.slice][group.step] += count;
            means[group.slice][group.step] += mean;
            squares[group.slice][group.step] += mean * mean;
        }
        let of_slice: Vec<f64> = responses.iter().map(|row| row.iter().sum()).collect();
        let all: f64 = of_slice.iter().sum();
        Self {
            steps: column.steps.clone(),
            groups,
            responses,
            means,
            squares,
            weights: of_slice.iter().map(|n| n / all).collect(),
            values: values.into_iter().map(Distribution::new).collect(),
        }
    }

    /// Mean of each step over the slices that it has, by the run's weights.
    pub fn course(&self, slices: &[usize]) -> Vec<f64> {
        (0..self.steps.len())
            .map(|step| {
                let (mut sum, mut weight) = (0.0, 0.0);
                for &slice in slices.iter().filter(|slice| self.groups[**slice][step] > 0.0) {
                    sum += self.weights[slice] * self.means[slice][step] / self.groups[slice][step];
                    weight += self.weights[slice];
                }
                if weight > 0.0 { sum / weight } else { f64::NAN }
            })
            .collect()
    }
}
