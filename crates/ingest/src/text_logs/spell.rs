//! Texts of responses as ids: of tokens where a tokenizer is given, else of characters.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, Int32Array};
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
            DataType::Utf8 => Ok(self.lists(array.as_string::<i32>().iter(), nulls)),
            DataType::LargeUtf8 => Ok(self.lists(array.as_string::<i64>().iter(), nulls)),
            DataType::Utf8View => Ok(self.lists(array.as_string_view().iter(), nulls)),
            _ => {
                let texts = texts::to_texts(array)?;
                Ok(self.lists(texts.iter().map(Option::as_deref), nulls))
            }
        }
    }

    fn lists<'a>(&self, texts: impl Iterator<Item = Option<&'a str>>, nulls: Option<NullBuffer>) -> Lists {
        let mut offsets = vec![0];
        let mut ids = Vec::new();
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

fn spell_characters(text: &str, ids: &mut Vec<i32>) {
    if text.is_ascii() {
        ids.extend(text.bytes().map(i32::from));
    } else {
        ids.extend(text.chars().map(|letter| u32::from(letter).cast_signed()));
    }
}
