//! `live.html`: a frame around a report that is written anew while it is looked at.

use super::page::head_of_frame;
use maud::{DOCTYPE, PreEscaped, html};

const SCRIPT: &str = include_str!("live.js");
const STYLE: &str = include_str!("style.css");

/// The page. It loads `live.js` and `report.html` from its own folder, and nothing else.
#[must_use]
pub fn live_page() -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            (head_of_frame("Live token report", STYLE, SCRIPT))
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
