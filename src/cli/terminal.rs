//! What is written to the terminal: plain tables, and colour where it is wanted.

use std::io::{self, IsTerminal, Write};

/// Untrusted text made safe for a terminal: control characters are shown, not sent.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { format!("\\u{{{:x}}}", c as u32) } else { c.to_string() }).collect()
}

/// Whether stdout takes colour.
pub fn colours() -> bool {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    wanted && io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|v| v != "dumb")
}

/// Colours a word by an ANSI code where wanted.
pub fn paint(word: &str, code: u8, colours: bool) -> String {
    if colours { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
}

/// A table whose columns are as wide as needed; numbers to the right where `right` says so.
pub struct Table {
    header: Vec<&'static str>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns; a header that starts with `>` is aligned to the right.
    pub fn new(header: &[&'static str]) -> Self {
        Self {
            header: header.iter().map(|h| h.trim_start_matches('>')).collect(),
            right: header.iter().map(|h| h.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes it out, indented by two.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let header: Vec<String> = self.header.iter().map(|h| (*h).to_owned()).collect();
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(c)).chain(header.get(c));
            cells.map(|s| s.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[c].saturating_sub(cell.chars().count()));
                line.push_str("  ");
                line.push_str(&if self.right[c] { format!("{pad}{cell}") } else { format!("{cell}{pad}") });
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\x1b[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    }

    #[test]
    fn tables_line_up() {
        let mut table = Table::new(&["name", ">n"]);
        table.row(vec!["ab".into(), "1".into()]);
        table.row(vec!["c".into(), "100".into()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  name    n\n  ab      1\n  c     100\n");
    }
}
