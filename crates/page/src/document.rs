//! What a page, a Markdown file and a terminal say: one document.

mod text;
mod tokens;

pub use text::{Span, Style, Text, Words};
pub use tokens::{Excerpt, Mark, Response, Responses, Thresholds, Token, Tokens};

use crate::chart::Chart;
use crate::hostile::Hostile;

/// What was found, in the order in which it is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The name of what was analysed.
    pub name: Hostile,
    /// How large it is.
    pub size: Vec<Text>,
    /// Its state as a colour and a sign.
    pub tone: Tone,
    /// The state in one word.
    pub word: &'static str,
    /// The parts.
    pub sections: Vec<Section>,
    /// Words that are explained where they stand.
    pub terms: Vec<Term>,
}

/// A state as a colour and a sign: never by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to mend.
    Healthy,
    /// A cause was found, and the run still learns.
    Suspicious,
    /// Something was lost.
    Bad,
    /// Nothing is learned.
    Flat,
    /// Nothing can be said.
    Open,
    /// Two runs differ.
    Different,
}

impl Tone {
    /// The class of the page.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Suspicious => "suspicious",
            Self::Bad => "bad",
            Self::Flat => "flat",
            Self::Open => "unclear",
            Self::Different => "different",
        }
    }

    /// The sign before the word.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Healthy => '✓',
            Self::Suspicious => '△',
            Self::Bad => '✗',
            Self::Flat => '→',
            Self::Open => '?',
            Self::Different => '≠',
        }
    }
}

/// A part with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What links lead to.
    pub id: &'static str,
    /// Its heading.
    pub title: Text,
    /// Where it stands.
    pub place: Place,
    /// What stands in it.
    pub blocks: Vec<Block>,
    /// Whether the terminal shows it without being asked for all.
    pub in_terminal: bool,
}

/// Where a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The sentence under the name.
    Headline,
    /// The numbers that prove it.
    Proof,
    /// What to do.
    Action,
    /// The charts of the first screen.
    Charts,
    /// Tokens or responses that show it.
    Shown,
    /// What was ruled out, what follows, what was not checked.
    Notes,
    /// Behind the first screen.
    Tab(Tab),
}

/// The tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tab {
    /// Objectives of a replay: settings, ends, differences.
    Objectives,
    /// Curves of a replay, and how far it drifts.
    Curves,
    /// Causes with their evidence, the order of events, all quantities over the steps.
    Signals,
    /// Tokens that drive the update, flagged tokens, responses.
    Tokens,
    /// Slices, prompts, groups without signal, pass@k.
    Groups,
    /// The paper's claims, thresholds, rules, the taxonomy.
    S2t,
}

impl Tab {
    /// All, in their order.
    pub const ALL: [Self; 6] =
        [Self::Objectives, Self::Curves, Self::Signals, Self::Tokens, Self::Groups, Self::S2t];

    /// What links lead to.
    #[must_use]
    pub fn id(self) -> &'static str {
        ["objectives", "curves", "signals", "tokens", "groups", "s2t"][self as usize]
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["Objectives", "Curves & drift", "Signals", "Tokens", "Groups & tasks", "S2T & rules"][self as usize]
    }
}

/// What a section is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Words.
    Sentence(Sentence),
    /// Names and values.
    Facts(Facts),
    /// Rows of cells.
    Table(Table),
    /// A chart.
    Figure(Figure),
    /// What unfolds.
    Fold(Fold),
    /// Tokens in their context, or whole responses.
    Tokens(Tokens),
}

/// Words, and what they are for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// What they are for.
    pub role: Role,
    /// The words.
    pub text: Text,
}

/// What words are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// To be read.
    Plain,
    /// To be read after the rest.
    Note,
    /// Something to do, numbered.
    Step,
}

impl Block {
    /// Words to be read.
    pub fn plain(text: impl Into<Text>) -> Self {
        Self::Sentence(Sentence { role: Role::Plain, text: text.into() })
    }

    /// Words to be read after the rest.
    pub fn note(text: impl Into<Text>) -> Self {
        Self::Sentence(Sentence { role: Role::Note, text: text.into() })
    }

    /// Something to do.
    pub fn step(text: impl Into<Text>) -> Self {
        Self::Sentence(Sentence { role: Role::Step, text: text.into() })
    }

    /// Notes with their names.
    #[must_use]
    pub fn notes(rows: Vec<Fact>) -> Self {
        Self::Facts(Facts { kind: FactsKind::Notes, rows })
    }
}

/// Names and values.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// What they are for.
    pub kind: FactsKind,
    /// One by one.
    pub rows: Vec<Fact>,
}

/// What facts are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactsKind {
    /// Numbers beside what a healthy run has.
    Proof,
    /// Options by framework.
    Options,
    /// Sentences with a name.
    Notes,
}

/// The name of a note that a reader must not miss.
pub const MIND: &str = "Mind";

/// A name and a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    /// What it is in words.
    pub name: Text,
    /// How much or what.
    pub value: Text,
    /// What a healthy run has.
    pub healthy: Option<Text>,
}

impl Fact {
    /// Without what a healthy run has.
    pub fn new(name: impl Into<Text>, value: impl Into<Text>) -> Self {
        Self { name: name.into(), value: value.into(), healthy: None }
    }

    /// Beside what a healthy run has.
    pub fn proof(name: impl Into<Text>, value: impl Into<Text>, healthy: impl Into<Text>) -> Self {
        Self { healthy: Some(healthy.into()), ..Self::new(name, value) }
    }
}

/// Rows of cells under a head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of columns.
    pub head: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// The file in `tables/` that holds all of it.
    pub file: Option<&'static str>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Text,
    /// Numbers stand to the right, words from the left.
    pub number: bool,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What links lead to.
    pub id: Option<String>,
    /// One a column.
    pub cells: Vec<Text>,
    /// Whether it stands out.
    pub strong: bool,
}

impl Table {
    /// Without rows: names that begin with `#` are those of numbers.
    #[must_use]
    pub fn new<T: AsRef<str>>(head: &[T]) -> Self {
        let column = |name: &T| {
            let name = name.as_ref();
            let plain = name.strip_prefix('#');
            Column { name: plain.unwrap_or(name).to_owned().into(), number: plain.is_some() }
        };
        Self { head: head.iter().map(column).collect(), ..Self::default() }
    }

    /// With the file that holds all of it.
    #[must_use]
    pub fn of_file(self, file: &'static str) -> Self {
        Self { file: Some(file), ..self }
    }

    /// With a row more.
    pub fn push(&mut self, cells: Vec<Text>) {
        self.rows.push(Row { cells, ..Row::default() });
    }
}

/// A chart with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: Text,
    /// In which unit, and what to look at.
    pub note: Text,
    /// What a screen reader says of it.
    pub label: String,
    /// What is drawn.
    pub chart: Chart,
    /// The file in `tables/` that holds its numbers.
    pub file: Option<&'static str>,
}

/// What unfolds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// What links lead to.
    pub id: Option<String>,
    /// What is always seen.
    pub summary: Text,
    /// What is in it.
    pub blocks: Vec<Block>,
    /// Whether it is open.
    pub open: bool,
}

/// A word that is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What buttons lead to.
    pub id: &'static str,
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub meaning: &'static str,
}
