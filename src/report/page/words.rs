//! Sentences on a page.

use maud::{Markup, html};

use crate::report::text::prose;

/// A sentence with what stands between backticks as code.
pub fn with_code(text: &str) -> Markup {
    let text = prose(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (place, part) in parts.iter().enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A note below a table or a figure.
pub fn note(text: &str) -> Markup {
    html! { @if !text.is_empty() { p.note { (with_code(text)) } } }
}
