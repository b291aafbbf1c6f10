//! Texts of tokens for people.

use std::collections::HashMap;

use stapo_batch::batch::MISSING_ID;
use stapo_ingest::texts::Tokenizer;

/// Bytes of the text of a token in a table, about: room that need not grow.
const TEXT: usize = 10;

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
        let mut text = String::new();
        self.show(id, &mut text);
        text
    }

    fn show(&self, id: i32, to: &mut String) {
        match self.known(id) {
            Some(text) => to.push_str(text),
            None if id == MISSING_ID => to.push_str("⟨?⟩"),
            None => {
                to.push('⟨');
                push_number(to, id);
                to.push('⟩');
            }
        }
    }

    /// The texts of many ids, or those logged beside them, as one text with separators between.
    pub fn joined(&self, ids: &[i32], logged: Option<&[Box<str>]>) -> String {
        let mut all = String::with_capacity(ids.len() * TEXT);
        let between = |all: &mut String, number: usize| {
            if number > 0 {
                all.push_str(self.separator());
            }
        };
        match logged {
            Some(texts) if self.tokenizer.is_none() => {
                for (number, text) in texts.iter().enumerate() {
                    between(&mut all, number);
                    all.push_str(text);
                }
            }
            _ => {
                for (number, id) in ids.iter().enumerate() {
                    between(&mut all, number);
                    self.show(*id, &mut all);
                }
            }
        }
        all
    }

    /// Texts of many ids, or those logged beside them.
    pub fn all_shown(&self, ids: &[i32], logged: Option<&[Box<str>]>) -> Vec<String> {
        match logged {
            Some(texts) if self.tokenizer.is_none() => texts.iter().map(|t| t.to_string()).collect(),
            _ => ids.iter().map(|id| self.shown(*id)).collect(),
        }
    }
}

/// Digits without a formatter's ways: a table of flagged tokens has tens of millions of ids.
fn push_number(to: &mut String, number: i32) {
    if number < 0 {
        to.push('-');
    }
    let mut rest = number.unsigned_abs();
    let mut digits = [b'0'; 10];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    to.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_texts_are_the_shown_ones() {
        let logged = HashMap::from([(1, "a".into()), (2, "".into())]);
        let texts = TokenTexts::new(None, logged);
        let ids = [2, 1, 7, MISSING_ID];
        assert_eq!(texts.joined(&ids, None), texts.all_shown(&ids, None).join(""));
        assert_eq!(texts.joined(&ids, None), "a⟨7⟩⟨?⟩");
        let beside: [Box<str>; 2] = ["x".into(), "y".into()];
        assert_eq!(texts.joined(&ids, Some(&beside)), "xy");
        assert_eq!(texts.joined(&[], None), "");
        for id in [0, 9, 10, 151_643, i32::MAX, -7, i32::MIN + 1] {
            assert_eq!(texts.shown(id), format!("⟨{id}⟩"));
        }
    }
}
