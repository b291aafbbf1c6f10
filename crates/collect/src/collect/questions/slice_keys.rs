//! The value of a token in a dimension, as a key: bits that order as numbers do, or the hash of a text.

use std::sync::Arc;

use super::Asked;
use crate::plan::{Dimension, DimensionSource};
use stapo_batch::batch::{Id, MISSING_FLAG, MISSING_ID, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;
use stapo_batch::others::OtherValue;

/// Random groups of clusters, whose scatter gives intervals.
pub const REPLICATES: usize = 32;

/// The key of what is not logged.
pub const MISSING: u64 = 0;

/// The random group of a cluster.
pub fn replicate_of(cluster: u64) -> u8 {
    // Below 32, so it fits.
    ((cluster >> 32) % REPLICATES as u64) as u8
}

/// A number as bits that order as numbers do; never [`MISSING`].
pub fn number_key(value: f64) -> u64 {
    if value.is_nan() {
        return MISSING;
    }
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

/// The number of a key.
pub fn key_number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

fn text_key(text: &Arc<str>) -> u64 {
    Mixer::new(5).with_id(Some(&Id::Text(Arc::clone(text)))).word().max(1)
}

/// A token of a response.
#[derive(Clone, Copy)]
pub struct TokenPlace<'a> {
    /// The batch it is in.
    pub source: &'a TokenBatch,
    /// The response's index there.
    pub index: usize,
    /// Step.
    pub step: i64,
    /// Place among all tokens of the response.
    pub token: usize,
}

impl<'a> TokenPlace<'a> {
    /// Trained token `t` of a response.
    pub fn of(asked: &Asked<'a>, t: usize) -> Self {
        Self { source: asked.source, index: asked.index, step: asked.step, token: asked.token(t) }
    }
}

/// The key of a token in a dimension.
pub fn key_of(dimension: &Dimension, asked: TokenPlace<'_>) -> u64 {
    let place = || asked.source.range(asked.index).start + asked.token;
    let responses = &asked.source.responses;
    let int = |value: Option<i64>| value.map_or(MISSING, |value| number_key(value as f64));
    match &dimension.source {
        DimensionSource::Turn => match asked.source.tokens.ints.get(Column::Turn).map(|turns| turns[place()])
        {
            None | Some(MISSING_ID) => MISSING,
            Some(turn) => number_key(f64::from(turn)),
        },
        DimensionSource::Lag => {
            let version = responses.ints.get(Column::PolicyVersion).and_then(|v| v[asked.index]);
            int(version.map(|version| asked.step.saturating_sub(version)))
        }
        DimensionSource::Step => number_key(asked.step as f64),
        DimensionSource::Part(name) => {
            let part = responses.reward_parts.iter().find(|(part, _)| **part == **name);
            part.map_or(MISSING, |(_, values)| number_key(f64::from(values[asked.index])))
        }
        DimensionSource::Response(column) => {
            if let Some(values) = responses.ints.get(*column) {
                int(values[asked.index])
            } else if let Some(values) = responses.floats.get(*column) {
                number_key(f64::from(values[asked.index]))
            } else if let Some(values) = responses.flags.get(*column) {
                values[asked.index].map_or(MISSING, |flag| number_key(f64::from(u8::from(flag))))
            } else if let Some(values) = responses.texts.get(*column) {
                values[asked.index].as_ref().map_or(MISSING, text_key)
            } else {
                match asked.source.ids(*column).map(|ids| &ids[asked.index]) {
                    Some(Id::Int(id)) => number_key(*id as f64),
                    Some(Id::Text(text)) => text_key(text),
                    _ => MISSING,
                }
            }
        }
        DimensionSource::Other(name) => match responses.others.value(name, asked.index) {
            Some(OtherValue::Number(value)) => number_key(value),
            Some(OtherValue::Text(text)) => text_key(text),
            None => MISSING,
        },
        DimensionSource::Token(column) => {
            let tokens = &asked.source.tokens;
            if let Some(values) = tokens.floats.get(*column) {
                number_key(f64::from(values[place()]))
            } else if let Some(values) = tokens.ints.get(*column) {
                let value = values[place()];
                if value == MISSING_ID { MISSING } else { number_key(f64::from(value)) }
            } else if let Some(values) = tokens.flags.get(*column) {
                let value = values[place()];
                if value == MISSING_FLAG { MISSING } else { number_key(f64::from(value)) }
            } else {
                tokens.doubles.get(*column).map_or(MISSING, |values| number_key(values[place()]))
            }
        }
    }
}

/// The text behind a key, where it is of one.
pub fn text_of(dimension: &Dimension, asked: &Asked<'_>) -> Option<Arc<str>> {
    let column = match &dimension.source {
        DimensionSource::Response(column) => column,
        DimensionSource::Other(name) => match asked.source.responses.others.value(name, asked.index) {
            Some(OtherValue::Text(text)) => return Some(Arc::clone(text)),
            _ => return None,
        },
        _ => return None,
    };
    if let Some(texts) = asked.source.responses.texts.get(*column) {
        return texts[asked.index].clone();
    }
    match asked.source.ids(*column).map(|ids| &ids[asked.index]) {
        Some(Id::Text(text)) => Some(Arc::clone(text)),
        _ => None,
    }
}

/// The first trained token after `first` whose key is another one.
pub fn stretch_end(dimension: &Dimension, asked: &Asked<'_>, first: usize, key: u64) -> usize {
    let n = asked.trained.len();
    match &dimension.source {
        DimensionSource::Turn => match asked.trained.turn.get(first..) {
            Some(turns @ [turn, ..]) => first + turns.iter().position(|t| t != turn).unwrap_or(turns.len()),
            _ => n,
        },
        _ => (first + 1..n).find(|t| key_of(dimension, TokenPlace::of(asked, *t)) != key).unwrap_or(n),
    }
}
