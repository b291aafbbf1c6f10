//! A table of plain text that the page and `replay.md` both show.

use std::fmt::Write as _;

use crate::report::numbers::none;
use crate::report::text::{escape_xml, markdown_prose};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, from the left.
    Text,
    /// Numbers, to the right.
    Number,
}

/// A table; the first cell of a row names it.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    columns: Vec<(String, Kind)>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    cells: Vec<String>,
    link: Option<String>,
    marked: bool,
}

impl Sheet {
    /// Without rows; the first column is text, the others are numbers.
    pub fn new(columns: &[&str]) -> Self {
        let mut sheet = Self::default();
        for (place, name) in columns.iter().enumerate() {
            sheet.columns.push(((*name).into(), if place == 0 { Kind::Text } else { Kind::Number }));
        }
        sheet
    }

    /// Makes a column hold words.
    pub fn with_text(mut self, name: &str) -> Self {
        self.columns.iter_mut().filter(|c| c.0 == name).for_each(|c| c.1 = Kind::Text);
        self
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<String>) {
        self.rows.push(Row { cells, ..Row::default() });
    }

    /// Adds a row whose name links to a file.
    pub fn push_linked(&mut self, cells: Vec<String>, link: &str) {
        self.rows.push(Row { cells, link: Some(link.into()), marked: false });
    }

    /// Adds a row that stands out where it is `marked`.
    pub fn push_marked(&mut self, cells: Vec<String>, marked: bool) {
        self.rows.push(Row { cells, link: None, marked });
    }

    /// Leaves out columns in which no row has a value.
    pub fn without_empty(mut self) -> Self {
        let dash = none();
        let told: Vec<bool> = (0..self.columns.len())
            .map(|place| self.rows.iter().any(|r| r.cells.get(place).is_some_and(|c| *c != dash)))
            .collect();
        let keep = |place: &mut usize| {
            *place += 1;
            told.get(*place - 1).copied().unwrap_or(true)
        };
        let mut place = 0;
        self.columns.retain(|_| keep(&mut place));
        for row in &mut self.rows {
            let mut place = 0;
            row.cells.retain(|_| keep(&mut place));
        }
        self
    }

    /// Writes it for the page, in a box of its own that scrolls where the window is narrow. `note`
    /// is HTML.
    pub fn html(&self, out: &mut String, note: &str) {
        out.push_str("<div class=\"scroll table\" tabindex=\"0\"><table><thead><tr>");
        for (name, kind) in &self.columns {
            let class = if *kind == Kind::Text { "t" } else { "n" };
            let _ = write!(out, "<th scope=\"col\" class=\"{class}\">{}</th>", escape_xml(name));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str(if row.marked { "<tr class=\"yes\">" } else { "<tr>" });
            for (place, (cell, column)) in row.cells.iter().zip(&self.columns).enumerate() {
                let cell = escape_xml(cell);
                let _ = match (&row.link, place, column.1) {
                    (Some(link), 0, _) => {
                        write!(out, "<th scope=\"row\"><a href=\"{}\">{cell}</a></th>", escape_xml(link))
                    }
                    (None, 0, _) => write!(out, "<th scope=\"row\">{cell}</th>"),
                    (_, _, Kind::Text) => write!(out, "<td class=\"t\">{cell}"),
                    (_, _, Kind::Number) => write!(out, "<td>{cell}"),
                };
            }
            out.push('\n');
        }
        out.push_str("</tbody></table></div>\n");
        if !note.is_empty() {
            let _ = writeln!(out, "<p class=\"note\">{note}</p>");
        }
    }

    /// Writes it for `replay.md`.
    pub fn markdown(&self, out: &mut String) {
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        };
        line(out, &mut self.columns.iter().map(|c| markdown_prose(&c.0)));
        let rule = |kind| if kind == Kind::Text { "---" } else { "---:" };
        let _ = writeln!(out, "|{}|", self.columns.iter().map(|c| rule(c.1)).collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            line(out, &mut row.cells.iter().map(|c| markdown_prose(c)));
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(&["name", "count", "never", "rule"]).with_text("rule");
        sheet.push_linked(["a", "1", "–", "p < 1|"].map(String::from).to_vec(), "a\".parquet");
        sheet.push_marked(["b", "–", "–", "x"].map(String::from).to_vec(), true);
        sheet.without_empty()
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let mut out = String::new();
        sheet().markdown(&mut out);
        assert_eq!(
            out,
            "| name | count | rule |\n|---|---:|---|\n| a | 1 | p &lt; 1\\| |\n| b | – | x |\n\n"
        );
    }

    #[test]
    fn nothing_in_a_cell_is_markup() {
        let mut out = String::new();
        sheet().html(&mut out, "");
        assert!(out.contains(
            "<th scope=\"row\"><a href=\"a&quot;.parquet\">a</a></th><td>1<td class=\"t\">p &lt; 1|"
        ));
        assert!(out.contains("<tr class=\"yes\"><th scope=\"row\">b</th>"));
    }
}
