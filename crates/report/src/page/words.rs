//! Sentences on a page.

use maud::{Markup, html};

use crate::text::prose;

/// A sentence with what stands between backticks as code.
pub fn with_code(text: &str) -> Markup {
    let text = prose(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return unbroken(&text);
    }
    html! {
        @for (place, part) in parts.iter().enumerate() {
            @if place % 2 == 1 { code { (unbroken(part)) } } @else { (unbroken(part)) }
        }
    }
}

/// A text whose options stay whole: browsers break lines behind every hyphen of `--option`.
pub fn unbroken(text: &str) -> Markup {
    html! {
        @for word in text.split_inclusive(' ') {
            @if word.contains("--") { span.o { (word.trim_end()) } @if word.ends_with(' ') { " " } } @else { (word) }
        }
    }
}

/// A note below a table or a figure.
pub fn note(text: &str) -> Markup {
    html! { @if !text.is_empty() { p.note { (with_code(text)) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_never_broken() {
        let said = with_code("give `--seeds 5` or --arm A=x,y").into_string();
        assert_eq!(
            said,
            "give <code><span class=\"o\">--seeds</span> 5</code> or <span class=\"o\">--arm</span> A=x,y"
        );
    }
}
