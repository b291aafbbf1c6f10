//! The document as JSON for a program that has little room: an agent that is asked what went wrong.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::document::{Block, Document, Fact, FactsKind, Place, Role, Tokens};
use crate::hostile::NAME;

/// Bytes at most.
pub const BRIEF: usize = 8_000;
/// Parts that are never left out.
const HEAD: usize = 5;

/// Parts in the order in which they are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief(Vec<(&'static str, Value)>);

impl Serialize for Brief {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// State, sentence, proof, what to do, what shows it and what was ruled out; `more` stands behind the sentence. Parts that
/// would make it larger than [`BRIEF`] are left out and named, the last ones first.
#[must_use]
pub fn brief(document: &Document, more: Vec<(&'static str, Value)>) -> Brief {
    let said = |place| document.sections.iter().filter(move |section| section.place == place);
    let sentence: Vec<String> =
        said(Place::Headline).map(|section| section.title.flat()).filter(|text| !text.is_empty()).collect();
    let mut parts = vec![
        ("program", json!(concat!("stapo-analyze ", env!("CARGO_PKG_VERSION")))),
        ("name", json!(document.name.visible(NAME))),
        ("size", json!(document.size.iter().map(crate::document::Text::flat).collect::<Vec<_>>())),
        ("state", json!(document.word.to_lowercase().replace(' ', "_"))),
        ("sentence", json!(sentence.join(" "))),
    ];
    parts.extend(more);
    for (name, place) in
        [("proof", Place::Proof), ("to_do", Place::Action), ("notes", Place::Notes), ("shown", Place::Shown)]
    {
        let values: Vec<Value> = said(place).flat_map(|section| lines(&section.blocks)).collect();
        if !values.is_empty() {
            parts.push((name, Value::Array(values)));
        }
    }
    let size = |parts: &[(&str, Value)]| {
        parts.iter().map(|(name, value)| name.len() + 6 + value.to_string().len()).sum::<usize>()
    };
    let mut left_out = Vec::new();
    while parts.len() > HEAD && size(&parts) > BRIEF - 200 {
        left_out.extend(parts.pop().map(|(name, _)| name));
    }
    if !left_out.is_empty() {
        parts.push(("left_out", json!(left_out)));
    }
    parts.push(("all_numbers", json!("--full, or summary.json of a report")));
    Brief(parts)
}

fn lines(blocks: &[Block]) -> Vec<Value> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            Block::Sentence(sentence) if sentence.role == Role::Step => {
                found.push(json!(sentence.text.flat()))
            }
            Block::Facts(facts) => found.extend(facts.rows.iter().map(|row| fact(facts.kind, row))),
            Block::Tokens(Tokens::Excerpts(list)) => found.extend(list.iter().map(|of| {
                let line =
                    format!("{}⟦{}⟧{}", of.before.visible(60), of.token.visible(40), of.after.visible(40));
                json!({ "tokens": line, "facts": of.facts.flat() })
            })),
            _ => {}
        }
    }
    found
}

fn fact(kind: FactsKind, row: &Fact) -> Value {
    let (name, value) = (row.name.flat(), row.value.flat());
    match (kind, &row.healthy) {
        (FactsKind::Options, _) => json!({ "option": value, "of": name }),
        (_, Some(healthy)) => json!({ "what": name, "value": value, "healthy": healthy.flat() }),
        (_, None) => json!({ "what": name, "value": value }),
    }
}
