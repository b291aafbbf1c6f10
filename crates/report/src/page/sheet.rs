//! A table of plain text that a page and its Markdown both show.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::words;
use crate::text::{markdown_code, markdown_prose};
use stapo_base::format::none;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a word or two, from the left.
    Text,
    /// Sentences, from the left, in lines.
    Words,
    /// A token.
    Code,
    /// Numbers, to the right.
    Number,
}

impl Kind {
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Text | Self::Code => Some("t"),
            Self::Words => Some("w"),
            Self::Number => None,
        }
    }
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
    marked: bool,
}

impl Sheet {
    /// Without rows; the first column is text, the others are numbers.
    pub fn new<T: AsRef<str>>(columns: &[T]) -> Self {
        let kind = |place| if place == 0 { Kind::Text } else { Kind::Number };
        let columns = columns.iter().enumerate().map(|(place, name)| (name.as_ref().to_owned(), kind(place)));
        Self { columns: columns.collect(), rows: Vec::new() }
    }

    /// Makes a column hold something else.
    #[must_use]
    pub fn with(mut self, kind: Kind, name: &str) -> Self {
        self.columns.iter_mut().filter(|c| c.0 == name).for_each(|c| c.1 = kind);
        self
    }

    /// Adds a row.
    pub fn push(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(Row { cells: cells.into(), ..Row::default() });
    }

    /// Adds a row that stands out where it is `marked`.
    pub fn push_marked(&mut self, cells: impl Into<Vec<String>>, marked: bool) {
        self.rows.push(Row { cells: cells.into(), marked });
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Leaves out columns in which no row has a value.
    #[must_use]
    pub fn without_empty(self) -> Self {
        let dash = none();
        let told = |place: usize| self.rows.iter().any(|r| r.cells.get(place).is_some_and(|c| *c != dash));
        let keep = (0..self.columns.len()).map(told).collect::<Vec<_>>();
        self.keeping(&keep)
    }

    /// With these columns only.
    #[must_use]
    pub fn only(self, columns: &[&str]) -> Self {
        let keep = self.columns.iter().map(|c| columns.contains(&c.0.as_str())).collect::<Vec<_>>();
        self.keeping(&keep)
    }

    fn keeping(mut self, keep: &[bool]) -> Self {
        fn filter<T>(items: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            items.retain(|_| *keep.next().unwrap_or(&true));
        }
        filter(&mut self.columns, keep);
        self.rows.iter_mut().for_each(|row| filter(&mut row.cells, keep));
        self
    }

    /// For the page, in a box of its own that scrolls where the window is narrow.
    #[must_use]
    pub fn html(&self) -> Markup {
        html! {
            div.scroll.table tabindex="0" {
                table {
                    thead {
                        tr {
                            @for (name, kind) in &self.columns {
                                th scope="col" class=(kind.class().unwrap_or("n")) { (name) }
                            }
                        }
                    }
                    tbody { @for row in &self.rows { "\n" (self.row(row)) } }
                }
            }
            "\n"
        }
    }

    fn row(&self, row: &Row) -> Markup {
        let mut cells = row.cells.iter().zip(self.columns.iter().map(|c| c.1));
        let name = cells.next();
        html! {
            tr class=[row.marked.then_some("yes")] {
                @if let Some((name, kind)) = name {
                    th scope="row" {
                        @if row.marked { "≠ " }
                        (cell(name, kind))
                    }
                }
                @for (text, kind) in cells { td class=[kind.class()] { (cell(text, kind)) } }
            }
        }
    }

    /// For the page, under a title that unfolds; `file` is the table in `tables/` that has all of it.
    #[must_use]
    pub fn folded(&self, title: &str, file: Option<&str>, note: &str) -> Markup {
        html! {
            details.table {
                summary { (title) }
                @if let Some(file) = file {
                    p.files { a href={ "tables/" (file) ".parquet" } { "All numbers (Parquet)" } }
                }
                (self.html())
                (words::note(note))
            }
            "\n"
        }
    }

    /// For a Markdown file.
    pub fn markdown(&self, out: &mut String) {
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        };
        line(out, &mut self.columns.iter().map(|c| markdown_prose(&c.0)));
        let rule = |kind| if kind == Kind::Number { "---:" } else { "---" };
        let _ = writeln!(out, "|{}|", self.columns.iter().map(|c| rule(c.1)).collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.columns).enumerate();
            line(
                out,
                &mut cells.map(|(place, (text, (_, kind)))| match kind {
                    Kind::Code => markdown_code(text),
                    _ if place == 0 && row.marked => format!("**{}**", markdown_prose(text)),
                    _ => markdown_prose(text),
                }),
            );
        }
        out.push('\n');
    }
}

fn cell(text: &str, kind: Kind) -> Markup {
    html! { @if kind == Kind::Code { code { (text) } } @else { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(&["name", "count", "never", "rule"]).with(Kind::Words, "rule");
        sheet.push(["a", "1", "–", "p < 1|"].map(String::from));
        sheet.push_marked(["b", "–", "–", "x"].map(String::from), true);
        sheet.without_empty()
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let mut out = String::new();
        sheet().markdown(&mut out);
        assert_eq!(
            out,
            "| name | count | rule |\n|---|---:|---|\n| a | 1 | p &lt; 1\\| |\n| **b** | – | x |\n\n"
        );
    }

    #[test]
    fn nothing_in_a_cell_is_markup() {
        let out = sheet().html().into_string();
        assert!(out.contains("<th scope=\"row\">a</th><td>1</td><td class=\"w\">p &lt; 1|</td>"));
        assert!(out.contains("<tr class=\"yes\"><th scope=\"row\">≠ b</th>"));
    }
}
