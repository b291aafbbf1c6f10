//! Text from a log is hostile: it is made visible before it is shown, and escaped where it is shown.

use std::fmt::Write as _;

use stapo_base::format::{is_invisible, token_of_id};
use stapo_result::FlaggedToken;

/// Characters of a token that are shown at most.
pub const TOKEN_LIMIT: usize = 60;

/// A token as a label: nothing invisible, blanks as `␣`, cut to [`TOKEN_LIMIT`].
#[must_use]
pub fn token_label(text: &str) -> String {
    if text.is_empty() { "(empty)".into() } else { visible(&text.replace(' ', "␣"), TOKEN_LIMIT) }
}

/// A token by its text or, where that is not known, its id.
#[must_use]
pub fn token_or_id(text: Option<&str>, id: impl std::fmt::Display) -> String {
    text.map_or_else(|| token_of_id(id), token_label)
}

/// The token of a case, by its text or its id.
#[must_use]
pub fn case_token(case: &FlaggedToken) -> String {
    let id = case.token_id.map_or("?".into(), |id| id.to_string());
    token_or_id(case.token.as_deref(), id)
}

/// A token inside of running text: as [`token_label`], but blanks stay.
#[must_use]
pub fn token_in_context(text: &str) -> String {
    visible(text, TOKEN_LIMIT)
}

/// Tokens of a line, shown from left to right as they were sampled: without marks of direction, words of
/// scripts that are written from right to left would change places with their neighbours.
#[must_use]
pub fn in_order(tokens: &[String], gap: &str) -> String {
    let marked = |token: &String| match token.chars().any(is_right_to_left) {
        true => format!("\u{200E}{token}\u{200E}"),
        false => token.clone(),
    };
    tokens.iter().map(marked).collect::<Vec<_>>().join(gap)
}

/// Letters that are written from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC | 0x10800..=0x10FFF
        | 0x1E800..=0x1EFFF)
}

/// What to put between tokens: nothing where they bring their own blanks, else a thin space.
#[must_use]
pub fn token_gap<'a>(tokens: impl IntoIterator<Item = &'a String>) -> &'static str {
    if tokens.into_iter().any(|t| t.contains(char::is_whitespace)) { "" } else { "\u{2009}" }
}

/// A sentence or a name that may quote the log.
#[must_use]
pub fn prose(text: &str) -> String {
    visible(text, 2_000)
}

/// With a capital and a full stop.
#[must_use]
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A passage that keeps its lines, such as a prompt.
#[must_use]
pub fn passage(text: &str) -> String {
    visible(text, 4_000).replace('↵', "↵\n")
}

/// Control characters, marks of direction and everything else without a shape of its own as
/// `‹U+202E›`; line breaks as `↵`, tabs as `⇥`; at most `limit` characters.
fn visible(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(4 * limit));
    let (mut shown, mut stacked, mut before) = (0, 0, None);
    let mut rest = text.chars().enumerate().peekable();
    while let Some((index, c)) = rest.next() {
        if shown >= limit {
            let _ = write!(out, "… (+{} more)", text.chars().count() - index);
            break;
        }
        shown += 1;
        stacked = if is_combining(c) { stacked + 1 } else { 0 };
        let after = rest.peek().map(|(_, next)| *next);
        let joins = c == JOINER && [before, after].into_iter().all(|c| c.is_some_and(is_pictograph));
        before = Some(c);
        match c {
            '\n' => out.push('↵'),
            '\t' => out.push('⇥'),
            _ if joins => out.push(c),
            _ if is_invisible(c) || stacked > 2 => {
                let _ = write!(out, "‹U+{:04X}›", u32::from(c));
                shown += 7;
            }
            _ if stacked == 1 && out.is_empty() => {
                out.push('◌');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Makes one picture of two: a family of its members.
const JOINER: char = '\u{200D}';

/// Emoji, arrows and signs that a joiner may stand between, and what chooses their colour.
fn is_pictograph(c: char) -> bool {
    matches!(u32::from(c), 0x2190..=0x21FF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0xFE0F | 0x1F000..=0x1FAFF)
}

/// Marks that are drawn over the character before them.
fn is_combining(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x483..=0x489 | 0x591..=0x5BD | 0x610..=0x61A | 0x64B..=0x65F
        | 0xE31 | 0xE34..=0xE3A | 0xE47..=0xE4E | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF
        | 0xFE20..=0xFE2F)
}

/// For text and attribute values of HTML and XML.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            _ if c.is_control() => out.push('\u{FFFD}'),
            _ => out.push(c),
        }
    }
    out
}

/// For text inside of a Markdown table, as code: nothing in it is markup, a link or a mention.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    let fence = "`".repeat(1 + text.split(|c| c != '`').map(str::len).max().unwrap_or(0));
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// For sentences in Markdown: what could be markup is escaped.
#[must_use]
pub fn markdown_prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '#' | '~' | '@' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}

/// For JSON inside of a `<script>` element: it cannot end the element.
#[must_use]
pub fn script_json(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_stays() {
        let hostile = "a\u{202E}b\u{200B}\u{7}\u{0}\r\n\tc\u{FEFF}\u{E0041}\u{2028}";
        let shown = token_label(hostile);
        assert_eq!(shown, "a‹U+202E›b‹U+200B›‹U+0007›‹U+0000›‹U+000D›↵⇥c‹U+FEFF›‹U+E0041›… (+1 more)");
        assert_eq!(token_label(" the"), "␣the");
        assert_eq!(token_in_context(" the"), " the");
        assert_eq!(token_label(""), "(empty)");
        assert_eq!(token_label("\u{301}x"), "◌\u{301}x");
        assert_eq!(token_label("e\u{301}\u{301}\u{301}"), "e\u{301}\u{301}‹U+0301›");
    }

    #[test]
    fn a_picture_of_several_stays_one() {
        for emoji in ["👩‍👩‍👧‍👦", "🏳️‍🌈", "🤷🏽‍♂️"] {
            assert_eq!(token_label(emoji), emoji);
        }
        assert_eq!(token_label("a\u{200D}b👩\u{200D}"), "a‹U+200D›b👩‹U+200D›");
    }

    #[test]
    fn tokens_written_from_right_to_left_keep_their_places() {
        let tokens = ["a", "עליכם", "[b]"].map(String::from);
        assert_eq!(in_order(&tokens, " "), "a \u{200E}עליכם\u{200E} [b]");
    }

    #[test]
    fn long_tokens_are_cut() {
        let shown = token_label(&"x".repeat(10_000));
        assert_eq!(shown, format!("{}… (+9940 more)", "x".repeat(TOKEN_LIMIT)));
        assert!(token_label(&"\u{202E}".repeat(10_000)).chars().count() < 100);
    }

    #[test]
    fn markup_is_inert() {
        assert_eq!(
            escape_xml("</script><img onerror='x' src=\"y\">&\u{1}"),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39; src=&quot;y&quot;&gt;&amp;\u{FFFD}"
        );
        assert_eq!(script_json("\"</script>&\""), "\"\\u003c/script\\u003e\\u0026\"");
        assert_eq!(markdown_code("a|`b"), "``a\\|`b``");
        assert_eq!(markdown_code("`"), "`` ` ``");
        assert_eq!(markdown_prose("<b>[x](y)@me"), "&lt;b>\\[x\\](y)\\@me");
    }
}
