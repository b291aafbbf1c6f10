//! A `tokenizer.json`, read without keeping what is not used.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use stapo_base::error::{Error, Result};

/// The largest file that is read: three times the largest tokenizer in use.
const LARGEST_FILE: u64 = 100_000_000;

/// The parts of a tokenizer that tell the texts of its ids.
#[derive(Deserialize)]
pub(super) struct TokenizerJson {
    /// The vocabulary.
    pub(super) model: Model,
    /// Tokens beside the vocabulary.
    #[serde(default)]
    pub(super) added_tokens: Option<Vec<Added>>,
    /// How pieces become text.
    #[serde(default)]
    pub(super) decoder: Words,
    /// How text becomes pieces.
    #[serde(default)]
    pub(super) pre_tokenizer: Words,
}

/// The model of a tokenizer.
#[derive(Deserialize)]
pub(super) struct Model {
    /// Ids and pieces.
    pub(super) vocab: Vocabulary,
    /// Pairs that are merged, in their order.
    #[serde(default, deserialize_with = "merges")]
    pub(super) merges: Vec<(String, String)>,
}

/// Pairs of pieces, each as a list of two or as one text with a space between.
fn merges<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<(String, String)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Pair {
        Apart(String, String),
        Together(String),
    }
    let pairs = Option::<Vec<Pair>>::deserialize(deserializer)?.unwrap_or_default();
    let pair = |pair| match pair {
        Pair::Apart(left, right) => Some((left, right)),
        Pair::Together(both) => both.split_once(' ').map(|(left, right)| (left.into(), right.into())),
    };
    Ok(pairs.into_iter().filter_map(pair).collect())
}

/// A token beside the vocabulary.
#[derive(Deserialize)]
pub(super) struct Added {
    /// Its id.
    pub(super) id: u64,
    /// Its text.
    pub(super) content: String,
}

impl TokenizerJson {
    /// Reads a file, where it is one of a size that a tokenizer can have.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let metadata = file.metadata().map_err(|e| Error::read(path, e))?;
        if !metadata.is_file() {
            return Err(Error::NotRegular { path: path.to_owned() });
        }
        if metadata.len() > LARGEST_FILE {
            let message =
                format!("a tokenizer of {} MB: none in use is that large", metadata.len() / 1_000_000);
            return Err(Error::TooLarge { path: path.to_owned(), place: String::new(), message });
        }
        serde_json::from_reader(BufReader::new(file)).map_err(|e| {
            let message = format!("not a tokenizer.json with a vocabulary: {e}");
            Error::Corrupt { path: path.to_owned(), place: String::new(), message }
        })
    }
}

/// Ids and pieces of a vocabulary: an object of ids by piece, or a list of pieces with scores.
pub(super) struct Vocabulary(pub(super) Vec<(u64, String)>);

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pieces;
        impl<'de> Visitor<'de> for Pieces {
            type Value = Vocabulary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Vocabulary, A::Error> {
                let mut pieces = Vec::new();
                while let Some((piece, id)) = map.next_entry::<String, u64>()? {
                    pieces.push((id, piece));
                }
                Ok(Vocabulary(pieces))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Vocabulary, A::Error> {
                let mut pieces = Vec::new();
                while let Some((piece, _)) = seq.next_element::<(String, IgnoredAny)>()? {
                    pieces.push((pieces.len() as u64, piece));
                }
                if pieces.is_empty() {
                    return Err(A::Error::custom("an empty vocabulary"));
                }
                Ok(Vocabulary(pieces))
            }
        }
        deserializer.deserialize_any(Pieces)
    }
}

/// Which of some words a part of the file mentions as a value.
#[derive(Clone, Copy, Default)]
pub(super) struct Words {
    /// `ByteLevel`.
    pub(super) byte_level: bool,
    /// `Metaspace` or `ByteFallback`.
    pub(super) metaspace: bool,
    /// `▁`.
    pub(super) underline: bool,
    /// An expression by which a word takes any one sign before it.
    pub(super) modern_words: bool,
    /// The longest run of digits that an expression or `Digits` leaves whole; 0 is any.
    pub(super) digits: usize,
}

impl Words {
    fn and(self, other: Self) -> Self {
        Self {
            byte_level: self.byte_level | other.byte_level,
            metaspace: self.metaspace | other.metaspace,
            underline: self.underline | other.underline,
            modern_words: self.modern_words | other.modern_words,
            digits: self.digits.max(other.digits),
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_bool<E>(self, _: bool) -> std::result::Result<Words, E> {
                Ok(Words::default())
            }

            fn visit_i64<E>(self, _: i64) -> std::result::Result<Words, E> {
                Ok(Words::default())
            }

            fn visit_u64<E>(self, _: u64) -> std::result::Result<Words, E> {
                Ok(Words::default())
            }

            fn visit_f64<E>(self, _: f64) -> std::result::Result<Words, E> {
                Ok(Words::default())
            }

            fn visit_unit<E>(self) -> std::result::Result<Words, E> {
                Ok(Words::default())
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Words, E> {
                Ok(Words {
                    byte_level: text == "ByteLevel",
                    metaspace: matches!(text, "Metaspace" | "ByteFallback"),
                    underline: text == "▁",
                    modern_words: text.contains(r"[^\r\n\p{L}\p{N}]?"),
                    digits: match () {
                        () if text.contains(r"\p{N}{1,3}") => 3,
                        () if text == "Digits" || text.contains(r"|\p{N}|") => 1,
                        () => 0,
                    },
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Words, A::Error> {
                let mut words = Words::default();
                while let Some(next) = seq.next_element::<Words>()? {
                    words = words.and(next);
                }
                Ok(words)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Words, A::Error> {
                let mut words = Words::default();
                while let Some((_, next)) = map.next_entry::<IgnoredAny, Words>()? {
                    words = words.and(next);
                }
                Ok(words)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
