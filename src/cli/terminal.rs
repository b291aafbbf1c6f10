//! What is written to the terminal: nothing that moves the cursor, and colour where it is wanted.

use std::io::{self, IsTerminal};

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

/// Columns of stdout, where it is a terminal.
#[cfg(unix)]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns of stdout, where it is a terminal that tells.
#[cfg(not(unix))]
pub fn columns() -> Option<usize> {
    None
}

/// `text` behind `lead`, broken between words where `columns` end; later lines begin at column
/// `indent`. One line where there is no terminal.
pub fn paragraph(lead: &str, text: &str, indent: usize, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| *columns >= indent + NARROWEST) else {
        return format!("{lead}{text}");
    };
    let mut out = lead.to_owned();
    let (mut at, mut is_first) = (shown_width(lead), true);
    for word in text.split(' ') {
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

/// A warning and what to do about it.
pub fn warning(message: &str, hint: &str, columns: Option<usize>) -> String {
    let (message, hint) = (visible(message), visible(hint));
    let line = |lead: &str, text: &str| paragraph(lead, text, 9, columns);
    format!("{}\n{}", line("warning: ", &message), line("   hint: ", &hint))
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
        // Nothing fits between an indent and the end of a very narrow terminal.
        assert_eq!(paragraph("", text, 9, Some(20)), text);
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\x1b[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    }
}
