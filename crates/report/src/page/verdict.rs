//! The first screen of a page: the answer, and the numbers behind it.

use maud::{Markup, html};

/// How bad it is; decides the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to do.
    Healthy,
    /// Needs a look.
    Suspicious,
    /// Went wrong.
    Collapsed,
    /// Cannot be said.
    Unknown,
    /// Two things differ.
    Differs,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Suspicious => "suspicious",
            Self::Collapsed => "collapsed",
            Self::Unknown => "unknown",
            Self::Differs => "differs",
        }
    }
}

/// A number of the first screen.
pub struct Fact {
    /// The number.
    pub value: String,
    /// What it counts.
    pub what: String,
    /// What else there is to say about it.
    pub note: String,
}

/// The first screen.
pub struct FirstScreen {
    /// Its colour.
    pub tone: Tone,
    /// A sign, so that colour is not needed.
    pub sign: &'static str,
    /// The answer in a word or two.
    pub word: String,
    /// The answer in a sentence.
    pub headline: String,
    /// What follows it.
    pub lead: Markup,
    /// The numbers.
    pub facts: Vec<Fact>,
    /// Short questions with their answers.
    pub answers: Vec<(&'static str, Markup)>,
}

impl FirstScreen {
    pub(super) fn html(&self) -> Markup {
        html! {
            section id="verdict" class=(self.tone.class()) {
                p.badge { span aria-hidden="true" { (self.sign) } " " (self.word) } "\n"
                h1 { (self.headline) } "\n"
                (self.lead) "\n"
                @if !self.facts.is_empty() {
                    dl.numbers {
                        @for fact in &self.facts {
                            div { dt { (fact.what) } dd { (fact.value) small { (fact.note) } } }
                        }
                    }
                    "\n"
                }
                dl.answers {
                    @for (question, answer) in &self.answers { div { dt { (question) } dd { (answer) } } "\n" }
                }
            }
        }
    }
}
