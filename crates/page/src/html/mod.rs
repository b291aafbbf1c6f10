//! The page: one file without libraries and network, at most [`PAGE_LIMIT`] bytes.
//!
//! The first screen stands in a grid, the rest behind four tabs. Without script, and in print, all of it is shown.

mod blocks;
mod responses;

use base64::Engine as _;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::chart::palette;
use crate::document::{Document, Place, Section, Tab, Tokens};
use crate::markdown;

/// Bytes of the page at most, whatever the log.
pub const PAGE_LIMIT: usize = 1_500_000;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
/// Ahead of all that is drawn, so that tabs do not flash.
const EARLY: &str = "document.documentElement.classList.add('js')";

/// The page of a document; responses are left out until it is small enough, and it says so.
#[must_use]
pub fn page(document: &Document) -> String {
    let mut out = assemble(document, 100);
    for percent in [60, 30, 10, 3, 0] {
        if out.len() <= PAGE_LIMIT {
            break;
        }
        out = assemble(document, percent);
    }
    out
}

fn assemble(document: &Document, percent: usize) -> String {
    let style = format!("{}{STYLE}", palette::css());
    let allowed = format!("script-src '{}' '{}'", hash(EARLY), hash(SCRIPT));
    let name = document.name.visible(crate::hostile::NAME);
    let page = html! {
        (DOCTYPE)
        html lang="en" class=(document.tone.class()) {
            (head(&format!("{name}: {}", document.word), &style, &allowed))
            "\n"
            body {
                script { (PreEscaped(EARLY)) }
                main {
                    (header(document, &name))
                    (first_screen(document))
                    @if document.sections.iter().any(|s| matches!(s.place, Place::Tab(_))) { (tabs(document, percent)) }
                }
                "\n"
                @for term in &document.terms {
                    div popover id={ "term-" (term.id) } { b { (term.word) } p { (term.meaning) } }
                }
                script type="application/json" id="copied" { (PreEscaped(json(&markdown::first_screen(document)))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn header(document: &Document, name: &str) -> Markup {
    html! {
        header {
            p.run {
                b { (name) }
                @for (i, size) in document.size.iter().enumerate() {
                    " " span class=[(i > 0).then_some("more")] { (blocks::text(size)) }
                }
                button id="copy" type="button" { "Copy" span.more { " as Markdown" } }
            }
            h1 {
                span.word { span aria-hidden="true" { (document.tone.sign()) } " " (document.word) }
                @for section in of(document, Place::Headline) { " " (blocks::text(&section.title)) }
            }
        }
        "\n"
    }
}

fn first_screen(document: &Document) -> Markup {
    let class = |place| match place {
        Place::Proof => "p",
        Place::Action => "d",
        Place::Charts => "charts",
        Place::Shown => "s",
        _ => "notes",
    };
    html! {
        div.first {
            // The order of a phone; wide screens place them by a grid.
            @for place in [Place::Proof, Place::Action, Place::Charts, Place::Shown, Place::Notes] {
                @for section in of(document, place) {
                    section class=(class(place)) id=(section.id) {
                        @if !section.title.is_empty() { h2 { (blocks::text(&section.title)) } }
                        (blocks::all(&section.blocks, 100))
                    }
                    "\n"
                }
            }
        }
    }
}

fn tabs(document: &Document, percent: usize) -> Markup {
    let used = Tab::ALL.into_iter().filter(|tab| of(document, Place::Tab(*tab)).next().is_some());
    html! {
        nav.tabs {
            div role="tablist" {
                @for tab in used.clone() { a role="tab" href={ "#" (tab.id()) } aria-controls=(tab.id()) { (tab.name()) } }
            }
            div.find {
                span id="found" aria-live="polite" {}
                input id="search" type="search" placeholder="Search all tabs" aria-label="Search all tabs";
            }
        }
        @for tab in used {
            "\n"
            div.panel id=(tab.id()) role="tabpanel" aria-label=(tab.name()) {
                h2.name { (tab.name()) }
                @for section in of(document, Place::Tab(tab)) {
                    section id=(section.id) {
                        @if !section.title.is_empty() { h3 { (blocks::text(&section.title)) } }
                        (blocks::all(&section.blocks, percent))
                    }
                    "\n"
                }
            }
        }
    }
}

fn of(document: &Document, place: Place) -> impl Iterator<Item = &Section> + Clone {
    document.sections.iter().filter(move |section| section.place == place)
}

/// The head: nothing may run or be loaded but this style and what is allowed.
pub(crate) fn head(title: &str, style: &str, allowed: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{}'; {allowed}; base-uri 'none'; form-action 'none'",
        hash(style)
    );
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width,initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(style)) }
        }
        "\n"
    }
}

/// For a Content-Security-Policy.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(digest))
}

/// A text as JSON that cannot end the `<script>` element it stands in.
fn json(value: &(impl Into<serde_json::Value> + Clone)) -> String {
    let value: serde_json::Value = value.clone().into();
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The interactive parts of a document.
fn tokens(tokens: &Tokens, percent: usize) -> Markup {
    match tokens {
        Tokens::Excerpts(list) => blocks::excerpts(list),
        Tokens::Responses(list) => responses::browser(list, percent),
        Tokens::Thresholds(thresholds) => responses::thresholds(thresholds),
    }
}
