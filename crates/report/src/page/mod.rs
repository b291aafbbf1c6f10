//! What all pages share: the skeleton, and the pieces that sections are made of.
//!
//! A page is a header, a verdict and a list of [`Section`]s; links to them and the policy that lets
//! nothing else run come from here. To add a section to `report.html`:
//!
//! 1. Write `html/NAME.rs` with `pub fn section(of: &Material<'_>) -> Option<Section>`; `None` where
//!    the log holds nothing for it. `html!` escapes what stands in parentheses, so a text of the log
//!    only has to be made visible first ([`prose`](super::text::prose),
//!    [`token_label`](super::text::token_label)).
//! 2. Add it to the one list, `SECTIONS` in `html/mod.rs`: the page and its links follow that order.
//!
//! A table is a [`Sheet`], which writes itself for the page and for Markdown; a chart is a file in
//! `charts/` and one line in its list, or [`figures::figure`] where it belongs to one section.

pub mod figures;
mod head;
mod sheet;
mod verdict;
pub mod warnings;
mod words;

pub use sheet::{Kind, Sheet};
pub use verdict::{Fact, FirstScreen, Tone};
pub use words::{note, unbroken, with_code};

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A part of a page with a heading and a link to it.
pub struct Section {
    /// What links lead to.
    pub id: &'static str,
    /// Its name among the links.
    pub link: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// What stands below the heading.
    pub body: Markup,
}

/// A whole page.
pub struct Page {
    /// Title of the window.
    pub title: String,
    /// The name of what is reported.
    pub name: String,
    /// How much of it there is.
    pub facts: String,
    /// The first screen.
    pub verdict: FirstScreen,
    /// The rest, in this order.
    pub sections: Vec<Section>,
    /// Data that the script reads: the id of its element, and JSON that cannot end it.
    pub data: Vec<(&'static str, String)>,
    /// What the page's own script does beyond what all pages share.
    pub script: &'static str,
}

/// Of all pages: small charts on small windows, late starts.
const SHARED_SCRIPT: &str = include_str!("shared.js");
/// Last of all: finds the place of a reader who was here before.
const KEEP_SCRIPT: &str = include_str!("keep.js");

impl Page {
    /// The page as HTML.
    #[must_use]
    pub fn render(&self) -> String {
        let first = self.sections.first().map_or("verdict", |s| s.id);
        let script = format!("{SHARED_SCRIPT}{}{KEEP_SCRIPT}", self.script);
        let page = html! {
            (DOCTYPE) "\n"
            html lang="en" {
                (head::head(&self.title, &script))
                body {
                    a.skip href={ "#" (first) } { "Skip to " (first) } "\n"
                    header { p.run { (self.name) } p.facts { (self.facts) } } "\n"
                    main {
                        (self.verdict.html()) "\n"
                        nav aria-label="Sections" {
                            @for section in &self.sections { a href={ "#" (section.id) } { (section.link) } }
                        }
                        @for section in &self.sections {
                            "\n"
                            section id=(section.id) { h2 { (section.heading) } "\n" (section.body) }
                        }
                    }
                    "\n"
                    @for (id, json) in &self.data {
                        script type="application/json" id=(id) { (PreEscaped(json)) } "\n"
                    }
                    script { (PreEscaped(&script)) }
                }
            }
            "\n"
        };
        page.into_string()
    }
}

/// What a page cannot know, one sentence an item.
pub fn statements(sentences: &[String]) -> Markup {
    html! { ul { @for sentence in sentences { li { (sentence) } "\n" } } }
}

/// Names and values that unfold.
pub fn folded_facts(title: &str, facts: &[(String, String)]) -> Markup {
    html! {
        details {
            summary { (title) }
            dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } "\n" } }
        }
    }
}
