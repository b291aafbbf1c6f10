//! Token batches as plain vectors, to be written: the open ends of responses.

use std::sync::Arc;

use arrow_array::StringArray;
use arrow_buffer::ScalarBuffer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::batch::{Id, OpenStart, Origin, ResponseColumns, TokenBatch, TokenColumns};
use crate::columns::PerColumn;
use crate::others::OtherColumns;

type Texts = Vec<Option<String>>;

#[derive(Serialize, Deserialize)]
struct PortableBatch {
    origin: Origin,
    offsets: Vec<usize>,
    step: Vec<i64>,
    ids: PerColumn<Vec<Id>>,
    ints: PerColumn<Vec<Option<i64>>>,
    floats: PerColumn<Vec<f32>>,
    texts: PerColumn<Texts>,
    flags: PerColumn<Vec<Option<bool>>>,
    prompt_ids: Option<Vec<Option<Vec<i32>>>>,
    reward_parts: Vec<(String, Vec<f32>)>,
    other_numbers: Vec<(String, Vec<f64>)>,
    other_texts: Vec<(String, Texts)>,
    open_start: Option<OpenStart>,
    token_floats: PerColumn<Vec<f32>>,
    token_doubles: PerColumn<Vec<f64>>,
    token_ints: PerColumn<Vec<i32>>,
    token_flags: PerColumn<Vec<u8>>,
    token_texts: Option<Texts>,
}

impl From<&TokenBatch> for PortableBatch {
    fn from(batch: &TokenBatch) -> Self {
        let TokenBatch { origin, offsets, responses, tokens } = batch;
        let ResponseColumns {
            step,
            ids,
            ints,
            floats,
            texts,
            flags,
            prompt_ids,
            reward_parts,
            others,
            open_start,
        } = responses;
        let plain = |texts: &[Option<Arc<str>>]| -> Texts {
            texts.iter().map(|text| text.as_deref().map(str::to_owned)).collect()
        };
        let prompts = |all: &Vec<Option<ScalarBuffer<i32>>>| {
            all.iter().map(|prompt| prompt.as_ref().map(|ids| ids.to_vec())).collect()
        };
        Self {
            origin: *origin,
            offsets: offsets.clone(),
            step: step.clone(),
            ids: ids.clone(),
            ints: ints.clone(),
            floats: floats.clone(),
            texts: texts.map(|all| plain(all)),
            flags: flags.clone(),
            prompt_ids: prompt_ids.as_ref().map(prompts),
            reward_parts: reward_parts.iter().map(|(name, v)| (name.to_string(), v.clone())).collect(),
            other_numbers: others.numbers.iter().map(|(name, v)| (name.to_string(), v.clone())).collect(),
            other_texts: others.texts.iter().map(|(name, all)| (name.to_string(), plain(all))).collect(),
            open_start: open_start.clone(),
            token_floats: tokens.floats.map(|values| values.to_vec()),
            token_doubles: tokens.doubles.map(|values| values.to_vec()),
            token_ints: tokens.ints.map(|values| values.to_vec()),
            token_flags: tokens.flags.map(|values| values.to_vec()),
            token_texts: tokens.texts.as_ref().map(|t| t.iter().map(|t| t.map(str::to_owned)).collect()),
        }
    }
}

impl PortableBatch {
    /// Whether all columns are as long as they should be.
    fn fits(&self) -> bool {
        fn all<T>(columns: &PerColumn<Vec<T>>, length: usize) -> bool {
            columns.iter().all(|(_, values)| values.len() == length)
        }
        let responses = self.offsets.len().saturating_sub(1);
        let tokens = self.offsets.last().copied().unwrap_or(0);
        self.offsets.first() == Some(&0)
            && self.offsets.is_sorted()
            && self.step.len() == responses
            && all(&self.ids, responses)
            && all(&self.ints, responses)
            && all(&self.floats, responses)
            && all(&self.texts, responses)
            && all(&self.flags, responses)
            && self.prompt_ids.as_ref().is_none_or(|prompts| prompts.len() == responses)
            && self.reward_parts.iter().all(|(_, values)| values.len() == responses)
            && self.other_numbers.iter().all(|(_, values)| values.len() == responses)
            && self.other_texts.iter().all(|(_, values)| values.len() == responses)
            && all(&self.token_floats, tokens)
            && all(&self.token_doubles, tokens)
            && all(&self.token_ints, tokens)
            && all(&self.token_flags, tokens)
            && self.token_texts.as_ref().is_none_or(|texts| texts.len() == tokens)
    }
}

impl From<PortableBatch> for TokenBatch {
    fn from(from: PortableBatch) -> Self {
        let prompts = |all: Vec<Option<Vec<i32>>>| all.into_iter().map(|ids| ids.map(Into::into)).collect();
        let shared = |all: &Texts| all.iter().map(|text| text.as_deref().map(Into::into)).collect();
        TokenBatch {
            origin: from.origin,
            offsets: from.offsets,
            responses: ResponseColumns {
                step: from.step,
                ids: from.ids,
                ints: from.ints,
                floats: from.floats,
                texts: from.texts.map(shared),
                flags: from.flags,
                prompt_ids: from.prompt_ids.map(prompts),
                reward_parts: from.reward_parts.into_iter().map(|(name, v)| (name.into(), v)).collect(),
                others: OtherColumns {
                    numbers: from.other_numbers.into_iter().map(|(name, v)| (name.into(), v)).collect(),
                    texts: from
                        .other_texts
                        .iter()
                        .map(|(name, all)| (name.as_str().into(), shared(all)))
                        .collect(),
                },
                open_start: from.open_start,
            },
            tokens: TokenColumns {
                floats: from.token_floats.map(|values| values.clone().into()),
                doubles: from.token_doubles.map(|values| values.clone().into()),
                ints: from.token_ints.map(|values| values.clone().into()),
                flags: from.token_flags.map(|values| values.clone().into()),
                texts: from.token_texts.map(StringArray::from),
            },
        }
    }
}

impl Serialize for TokenBatch {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        PortableBatch::from(self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for TokenBatch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let batch = PortableBatch::deserialize(from)?;
        match batch.fits() {
            true => Ok(batch.into()),
            false => Err(serde::de::Error::custom("columns of different lengths")),
        }
    }
}
