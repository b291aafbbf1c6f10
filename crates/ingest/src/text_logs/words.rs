//! Where byte-level tokenizers cut a text before they merge, without their regular expressions.

/// How a text is cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Split {
    /// As Llama 3 and Qwen do: a word takes any one sign before it, line feeds go with what is before them.
    pub modern: bool,
    /// The longest run of digits; 0 is any.
    pub digits: usize,
}

/// Hands the words of a text out, one after another.
pub fn words<'a>(text: &'a str, split: Split, mut take: impl FnMut(&'a str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = contraction(rest, split)
            .or_else(|| letters(rest, split))
            .or_else(|| digits(rest, split))
            .or_else(|| signs(rest, split))
            .or_else(|| spaces(rest, split))
            .unwrap_or(first.len_utf8());
        take(&rest[..length]);
        rest = &rest[length..];
    }
}

fn contraction(text: &str, split: Split) -> Option<usize> {
    let after = text.strip_prefix('\'')?;
    let is = |end: &&&str| {
        let head = after.get(..end.len());
        head.is_some_and(|head| head == **end || split.modern && head.eq_ignore_ascii_case(end))
    };
    ["s", "t", "re", "ve", "m", "ll", "d"].iter().find(is).map(|end| 1 + end.len())
}

/// The length of a run that begins at `from`; `None` where nothing is in it.
fn run(text: &str, from: usize, is: impl Fn(char) -> bool) -> Option<usize> {
    let length = text.get(from..)?.find(|letter| !is(letter)).unwrap_or(text.len() - from);
    (length > 0).then_some(from + length)
}

fn letters(text: &str, split: Split) -> Option<usize> {
    let first = text.chars().next()?;
    let before = match split.modern {
        true => !matches!(first, '\r' | '\n') && !first.is_alphabetic() && !first.is_numeric(),
        false => first == ' ',
    };
    run(text, if before { first.len_utf8() } else { 0 }, char::is_alphabetic)
}

fn digits(text: &str, split: Split) -> Option<usize> {
    let space = usize::from(text.starts_with(' ') && !split.modern && split.digits == 0);
    let end = run(text, space, char::is_numeric)?;
    let cut = text.char_indices().nth(split.digits).filter(|_| split.digits > 0);
    Some(cut.map_or(end, |(at, _)| end.min(at)))
}

fn signs(text: &str, split: Split) -> Option<usize> {
    let is_sign = |letter: char| !letter.is_whitespace() && !letter.is_alphabetic() && !letter.is_numeric();
    let end = run(text, usize::from(text.starts_with(' ')), is_sign)?;
    match split.modern {
        true => run(text, end, |letter| matches!(letter, '\r' | '\n')).or(Some(end)),
        false => Some(end),
    }
}

/// Spaces: all but the last before a word, which takes it.
fn spaces(text: &str, split: Split) -> Option<usize> {
    let end = run(text, 0, char::is_whitespace)?;
    let last_feed = text[..end].rfind(['\r', '\n']).filter(|_| split.modern);
    if let Some(at) = last_feed {
        return Some(at + 1);
    }
    let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
    Some(if end < text.len() && end > last { end - last } else { end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, split: Split) -> Vec<&str> {
        let mut all = Vec::new();
        words(text, split, |word| all.push(word));
        all
    }

    #[test]
    fn texts_are_cut_as_the_expressions_do() {
        let old = Split::default();
        assert_eq!(
            cut("It's  a 123 test!?\n\n ok", old),
            ["It", "'s", " ", " a", " 123", " test", "!?", "\n\n", " ok"]
        );
        let digits = Split { digits: 1, ..old };
        assert_eq!(cut("a 12", digits), ["a", " ", "1", "2"]);
        let modern = Split { modern: true, digits: 3 };
        assert_eq!(cut("(He'S 12345)\n\n x", modern), ["(He", "'S", " ", "123", "45", ")\n\n", " x"]);
        assert_eq!(cut("a \n b", modern), ["a", " \n", " b"]);
        assert_eq!(cut("", modern), Vec::<&str>::new());
    }
}
