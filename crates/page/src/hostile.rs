//! Text from a log: prompts, responses, names of files, groups and columns. Anybody may have written it.

use stapo_base::format::is_invisible;

/// Characters of a name or a token that are shown at most.
pub const NAME: usize = 80;
/// Characters of a passage, such as a prompt.
pub const PASSAGE: usize = 4_000;

/// Text that nobody vouches for. Only renderers get at it, made visible and escaped: it has no `Display`
/// and no way to a `String` outside of this crate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hostile(String);

impl Hostile {
    /// Of a log.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// With nothing invisible, at most `limit` characters; still to be escaped.
    #[allow(dead_code)]
    pub(crate) fn visible(&self, limit: usize) -> String {
        visible(&self.0, limit)
    }

    /// Whether nothing is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Hostile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hostile({:?})", self.0)
    }
}

impl From<&str> for Hostile {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Hostile {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Control characters, marks of direction and everything else without a shape of its own as `‹U+202E›`; line
/// breaks as `↵`, tabs as `⇥`; at most `limit` characters.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len().min(4 * limit));
    let (mut shown, mut stacked, mut before) = (0, 0, None);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if shown >= limit {
            out.push('…');
            break;
        }
        shown += 1;
        stacked = if is_combining(c) { stacked + 1 } else { 0 };
        let joins =
            c == JOINER && [before, rest.peek().copied()].into_iter().all(|c| c.is_some_and(is_pictograph));
        before = Some(c);
        match c {
            '\n' => out.push('↵'),
            '\t' => out.push('⇥'),
            _ if joins => out.push(c),
            _ if is_invisible(c) || stacked > 2 => {
                let _ = write!(out, "‹U+{:04X}›", u32::from(c));
                shown += 7;
            }
            _ if stacked == 1 && out.is_empty() => out.extend(['◌', c]),
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
pub(crate) fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_stays() {
        let shown = Hostile::new("a\u{202E}b\u{7}\0\r\n\tc\u{FEFF}").visible(NAME);
        assert_eq!(shown, "a‹U+202E›b‹U+0007›‹U+0000›‹U+000D›↵⇥c‹U+FEFF›");
        assert_eq!(visible("\u{301}x", 9), "◌\u{301}x");
        assert_eq!(visible("e\u{301}\u{301}\u{301}", 9), "e\u{301}\u{301}‹U+0301›");
    }

    #[test]
    fn a_picture_of_several_stays_one() {
        for emoji in ["👩‍👩‍👧‍👦", "🏳️‍🌈", "🤷🏽‍♂️"] {
            assert_eq!(visible(emoji, NAME), emoji);
        }
        assert_eq!(visible("a\u{200D}b", NAME), "a‹U+200D›b");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(visible(&"x".repeat(10_000), 60).chars().count(), 61);
        assert!(visible(&"\u{202E}".repeat(10_000), 60).chars().count() < 100);
    }

    #[test]
    fn markup_is_inert() {
        assert_eq!(
            escape_xml("</script><img onerror='x' src=\"y\">&"),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39; src=&quot;y&quot;&gt;&amp;"
        );
    }
}
