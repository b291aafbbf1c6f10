//! Texts in spans: whose words they are, and how they look.

use std::borrow::Cow;

use crate::hostile::Hostile;

/// A text in spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(Vec<Span>);

/// Words in one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The words.
    pub words: Words,
    /// How they look.
    pub style: Style,
}

/// Whose words they are. Renderers escape both.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// Ours, and numbers.
    Ours(Cow<'static, str>),
    /// Of the log.
    Log(Hostile),
}

/// How words look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// As all.
    Plain,
    /// Names and options that are typed.
    Code,
    /// What stands out.
    Strong,
    /// What stands back.
    Muted,
    /// What proves it.
    Mark,
    /// A link to a place on the page, or to a file beside it.
    Link(String),
    /// Explained by the term of this name.
    Term(&'static str),
}

impl Text {
    /// Without words.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A sentence that may quote the log.
    pub fn quoting(text: impl Into<String>) -> Self {
        Self::new().log(Hostile::new(text))
    }

    /// With words in a style.
    #[must_use]
    pub fn with(mut self, style: Style, words: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(Span { words: Words::Ours(words.into()), style });
        self
    }

    /// With words of ours.
    #[must_use]
    pub fn say(self, words: impl Into<Cow<'static, str>>) -> Self {
        self.with(Style::Plain, words)
    }

    /// With something that is typed.
    #[must_use]
    pub fn code(self, words: impl Into<Cow<'static, str>>) -> Self {
        self.with(Style::Code, words)
    }

    /// With a link.
    #[must_use]
    pub fn link(self, words: impl Into<Cow<'static, str>>, to: impl Into<String>) -> Self {
        self.with(Style::Link(to.into()), words)
    }

    /// With words of the log.
    #[must_use]
    pub fn log(mut self, words: impl Into<Hostile>) -> Self {
        self.0.push(Span { words: Words::Log(words.into()), style: Style::Plain });
        self
    }

    /// With a token or a name of the log.
    #[must_use]
    pub fn log_code(mut self, words: impl Into<Hostile>) -> Self {
        self.0.push(Span { words: Words::Log(words.into()), style: Style::Code });
        self
    }

    /// With another text after it.
    #[must_use]
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Its spans.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Whether it has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Texts with something between them.
    pub fn joined(texts: impl IntoIterator<Item = Self>, between: &'static str) -> Self {
        texts.into_iter().fold(
            Self::new(),
            |all, text| {
                if all.is_empty() { text } else { all.say(between).and(text) }
            },
        )
    }

    /// Its words without styles, visible but not escaped.
    pub(crate) fn flat(&self) -> String {
        self.0.iter().map(|span| span.words.visible()).collect()
    }
}

impl Words {
    /// With nothing invisible; still to be escaped.
    pub(crate) fn visible(&self) -> Cow<'_, str> {
        match self {
            Self::Ours(words) => Cow::Borrowed(words),
            Self::Log(words) => Cow::Owned(words.visible(crate::hostile::PASSAGE)),
        }
    }
}

impl From<&'static str> for Text {
    fn from(words: &'static str) -> Self {
        Self::new().say(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::new().say(words)
    }
}
