//! What every page of this program has around its content: one file, its own style, a policy that
//! lets nothing else in.

use std::fmt::Write as _;

use base64::Engine as _;
use sha2::{Digest, Sha256};

use crate::report::draw::Ink;
use crate::report::text::escape_xml;

const STYLE: &str = include_str!("style.css");

/// A whole page; `script` may be empty.
#[must_use]
pub fn document(title: &str, body: &str, script: &str) -> String {
    let style = format!("{}{STYLE}", palette());
    let allowed = if script.is_empty() { "'none'".into() } else { format!("'{}'", hash(script)) };
    let mut out = String::with_capacity(body.len() + style.len() + script.len() + 1024);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src {allowed}; base-uri 'none'; form-action 'none'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}",
        hash(&style),
        escape_xml(title)
    );
    if !script.is_empty() {
        let _ = write!(out, "<script>{script}</script>\n");
    }
    out.push_str("</body>\n</html>\n");
    out
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
