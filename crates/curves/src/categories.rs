//! Columns of texts with few values: they say what kind of row a row is (`type: eval`), or which run it is of
//! (`arm: grpo`). Which of the two is read off the rows, not off the column's name.

use std::collections::BTreeMap;

use stapo_base::error::Result;

use crate::names::CanonicalName;
use crate::table::{Cell, Table};

/// Values of a category at most, and bytes of one: others are texts of their own.
const VALUES: usize = 64;
const LONGEST: usize = 100;
/// Rows of a run at least.
const ROWS: usize = 4;

/// The texts of a column, as long as they are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Category {
    values: Vec<String>,
    /// Row and value, by row.
    of_rows: Vec<(u32, u8)>,
    broken: bool,
}

impl Category {
    /// Takes a text; too many or too long ones are no category. Whether it is kept.
    pub fn add(&mut self, row: u32, text: &str) -> bool {
        if self.broken || self.of_rows.last().is_some_and(|last| last.0 == row) {
            return false;
        }
        let at = self.values.iter().position(|value| value == text);
        let at = at.or_else(|| {
            let fits = self.values.len() < VALUES && text.len() <= LONGEST;
            fits.then(|| self.values.push(text.to_owned()))?;
            Some(self.values.len() - 1)
        });
        match at.and_then(|at| u8::try_from(at).ok()) {
            Some(at) => self.of_rows.push((row, at)),
            None => *self = Self { broken: true, ..Self::default() },
        }
        !self.broken
    }

    /// Takes a row back.
    pub fn drop_row(&mut self, row: u32) {
        self.of_rows.pop_if(|last| last.0 == row);
    }
}

/// Whether rows of this kind are of held-out prompts: the table of names knows `eval/reward`.
fn is_held_out(table: &Table<'_>, kind: &str) -> bool {
    let role = |name: String| table.names().of(&name).map(|role| role.0);
    role(format!("{kind}/reward")) == Some(CanonicalName::HeldOut)
}

/// Rows of evaluation get names of their own (`eval/reward`); where a category names the runs, rows get their runs.
pub(crate) fn tell_apart(table: &mut Table<'_>) -> Result<()> {
    let all: Vec<Category> =
        table.columns.iter_mut().map(|column| std::mem::take(&mut column.category)).collect();
    for category in all.iter().filter(|category| category.values.len() > 1) {
        let held_out: Vec<bool> = category.values.iter().map(|kind| is_held_out(table, kind)).collect();
        if held_out.contains(&true) && held_out.contains(&false) {
            return rename(table, category, &held_out);
        }
    }
    if !table.runs.is_empty() {
        return Ok(());
    }
    let runs = all.iter().find(|category| category.values.len() > 1 && names_runs(table, category));
    if let Some(category) = runs {
        for (row, at) in &category.of_rows {
            table.set_run(*row as usize, &category.values[usize::from(*at)])?;
        }
    }
    Ok(())
}

/// Moves what rows of evaluation hold into columns of their own.
fn rename(table: &mut Table<'_>, category: &Category, held_out: &[bool]) -> Result<()> {
    let kinds: BTreeMap<u32, u8> =
        category.of_rows.iter().copied().filter(|(_, at)| held_out[usize::from(*at)]).collect();
    for from in 0..table.columns.len() {
        let column = &mut table.columns[from];
        if !column.role.is_some_and(|role| role.0.is_curve() && role.0 != CanonicalName::HeldOut) {
            continue;
        }
        let (moved, kept) = column.cells.iter().partition(|cell| kinds.contains_key(&cell.0));
        column.cells = kept;
        let (name, moved): (String, Vec<(u32, f64)>) = (column.name.clone(), moved);
        for kind in (0_u8..).zip(&category.values).filter(|(at, _)| held_out[usize::from(*at)]) {
            let cells = moved.iter().filter(|cell| kinds.get(&cell.0) == Some(&kind.0));
            let mut cells = cells.peekable();
            if cells.peek().is_some() {
                let to = table.add_column(&format!("{}/{name}", kind.1), None)?;
                for (row, value) in cells {
                    table.put_at(to, *row, Cell::Number(*value))?;
                }
            }
        }
    }
    Ok(())
}

/// A category names runs where the steps ascend within each of its values, and begin anew from value to value.
fn names_runs(table: &Table<'_>, category: &Category) -> bool {
    let is = |name: CanonicalName| {
        move |column: &&crate::table::Column| column.role.is_some_and(|role| role.0 == name)
    };
    let most = |name| table.columns.iter().filter(is(name)).max_by_key(|column| column.cells.len());
    let Some(clock) = most(CanonicalName::Step) else { return false };
    let Some(judged) =
        [CanonicalName::Reward, CanonicalName::HeldOut, CanonicalName::Part].into_iter().find_map(most)
    else {
        return false;
    };
    let kinds: BTreeMap<u32, u8> = category.of_rows.iter().copied().collect();
    let steps: BTreeMap<u32, f64> = clock.cells.iter().copied().collect();
    let mut lasts = vec![(f64::NEG_INFINITY, 0_usize); category.values.len()];
    let (mut last, mut begins_anew) = (f64::NEG_INFINITY, false);
    for (row, _) in &judged.cells {
        let (Some(step), Some(kind)) = (steps.get(row), kinds.get(row)) else { return false };
        let own = &mut lasts[usize::from(*kind)];
        if *step <= own.0 {
            return false;
        }
        begins_anew |= *step <= last;
        *own = (*step, own.1 + 1);
        last = *step;
    }
    begins_anew && lasts.iter().all(|own| own.1 >= ROWS)
}
