//! A frame for a terminal: columns as wide as needed, numbers with three significant digits.

use std::io::{self, Write};

use polars::prelude::{AnyValue, Column, DataFrame};

use crate::format::number;

/// Writes a frame without the columns of `spare`, the first of them first, until it fits into `columns`.
/// Where not even the rest does, a row takes two lines: its name, and its values below.
pub fn write_within(
    frame: &DataFrame,
    right: &[&str],
    spare: &[&str],
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let without = |dropped: usize| Shape::of(frame, right, &spare[..dropped]);
    let fits = |shape: &Shape| columns.is_none_or(|most| shape.width(0) <= most);
    let fits_below = |shape: &Shape| columns.is_none_or(|most| shape.width(1) <= most);
    match (0..=spare.len()).map(without).find(fits) {
        Some(shape) => shape.write(frame.height(), out),
        None => {
            let shape = (0..=spare.len()).map(without).find(fits_below);
            shape.unwrap_or_else(|| without(spare.len())).write_in_two_lines(frame.height(), out)
        }
    }
}

/// Writes a frame, indented by two. Numbers and the columns named in `right` are aligned to the
/// right.
pub fn write(frame: &DataFrame, right: &[&str], out: &mut dyn Write) -> io::Result<()> {
    Shape::of(frame, right, &[]).write(frame.height(), out)
}

/// The columns that are shown, as texts, the header first.
struct Shape(Vec<Shown>);

struct Shown {
    cells: Vec<String>,
    width: usize,
    to_right: bool,
}

impl Shape {
    fn of(frame: &DataFrame, right: &[&str], gone: &[&str]) -> Self {
        let kept = frame.columns().iter().filter(|column| !gone.contains(&column.name().as_str()));
        let shown = kept.map(|column| {
            let (cells, name) = (cells(column), column.name().as_str());
            let to_right = column.dtype().is_numeric() || right.contains(&name);
            Shown { width: widest(&cells), cells, to_right }
        });
        Self(shown.collect())
    }

    /// How wide the columns are from the given one on.
    fn width(&self, from: usize) -> usize {
        self.0.iter().skip(from).map(|column| column.width + 2).sum()
    }

    fn write(&self, height: usize, out: &mut dyn Write) -> io::Result<()> {
        (0..=height).try_for_each(|row| writeln!(out, "{}", self.line(row, 0)))
    }

    fn write_in_two_lines(&self, height: usize, out: &mut dyn Write) -> io::Result<()> {
        let name = |row: usize| self.0.first().map_or("", |column| &column.cells[row]);
        (0..=height).try_for_each(|row| writeln!(out, "  {}\n{}", name(row).trim_end(), self.line(row, 1)))
    }

    fn line(&self, row: usize, from: usize) -> String {
        let mut line = String::new();
        for Shown { cells, width, to_right } in self.0.iter().skip(from) {
            let pad = " ".repeat(width.saturating_sub(cells[row].chars().count()));
            let cell = &cells[row];
            line.push_str("  ");
            line.push_str(&if *to_right { format!("{pad}{cell}") } else { format!("{cell}{pad}") });
        }
        line.trim_end().to_owned()
    }
}

fn widest(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// The header and the values of a column.
fn cells(column: &Column) -> Vec<String> {
    let value = |row: usize| match column.get(row).unwrap_or(AnyValue::Null) {
        AnyValue::String(text) => text.to_owned(),
        // What a column of one row gives.
        AnyValue::StringOwned(text) => text.to_string(),
        AnyValue::Int64(value) => value.to_string(),
        AnyValue::UInt64(value) => value.to_string(),
        AnyValue::Float64(value) => number(value),
        AnyValue::Float32(value) => number(f64::from(value)),
        AnyValue::Boolean(value) => if value { "yes" } else { "no" }.to_owned(),
        _ => String::new(),
    };
    std::iter::once(column.name().to_string()).chain((0..column.len()).map(value)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::tables::Columns;

    #[test]
    fn tables_line_up() {
        let rows = [("ab", 1_i64, "x"), ("c", 100, "yy")];
        let frame = Columns::of(&rows).text("name", |r| r.0).int("n", |r| r.1).text("right", |r| r.2).frame();
        let mut out = Vec::new();
        write(&frame, &["right"], &mut out).unwrap();
        let expected = "  name    n  right\n  ab      1      x\n  c     100     yy\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn one_row_has_its_texts() {
        let frame = Columns::of(&[("ab", 1_i64)]).text("name", |r| r.0).int("n", |r| r.1).frame();
        let mut out = Vec::new();
        write(&frame, &[], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  name  n\n  ab    1\n");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let rows = [("ab", 1_i64, "x")];
        let frame = Columns::of(&rows).text("name", |r| r.0).int("n", |r| r.1).text("right", |r| r.2).frame();
        let written = |columns: Option<usize>| {
            let mut out = Vec::new();
            write_within(&frame, &[], &["right", "n"], columns, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(Some(16)), written(None));
        assert_eq!(written(Some(15)), "  name  n\n  ab    1\n");
        assert_eq!(written(Some(6)), "  name\n  ab\n");
    }

    #[test]
    fn what_is_still_too_wide_takes_two_lines_a_row() {
        let rows = [("a long name", 1_i64, "x"), ("b", 100, "yy")];
        let frame = Columns::of(&rows).text("name", |r| r.0).int("n", |r| r.1).text("right", |r| r.2).frame();
        let written = |columns: usize| {
            let mut out = Vec::new();
            write_within(&frame, &["right"], &["right"], Some(columns), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(18), "  name           n\n  a long name    1\n  b            100\n");
        let wide = "  name\n    n  right\n  a long name\n    1      x\n  b\n  100     yy\n";
        assert_eq!(written(17), wide);
        assert_eq!(written(11), "  name\n    n\n  a long name\n    1\n  b\n  100\n");
    }
}
