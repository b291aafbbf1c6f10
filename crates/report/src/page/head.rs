//! The head of a page: nothing may run or be loaded but this style and this script.

use std::fmt::Write as _;

use base64::Engine as _;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::draw::Ink;

const STYLE: &str = include_str!("style.css");

/// The head, with the policy.
pub fn head(title: &str, script: &str) -> Markup {
    let style = format!("{}{STYLE}", palette());
    with_policy(title, &style, &format!("script-src '{}'", hash(script)))
}

fn with_policy(title: &str, style: &str, allowed: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{}'; {allowed}; base-uri 'none'; form-action 'none'",
        hash(style)
    );
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(style)) }
        }
        "\n"
    }
}

/// The inks as variables, and the classes of charts.
fn palette() -> String {
    let variables = |colour: fn(Ink) -> [u8; 3]| -> String {
        let one = |ink: &Ink| {
            let [r, g, b] = colour(*ink);
            format!("--{}:#{r:02x}{g:02x}{b:02x};", ink.name())
        };
        Ink::ALL.iter().map(one).collect()
    };
    let mut css = format!(
        ":root{{{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n@media print{{:root{{{}}}}}\n",
        variables(Ink::light),
        variables(Ink::dark),
        variables(Ink::light)
    );
    for ink in Ink::ALL {
        let name = ink.name();
        let _ = writeln!(css, ".f-{name}{{fill:var(--{name})}}.s-{name}{{fill:none;stroke:var(--{name})}}");
    }
    css
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(digest))
}
