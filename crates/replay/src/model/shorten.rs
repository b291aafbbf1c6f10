//! Texts of strangers in messages.

/// A stranger's text, short enough for a message.
pub fn shorten(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
