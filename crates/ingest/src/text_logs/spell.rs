//! Texts of responses as ids: of tokens where a tokenizer is given, else of characters.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericStringArray, Int32Array, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::text_logs::encode::Encoder;
use crate::values::arrays::WrongType;
use crate::values::lists::Lists;
use crate::values::texts;

/// How texts become ids.
#[derive(Clone, Debug, Default)]
pub struct Speller(Option<Arc<Encoder>>);

impl Speller {
    /// With the tokens of a tokenizer.
    pub fn with(encoder: Encoder) -> Self {
        Self(Some(Arc::new(encoder)))
    }

    /// Whether the ids are those of tokens.
    pub fn has_tokens(&self) -> bool {
        self.0.is_some()
    }

    /// The ids of each row's text.
    pub fn spell(&self, array: &dyn Array) -> Result<Lists, WrongType> {
        let nulls = array.logical_nulls();
        match array.data_type() {
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                Ok(self.lists(texts.iter(), bytes(texts), nulls))
            }
            DataType::LargeUtf8 => {
                let texts = array.as_string::<i64>();
                Ok(self.lists(texts.iter(), bytes(texts), nulls))
            }
            DataType::Utf8View => Ok(self.lists(array.as_string_view().iter(), 0, nulls)),
            _ => {
                let texts = texts::to_texts(array)?;
                Ok(self.lists(texts.iter().map(Option::as_deref), 0, nulls))
            }
        }
    }

    /// `bytes` are those of all texts, where that is known: no text has more characters.
    fn lists<'a>(
        &self,
        texts: impl Iterator<Item = Option<&'a str>>,
        bytes: usize,
        nulls: Option<NullBuffer>,
    ) -> Lists {
        let mut offsets = vec![0];
        let mut ids = Vec::with_capacity(if self.has_tokens() { 0 } else { bytes });
        let mut known = HashMap::new();
        for text in texts {
            let text = text.unwrap_or_default();
            match &self.0 {
                Some(encoder) => encoder.encode(text, &mut known, &mut ids),
                None => spell_characters(text, &mut ids),
            }
            offsets.push(ids.len());
        }
        Lists { offsets, values: Arc::new(Int32Array::from(ids)), nulls }
    }
}

/// Bytes of the texts of an array, which may be a window of a longer one.
fn bytes<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> usize {
    let offsets = texts.value_offsets();
    offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last.as_usize() - first.as_usize())
}

fn spell_characters(text: &str, ids: &mut Vec<i32>) {
    if text.is_ascii() {
        ids.extend(text.bytes().map(i32::from));
    } else {
        ids.extend(text.chars().map(|letter| u32::from(letter).cast_signed()));
    }
}
