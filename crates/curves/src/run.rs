//! A run out of the rows of a file: which rows count, which column is the step, which of several names is the number.

use std::collections::BTreeMap;

use stapo_base::format::counted;

use crate::curves::{CurveRun, Series};
use crate::math::{median, unique};
use crate::names::{CanonicalName, normalised};
use crate::table::{Column, Table};

/// A start of fewer rows than this gives way to one that has as many.
const STUB: usize = 10;
/// Restarts that are told one by one.
const TOLD: usize = 3;
/// Values of a part of the reward, at least.
const PART: usize = 4;

/// The runs of a table, those without a curve left out.
pub(crate) fn runs(table: &Table<'_>) -> Vec<CurveRun> {
    if table.runs.is_empty() {
        return Rows::of(table, None).run(String::new()).into_iter().collect();
    }
    let all = table.runs.iter().enumerate();
    all.filter_map(|(at, name)| Rows::of(table, Some(at)).run(name.clone())).collect()
}

/// The rows and columns of one run.
struct Rows<'t> {
    table: &'t Table<'t>,
    columns: Vec<&'t Column>,
    /// Whether a row is of this run.
    of_run: Option<Vec<bool>>,
    notes: Vec<String>,
}

impl<'t> Rows<'t> {
    fn of(table: &'t Table<'t>, run: Option<usize>) -> Self {
        let columns =
            table.columns.iter().filter(|column| column.run.is_none() || column.run == run).collect();
        let of_run = (run.is_some() && !table.run_of_row.is_empty()).then(|| {
            (0..table.rows as usize).map(|row| table.run_of_row.get(row).copied().flatten() == run).collect()
        });
        Self { table, columns, of_run, notes: table.notes.clone() }
    }

    fn all(&self, name: CanonicalName) -> Vec<&'t Column> {
        self.columns.iter().copied().filter(|c| c.role.is_some_and(|role| role.0 == name)).collect()
    }

    /// Row and value of a column's finite cells.
    fn finite(&self, column: &'t Column) -> impl Iterator<Item = (usize, f64)> {
        column.cells.iter().filter(|cell| cell.1.is_finite()).map(|cell| (cell.0 as usize, cell.1))
    }

    /// The column of a number: the best name, but one that is hardly filled gives way.
    fn best(&self, name: CanonicalName) -> Option<&'t Column> {
        self.best_of(self.all(name))
    }

    fn best_of(&self, columns: Vec<&'t Column>) -> Option<&'t Column> {
        let filled: Vec<(&Column, usize)> =
            columns.into_iter().map(|c| (c, c.finite())).filter(|(_, count)| *count > 0).collect();
        let most = filled.iter().map(|(_, count)| *count).max()?;
        let rank = |column: &Column| column.role.map_or(usize::MAX, |role| role.1);
        let best = filled.iter().min_by_key(|(c, count)| (2 * count < most, rank(c), c.name.len()));
        best.map(|(column, _)| *column)
    }

    /// The step column: a clock goes back where a run starts again, not each fourth row.
    fn clock(&self) -> Option<&'t Column> {
        let goes_on = |column: &&Column| {
            let steps: Vec<f64> = self.finite(column).map(|(_, step)| step).collect();
            4 * steps.windows(2).filter(|w| w[1] < w[0]).count() <= steps.len()
        };
        self.best_of(self.all(CanonicalName::Step).into_iter().filter(goes_on).collect())
    }

    /// The step of each row; NaN where there is none.
    fn steps(&mut self, column: Option<&'t Column>) -> Vec<f64> {
        let rows = self.table.rows as usize;
        let Some(column) = column else {
            self.notes.push("no step: rows counted".into());
            return (1..=self.table.rows).map(f64::from).collect();
        };
        let mut steps = vec![f64::NAN; rows];
        for (row, step) in self.finite(column) {
            steps[row] = step;
        }
        steps
    }

    /// Rows with a step and a number that are no summary.
    fn kept(&mut self, steps: &[f64], step_column: Option<&'t Column>) -> Vec<usize> {
        let mut keep = vec![false; steps.len()];
        for column in self.columns.iter().filter(|column| column.is_curve()) {
            for (row, _) in self.finite(column) {
                keep[row] = steps[row].is_finite() && self.of_run.as_ref().is_none_or(|of_run| of_run[row]);
            }
        }
        for summary in self.all(CanonicalName::Summary) {
            for (row, _) in self.finite(summary) {
                keep[row] = false;
            }
        }
        let rows: Vec<usize> = (0..keep.len()).filter(|row| keep[*row]).collect();
        if self.last_is_shifted(&rows, step_column) {
            self.notes.push("last row is short or shifted: left out".into());
            return rows[..rows.len() - 1].to_vec();
        }
        rows
    }

    /// A row whose first cells alone are filled, at most half as many as usual: values stand in other columns.
    fn last_is_shifted(&self, kept: &[usize], step_column: Option<&Column>) -> bool {
        let Some(&last) = kept.last() else { return false };
        let first_is_step = match (step_column, self.table.columns.first()) {
            (Some(step), Some(first)) => std::ptr::eq(step, first),
            _ => false,
        };
        let filled = &self.table.filled;
        if filled.len() <= 4 || last + 1 != filled.len() || !self.table.last_is_prefix || !first_is_step {
            return false;
        }
        // Columns of a JSON object fill no rows.
        if filled[last] == 0 {
            return false;
        }
        let usual: Vec<f64> = kept.iter().map(|row| f64::from(filled[*row])).collect();
        f64::from(filled[last]) <= 0.5 * median(&usual)
    }

    fn run(mut self, name: String) -> Option<CurveRun> {
        use CanonicalName as N;
        if !self.columns.iter().any(|column| column.is_curve()) {
            return None;
        }
        let step_column = self.clock();
        let steps = self.steps(step_column);
        let kept = self.kept(&steps, step_column);
        let (kept, mut notes) = one_start(&kept, &steps);
        notes.splice(0..0, std::mem::take(&mut self.notes));
        let grid = Grid::of(&kept, &steps);
        let mut series = BTreeMap::new();
        for name in SINGLE {
            if let Some(column) = self.best(name) {
                series.insert(name, self.series(column, &grid, &mut notes));
            }
        }
        self.add_dead_groups(&mut series, &grid);
        let reward = series.get(&N::Reward).map(|reward: &Series| reward.column.clone());
        let mut parts: Vec<Series> =
            self.all(N::Part).into_iter().map(|column| self.series(column, &grid, &mut notes)).collect();
        for column in self.all(N::Reward) {
            let twice = matches!(normalised(&column.name).as_str(), "critic_rewards_mean" | "rewards_mean");
            if Some(&column.name) != reward.as_ref() && !twice {
                parts.push(self.series(column, &grid, &mut notes));
            }
        }
        parts.retain(|part| part.values.len() >= PART);
        let mut held_out: Vec<Series> =
            self.all(N::HeldOut).into_iter().map(|column| self.series(column, &grid, &mut notes)).collect();
        without_fillings(&mut held_out);
        held_out.retain(|score| !score.values.is_empty());
        self.tell_texts(&mut notes);
        let mut unknown = self.table.unknown();
        unknown.sort();
        Some(CurveRun {
            name,
            not_finite: self.not_finite(&grid, &steps),
            from_start: self.begins_training(&grid, step_column.is_some()),
            steps: grid.steps,
            series,
            parts,
            held_out,
            unknown,
            notes,
        })
    }

    /// Of equal steps the first value counts; later rows fill what is empty.
    fn series(&self, column: &Column, grid: &Grid, notes: &mut Vec<String>) -> Series {
        let mut steps: Vec<f64> = Vec::with_capacity(column.cells.len());
        let mut values = Vec::with_capacity(column.cells.len());
        let mut cells = column.cells.iter().filter(|cell| cell.1.is_finite()).peekable();
        // A resumed run drops rows, so both lists of rows are ascending.
        for (row, at) in &grid.rows {
            while cells.peek().is_some_and(|cell| (cell.0 as usize) < *row) {
                cells.next();
            }
            if let Some(cell) = cells.next_if(|cell| cell.0 as usize == *row) {
                let step = grid.steps[*at];
                if steps.last() != Some(&step) {
                    steps.push(step);
                    values.push(cell.1);
                }
            }
        }
        let series = Series { column: column.name.clone(), steps, values };
        series.without_repeats(notes)
    }

    /// Tinker's groups without signal: all good and all bad.
    fn add_dead_groups(&self, series: &mut BTreeMap<CanonicalName, Series>, grid: &Grid) {
        let Some(dead) = series.get_mut(&CanonicalName::DeadGroups) else { return };
        if !normalised(&dead.column).contains("by_group") {
            return;
        }
        let mut sums = vec![0.0; grid.steps.len()];
        for column in self.all(CanonicalName::DeadGroups) {
            let part = self.series(column, grid, &mut Vec::new());
            for (sum, value) in sums.iter_mut().zip(part.at(&grid.steps)) {
                *sum += value;
            }
        }
        (dead.steps, dead.values) = (grid.steps.clone(), sums);
    }

    /// The step from which on a number is there and never finite again, for three rows at least.
    fn not_finite(&self, grid: &Grid, steps: &[f64]) -> Vec<(CanonicalName, f64)> {
        use CanonicalName::{GradNorm, Kl, Loss, Reward};
        let mut found = Vec::new();
        for name in [Loss, GradNorm, Reward, Kl] {
            for column in self.all(name) {
                let mut cells = column.cells.iter().peekable();
                let mut rows: Vec<(usize, bool)> = Vec::new();
                for (row, _) in &grid.rows {
                    while cells.peek().is_some_and(|cell| (cell.0 as usize) < *row) {
                        cells.next();
                    }
                    if let Some(cell) = cells.next_if(|cell| cell.0 as usize == *row) {
                        rows.push((*row, cell.1.is_finite()));
                    }
                }
                let finite = rows.iter().rposition(|row| row.1).map_or(0, |at| at + 1);
                if finite > 0 && rows.len() - finite >= 3 {
                    found.retain(|(known, _)| *known != name);
                    found.push((name, steps[rows[finite].0]));
                }
            }
        }
        found
    }

    /// Whether the log begins with the training: its first row is at step 0 or 1, or one interval of rows from 0.
    fn begins_training(&self, grid: &Grid, has_step: bool) -> bool {
        let epoch = if has_step { None } else { self.all(CanonicalName::Epoch).into_iter().next() };
        let clock = match epoch {
            None => grid.steps.clone(),
            Some(epoch) => {
                let rows: BTreeMap<usize, f64> = self.finite(epoch).collect();
                unique(grid.rows.iter().filter_map(|(row, _)| rows.get(row).copied()).collect())
            }
        };
        let intervals: Vec<f64> = clock.windows(2).map(|w| w[1] - w[0]).collect();
        let least = if has_step { 1.0 } else { 0.0 };
        !intervals.is_empty() && clock[0] <= f64::max(least, 1.5 * median(&intervals))
    }

    /// Texts where numbers should be, with the place of the first.
    fn tell_texts(&self, notes: &mut Vec<String>) {
        for column in &self.columns {
            if let (count, Some((row, text))) = &column.texts {
                let (name, line) = (&column.name, row + 1);
                let values =
                    counted(u64::from(*count), "value that is no number", "values that are no numbers");
                notes.push(format!("column `{name}`: {values}; the first in row {line}: `{text}`"));
            }
        }
    }
}

/// Held-out scores that are 0 wherever a sparser one is empty were not measured there.
fn without_fillings(scores: &mut [Series]) {
    let sparsest = scores.iter().filter(|score| score.steps.len() >= 3).min_by_key(|score| score.steps.len());
    let Some(steps) = sparsest.map(|score| score.steps.clone()) else { return };
    let is_measured = |step: f64| steps.binary_search_by(|known| known.total_cmp(&step)).is_ok();
    for score in scores.iter_mut().filter(|score| score.steps.len() >= 2 * steps.len()) {
        let rows = || score.steps.iter().copied().zip(score.values.iter().copied());
        if rows().all(|(step, value)| value == 0.0 || is_measured(step)) {
            (score.steps, score.values) = rows().filter(|(step, _)| is_measured(*step)).unzip();
        }
    }
}

/// Numbers with one column each.
const SINGLE: [CanonicalName; 14] = [
    CanonicalName::Truncated,
    CanonicalName::ClipFraction,
    CanonicalName::DeadGroups,
    CanonicalName::Kl,
    CanonicalName::KlStep,
    CanonicalName::KlGap,
    CanonicalName::Entropy,
    CanonicalName::Length,
    CanonicalName::GradNorm,
    CanonicalName::RewardMax,
    CanonicalName::RewardMin,
    CanonicalName::RewardStd,
    CanonicalName::Reward,
    CanonicalName::Loss,
];

/// The steps of a run, and of each row that counts which of them it is.
struct Grid {
    steps: Vec<f64>,
    rows: Vec<(usize, usize)>,
}

impl Grid {
    fn of(kept: &[usize], steps: &[f64]) -> Self {
        let mut grid = Self { steps: Vec::new(), rows: Vec::new() };
        for row in kept {
            if grid.steps.last() != Some(&steps[*row]) {
                grid.steps.push(steps[*row]);
            }
            grid.rows.push((*row, grid.steps.len() - 1));
        }
        grid
    }
}

/// Of several starts in one file the last is the run, stubs aside; a later first step is a run taken up again, and
/// what the run before had beyond it was thrown away. The rows that count, and notes about the others.
fn one_start(kept: &[usize], steps: &[f64]) -> (Vec<usize>, Vec<String>) {
    let mut starts: Vec<&[usize]> = kept.chunk_by(|a, b| steps[*a] <= steps[*b]).collect();
    if starts.len() < 2 {
        return (kept.to_vec(), Vec::new());
    }
    // Starts with what was taken up again from them.
    let mut runs: Vec<(Vec<usize>, Vec<String>)> = vec![(starts.remove(0).to_vec(), Vec::new())];
    for start in starts {
        let first = steps[start[0]];
        match runs.last_mut() {
            Some((run, resumed)) if first > steps[run[0]] + 1.0 => {
                while run.last().is_some_and(|row| steps[*row] >= first) {
                    run.pop();
                }
                run.extend_from_slice(start);
                resumed.push(first.to_string());
            }
            _ => runs.push((start.to_vec(), Vec::new())),
        }
    }
    let last = runs.iter().rposition(|(run, _)| run.len() >= STUB).unwrap_or(runs.len() - 1);
    let (run, resumed) = runs.remove(last);
    let left_out = runs.iter().filter_map(|(run, _)| {
        let rows = counted(run.len() as u64, "row", "rows");
        Some(format!("{rows} ({}..{})", steps[*run.first()?], steps[*run.last()?]))
    });
    let left_out = left_out.collect();
    let told = |what: &str, places: Vec<String>| {
        let more = places.len().saturating_sub(TOLD);
        let first = places[..places.len().min(TOLD)].join(", ");
        match (places.len(), more) {
            (0, _) => None,
            (_, 0) => Some(format!("{what} {first}")),
            (_, more) => Some(format!("{what} {first} and {more} more")),
        }
    };
    let notes = [told("resumed at step", resumed), told("other starts left out:", left_out)];
    (run, notes.into_iter().flatten().collect())
}
