//! `live.html`: a frame around a report that is written anew while it is looked at.

use maud::{DOCTYPE, PreEscaped, html};

use crate::html::{hash, head};

const SCRIPT: &str = include_str!("live.js");
const STYLE: &str = include_str!("style.css");

/// The page. It loads `live.js` and `report.html` from its own folder, and nothing else.
#[must_use]
pub fn live_page() -> String {
    let allowed = format!("script-src '{}' 'self' file:; frame-src 'self' file:", hash(SCRIPT));
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            (head("Live token report", STYLE, &allowed))
            body.live {
                p.live id="live-state" role="status" { "waiting for the first look …" }
                "\n"
                iframe.live id="live-report" title="report" { } "\n"
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}
