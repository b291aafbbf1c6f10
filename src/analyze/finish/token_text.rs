//! Texts of tokens for people.

use std::collections::HashMap;

use crate::analyze::texts::Tokenizer;
use crate::ingest::MISSING_ID;

/// Where texts come from: a tokenizer, else the log.
#[derive(Debug, Default)]
pub struct TokenTexts {
    tokenizer: Option<Tokenizer>,
    logged: HashMap<i32, Box<str>>,
}

impl TokenTexts {
    /// Texts from a tokenizer, else from the log.
    pub fn new(tokenizer: Option<Tokenizer>, logged: HashMap<i32, Box<str>>) -> Self {
        Self { tokenizer, logged }
    }

    /// Where the texts come from.
    pub fn source(&self) -> Option<String> {
        match &self.tokenizer {
            Some(tokenizer) => Some(tokenizer.path().display().to_string()),
            None => (!self.logged.is_empty()).then(|| "the log".into()),
        }
    }

    /// What goes between the texts of two tokens: words of a plain vocabulary have no spaces.
    pub fn separator(&self) -> &'static str {
        if self.tokenizer.as_ref().is_some_and(Tokenizer::is_plain) { " " } else { "" }
    }

    /// The text of an id, where known.
    pub fn known(&self, id: i32) -> Option<&str> {
        match &self.tokenizer {
            Some(tokenizer) => tokenizer.text(id),
            None => self.logged.get(&id).map(|text| &**text),
        }
    }

    /// The text of an id, else the id in brackets.
    pub fn shown(&self, id: i32) -> String {
        match self.known(id) {
            Some(text) => text.to_owned(),
            None if id == MISSING_ID => "⟨?⟩".into(),
            None => format!("⟨{id}⟩"),
        }
    }

    /// Texts of many ids, or those logged beside them.
    pub fn all_shown(&self, ids: &[i32], logged: Option<&[Box<str>]>) -> Vec<String> {
        match logged {
            Some(texts) if self.tokenizer.is_none() => texts.iter().map(|t| t.to_string()).collect(),
            _ => ids.iter().map(|id| self.shown(*id)).collect(),
        }
    }
}
