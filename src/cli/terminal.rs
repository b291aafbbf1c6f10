//! What is written to the terminal: nothing that moves the cursor, and colour where it is wanted.

use std::io::{self, IsTerminal};

#[cfg(unix)]
use rustix::fd::AsFd;

/// Untrusted text made safe for a terminal: control characters are shown, not sent.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { format!("\\u{{{:x}}}", c as u32) } else { c.to_string() }).collect()
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Colours(bool);

impl Colours {
    /// Colours where stdout is a terminal and nobody asked for none (<https://no-color.org>).
    pub fn of_stdout() -> Self {
        let asked_for_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(io::stdout().is_terminal() && !asked_for_none && !dumb)
    }

    /// Whether there are any.
    pub fn any(self) -> bool {
        self.0
    }

    /// A text in the colour of an ANSI code, where there are colours.
    pub fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Columns of stdout, where it is a terminal.
pub fn columns() -> Option<usize> {
    width(&io::stdout())
}

/// Columns of stderr, where it is a terminal.
pub fn columns_of_stderr() -> Option<usize> {
    width(&io::stderr())
}

#[cfg(unix)]
fn width(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Only Unix tells.
#[cfg(not(unix))]
fn width<S>(_: &S) -> Option<usize> {
    None
}

/// `text` behind `lead`, broken between words where `columns` end; later lines begin at column
/// `indent`, or earlier where that leaves too little room. One line where there is no terminal.
pub fn paragraph(lead: &str, text: &str, indent: usize, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| *columns >= NARROWEST) else {
        return format!("{lead}{text}");
    };
    let indent = indent.min(columns - NARROWEST);
    let mut out = lead.to_owned();
    let (mut at, mut is_first) = (shown_width(lead), true);
    for word in words(text) {
        let width = word.chars().count();
        if is_first {
            is_first = false;
        } else if at + 1 + width > columns {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += width;
    }
    out
}

/// Columns that a text must have to be worth breaking.
const NARROWEST: usize = 24;

/// The words of a text; a number keeps its per cent sign.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let end = all.match_indices(' ').map(|(at, _)| at).find(|at| !all[at + 1..].starts_with('%'));
        rest = end.map(|at| &all[at + 1..]);
        Some(&all[..end.unwrap_or(all.len())])
    })
}

/// Columns of a text without its colours.
fn shown_width(text: &str) -> usize {
    let mut shown = 0;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\x1b' {
            letters.by_ref().find(|c| *c == 'm');
        } else {
            shown += 1;
        }
    }
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_broken_between_words() {
        let text = "one two three four five six seven";
        assert_eq!(paragraph("a: ", text, 2, None), format!("a: {text}"));
        let broken = paragraph("\x1b[31ma:\x1b[0m ", text, 2, Some(26));
        assert_eq!(broken, "\x1b[31ma:\x1b[0m one two three four five\n  six seven");
        assert!(broken.lines().skip(1).all(|line| line.chars().count() <= 26));
        // A terminal that is narrower than words are is left to break lines itself.
        assert_eq!(paragraph("", text, 9, Some(20)), text);
        // A deep indent gives way.
        assert_eq!(paragraph("", text, 29, Some(30)), "one two three four five six\n      seven");
        // A number keeps its sign.
        let share = "they carry 0.35 % (of it)";
        assert_eq!(paragraph("", share, 0, Some(24)), "they carry 0.35 % (of\nit)");
        assert_eq!(paragraph("a text: ", share, 0, Some(24)), "a text: they carry\n0.35 % (of it)");
    }

    #[test]
    fn colours_are_left_out_where_nobody_sees_them() {
        assert_eq!(Colours(false).paint("31", "damage"), "damage");
        assert_eq!(Colours(true).paint("31", "damage"), "\x1b[31mdamage\x1b[0m");
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\x1b[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    }
}
