//! A frame for a terminal: columns as wide as needed, numbers with three significant digits.

use std::io::{self, Write};

use polars::prelude::{AnyValue, Column, DataFrame};

use crate::format::number;

/// Writes a frame without the columns of `spare`, the first of them first, until it fits into `columns`.
pub fn write_within(
    frame: &DataFrame,
    right: &[&str],
    spare: &[&str],
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |gone: &[&str]| -> usize {
        let kept = frame.columns().iter().filter(|column| !gone.contains(&column.name().as_str()));
        kept.map(|column| widest(&cells(column)) + 2).sum()
    };
    let fits = |dropped: &usize| columns.is_none_or(|most| width(&spare[..*dropped]) <= most);
    let dropped = (0..=spare.len()).find(fits).unwrap_or(spare.len());
    write_without(frame, right, &spare[..dropped], out)
}

/// Writes a frame, indented by two. Numbers and the columns named in `right` are aligned to the
/// right.
pub fn write(frame: &DataFrame, right: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write_without(frame, right, &[], out)
}

fn write_without(frame: &DataFrame, right: &[&str], gone: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let kept = || frame.columns().iter().filter(|column| !gone.contains(&column.name().as_str()));
    let columns: Vec<Vec<String>> = kept().map(cells).collect();
    let widths: Vec<usize> = columns.iter().map(|column| widest(column)).collect();
    let to_right: Vec<bool> =
        kept().map(|column| column.dtype().is_numeric() || right.contains(&column.name().as_str())).collect();
    for row in 0..=frame.height() {
        let mut line = String::new();
        for (c, column) in columns.iter().enumerate() {
            let pad = " ".repeat(widths[c].saturating_sub(column[row].chars().count()));
            line.push_str("  ");
            line.push_str(&if to_right[c] {
                format!("{pad}{}", column[row])
            } else {
                format!("{}{pad}", column[row])
            });
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
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
        assert_eq!(written(Some(3)), "  name\n  ab\n");
    }
}
