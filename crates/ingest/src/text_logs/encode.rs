//! From texts to the ids of a byte-level BPE tokenizer (GPT-2, Llama 3, Qwen, SmolLM): lengths of logged texts in tokens.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use stapo_base::error::Result;

use super::words::{Split, words};
use crate::texts::byte_alphabet;
use crate::tokenizer_json::TokenizerJson;

/// Bytes of a word that are merged as one: a hostile text has no spaces, and merging takes the square of its length.
const LONGEST_WORD: usize = 64;

/// A tokenizer that spells texts.
#[derive(Debug)]
pub struct Encoder {
    bytes: [u32; 256],
    /// What two neighbours become, the smaller rank first.
    merges: HashMap<(u32, u32), (u32, u32)>,
    /// Tokens beside the vocabulary, which no word is merged with, by their first byte.
    added: Vec<Vec<(String, u32)>>,
    split: Split,
}

impl Encoder {
    /// Reads a `tokenizer.json`; `None` where it is no byte-level BPE.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let path = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        let json = TokenizerJson::read(&path)?;
        let is_bytes = json.decoder.byte_level || json.pre_tokenizer.byte_level;
        if !is_bytes || json.model.merges.is_empty() {
            return Ok(None);
        }
        let ids: HashMap<&str, u32> = json
            .model
            .vocab
            .0
            .iter()
            .filter_map(|(id, piece)| Some((&**piece, u32::try_from(*id).ok()?)))
            .collect();
        // A byte that no text has is not in every vocabulary.
        let mut bytes = [u32::try_from(json.model.vocab.0.len()).unwrap_or(0); 256];
        for (letter, byte) in byte_alphabet() {
            let mut buffer = [0; 4];
            if let Some(id) = ids.get(&*letter.encode_utf8(&mut buffer)) {
                bytes[usize::from(byte)] = *id;
            }
        }
        let mut merges = HashMap::with_capacity(json.model.merges.len());
        for (rank, (left, right)) in (0..).zip(&json.model.merges) {
            let merged = format!("{left}{right}");
            let known = (ids.get(&**left), ids.get(&**right), ids.get(&*merged));
            if let (Some(left), Some(right), Some(merged)) = known {
                merges.entry((*left, *right)).or_insert((rank, *merged));
            }
        }
        let mut added: Vec<Vec<(String, u32)>> = vec![Vec::new(); 256];
        for token in json.added_tokens.into_iter().flatten() {
            if let (Some(first), Ok(id)) = (token.content.bytes().next(), u32::try_from(token.id)) {
                added[usize::from(first)].push((token.content, id));
            }
        }
        added.iter_mut().for_each(|tokens| tokens.sort_by_key(|(text, _)| std::cmp::Reverse(text.len())));
        let split = Split { modern: json.pre_tokenizer.modern_words, digits: json.pre_tokenizer.digits };
        Ok(Some(Self { bytes, merges, added, split }))
    }

    /// Adds the ids of a text. Words that `known` holds were spelled before, at these places of `ids`.
    pub fn encode<'a>(&self, text: &'a str, known: &mut HashMap<&'a str, Range<usize>>, ids: &mut Vec<i32>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, token) = self.up_to_added(rest);
            words(plain, self.split, |word| {
                if let Some(range) = known.get(word) {
                    ids.extend_from_within(range.clone());
                    return;
                }
                let first = ids.len();
                for piece in pieces(word) {
                    self.merge(piece, ids);
                }
                known.insert(word, first..ids.len());
            });
            rest = &rest[plain.len()..];
            if let Some((content, id)) = token {
                ids.push(id.cast_signed());
                rest = &rest[content.len()..];
            }
        }
    }

    /// What stands before the first token beside the vocabulary, and that token.
    fn up_to_added<'a, 'b>(&'b self, text: &'a str) -> (&'a str, Option<&'b (String, u32)>) {
        for (at, byte) in text.bytes().enumerate() {
            let tokens = &self.added[usize::from(byte)];
            if tokens.is_empty() || !text.is_char_boundary(at) {
                continue;
            }
            if let Some(token) = tokens.iter().find(|(content, _)| text[at..].starts_with(&**content)) {
                return (&text[..at], Some(token));
            }
        }
        (text, None)
    }

    /// Merges the bytes of a word, the pair of the smallest rank first.
    fn merge(&self, word: &[u8], ids: &mut Vec<i32>) {
        let mut parts: Vec<u32> = word.iter().map(|byte| self.bytes[usize::from(*byte)]).collect();
        loop {
            let pairs = parts.windows(2).enumerate();
            let best = pairs.filter_map(|(at, pair)| Some((self.merges.get(&(pair[0], pair[1]))?, at))).min();
            let Some(((_, merged), at)) = best else { break };
            parts[at] = *merged;
            parts.remove(at + 1);
        }
        ids.extend(parts.iter().map(|id| id.cast_signed()));
    }
}

fn pieces(word: &str) -> impl Iterator<Item = &[u8]> {
    word.as_bytes().chunks(LONGEST_WORD)
}
