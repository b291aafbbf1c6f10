//! The numbers behind a chart, as CSV that a spreadsheet may open.

use std::fmt::Write as _;

use super::text::token_label;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text of ours or of the log.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A count.
    Count(u64),
    /// A number; not finite: empty.
    Number(f64),
    /// A number that was logged with 32 bits.
    Single(f32),
    /// No value.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Count(value)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<f32> for Cell {
    fn from(value: f32) -> Self {
        Self::Single(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// A small table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl Into<Vec<Cell>>) {
        self.rows.push(row.into());
    }

    /// The table as CSV.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = self.columns.join(",");
        out.push('\n');
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_cell(&mut out, cell);
            }
            out.push('\n');
        }
        out
    }
}

fn write_cell(out: &mut String, cell: &Cell) {
    let _ = match cell {
        Cell::Text(text) => write!(out, "{}", quoted(text)),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Count(value) => write!(out, "{value}"),
        Cell::Number(value) if value.is_finite() => write!(out, "{value}"),
        Cell::Single(value) if value.is_finite() => write!(out, "{value}"),
        Cell::Number(_) | Cell::Single(_) | Cell::Empty => Ok(()),
    };
}

/// Quoted where needed; an apostrophe before what a spreadsheet would take for a formula.
fn quoted(text: &str) -> String {
    let shown = if text.is_empty() { String::new() } else { token_label(text) };
    let guard = if shown.starts_with(['=', '+', '-', '@', '|', '%']) { "'" } else { "" };
    if guard.is_empty() && !shown.contains([',', '"', '\'', ';']) {
        return shown;
    }
    format!("\"{guard}{}\"", shown.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_and_separators_are_disarmed() {
        let mut table = Table::new(&["token", "n", "share"]);
        table.push([Cell::from("=cmd|' /C calc'!A0"), 3_u64.into(), 0.5.into()]);
        table.push([Cell::from("a,\"b\"\n"), Cell::Empty, f64::NAN.into()]);
        assert_eq!(table.to_csv(), "token,n,share\n\"'=cmd|'␣/C␣calc'!A0\",3,0.5\n\"a,\"\"b\"\"↵\",,\n");
    }
}
