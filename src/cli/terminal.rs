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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\x1b[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    }
}
