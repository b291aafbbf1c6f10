//! Several files of one run: other columns of the same steps (one metric a file), or the run taken up again.

use std::collections::HashMap;

use stapo_base::error::Result;

use crate::names::CanonicalName;
use crate::table::{Column, Table};

/// A column by its name and the name of its run.
type Key<'a> = (&'a str, Option<&'a str>);

fn key<'a>(table: &'a Table<'_>, column: &'a Column) -> Key<'a> {
    (&column.name, column.run.and_then(|run| table.runs.get(run)).map(String::as_str))
}

/// The step column with most numbers.
fn step_column<'t>(table: &'t Table<'_>) -> Option<(usize, &'t Column)> {
    let steps =
        table.columns.iter().enumerate().filter(|(_, c)| c.role.is_some_and(|r| r.0 == CanonicalName::Step));
    steps.rev().max_by_key(|(_, column)| column.finite())
}

/// Puts the rows of `more` behind those of `table`; where both log other numbers, rows are ordered by their steps.
pub(crate) fn append<'n>(table: &mut Table<'n>, more: &Table<'n>) -> Result<()> {
    let places: HashMap<(String, Option<String>), usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let (name, run) = key(table, column);
            ((name.to_owned(), run.map(str::to_owned)), at)
        })
        .collect();
    let shared = |column: &&Column| {
        let (name, run) = key(more, column);
        column.is_curve() && places.contains_key(&(name.to_owned(), run.map(str::to_owned)))
    };
    let apart = !more.columns.iter().any(|column| shared(&column));
    // The clocks of two files are one, whatever they are called.
    let steps = (step_column(table).map(|s| s.0), step_column(more).map(|s| s.0));
    let offset = table.rows;
    for _ in 0..more.rows {
        table.start_row()?;
    }
    let start = offset as usize;
    table.filled[start..].copy_from_slice(&more.filled);
    for (at, column) in more.columns.iter().enumerate() {
        let (name, run) = key(more, column);
        let place = match steps {
            (Some(own), Some(other)) if other == at => own,
            _ => match places.get(&(name.to_owned(), run.map(str::to_owned))) {
                Some(place) => *place,
                None => table.add_column(name, run)?,
            },
        };
        for (row, value) in &column.cells {
            table.put_at(place, row + offset, crate::table::Cell::Number(*value))?;
        }
    }
    for (row, run) in more.run_of_row.iter().enumerate() {
        if let Some(name) = run.and_then(|run| more.runs.get(run)) {
            table.set_run(start + row, name)?;
        }
    }
    table.notes.extend(more.notes.iter().cloned());
    table.last_is_prefix = more.last_is_prefix;
    if apart {
        sort_by_step(table);
    }
    Ok(())
}

fn sort_by_step(table: &mut Table<'_>) {
    let Some((_, clock)) = step_column(table) else { return };
    let mut steps = vec![f64::INFINITY; table.rows as usize];
    for (row, step) in &clock.cells {
        if step.is_finite() {
            steps[*row as usize] = *step;
        }
    }
    let mut order: Vec<u32> = (0..table.rows).collect();
    order.sort_by(|a, b| steps[*a as usize].total_cmp(&steps[*b as usize]));
    let mut place = vec![0_u32; order.len()];
    for (to, from) in (0..).zip(&order) {
        place[*from as usize] = to;
    }
    for column in &mut table.columns {
        for cell in &mut column.cells {
            cell.0 = place[cell.0 as usize];
        }
        column.cells.sort_by_key(|cell| cell.0);
    }
    table.filled = order.iter().map(|row| table.filled[*row as usize]).collect();
    if !table.run_of_row.is_empty() {
        table.run_of_row.resize(order.len(), None);
        table.run_of_row = order.iter().map(|row| table.run_of_row[*row as usize]).collect();
    }
    table.last_is_prefix = false;
}
