//! From the columns of a log of texts to the canonical ones.

use crate::schema::mapping::{Mapped, Mapping, OtherColumn, RawSource, Reason, Transform};
use crate::schema::raw_field::{Primitive, RawField, Shape};
use crate::schema::user_map::UserMap;
use stapo_batch::columns::{Column, Level, fold_name};

use arrow_array::ArrayRef;

use crate::values::arrays::{self, WrongType};

/// Words in the names of numbers that count or place something: no parts of a reward.
const NO_PARTS: [&str; 30] = [
    "id",
    "ids",
    "idx",
    "index",
    "uid",
    "step",
    "epoch",
    "iteration",
    "rank",
    "seed",
    "version",
    "len",
    "length",
    "token",
    "tokens",
    "count",
    "num",
    "number",
    "turn",
    "turns",
    "time",
    "timestamp",
    "seconds",
    "latency",
    "level",
    "difficulty",
    "temperature",
    "size",
    "entropy",
    "advantages",
];

/// Words in the names of what was paid, whatever for.
const PAYS: [&str; 6] = ["reward", "score", "bonus", "penalty", "acc", "accuracy"];

/// The mapping of a log of texts, from what was found as if its rows held lists; `None` where no column holds the texts of
/// responses, or nothing says what they were worth.
pub fn of_texts(mut mapping: Mapping, fields: &[RawField], user: &UserMap) -> Option<Mapping> {
    let text = mapping.get(Column::ResponseText)?.sources.first()?.clone();
    // Lengths that are logged are of tokens, which the text is not.
    mapping.columns.retain(|m| {
        m.column.level() == Level::Response && !matches!(m.column, Column::ResponseLen | Column::PromptIds)
    });
    let is_used = |mapping: &Mapping, name: &str| {
        mapping.columns.iter().any(|m| m.sources.iter().any(|source| source.name == name))
    };
    let named = |name: &str| user.named().any(|(_, raw)| raw == name);
    for field in fields.iter().filter(|field| !named(&field.name)) {
        let known =
            is_used(&mapping, &field.name) || mapping.reward_parts.iter().any(|(raw, _)| *raw == field.name);
        if !known && is_part(field) {
            mapping.reward_parts.push((field.name.clone(), field.name.clone()));
        }
    }
    if !mapping.has(Column::Reward) && user.get(Column::Reward).is_none() {
        sum_parts(&mut mapping);
    }
    if !mapping.has(Column::Reward) && mapping.reward_parts.is_empty() {
        return None;
    }
    let characters = RawSource { transform: Transform::Spell, ..text };
    mapping.insert(Mapped { column: Column::TokenId, sources: vec![characters], reason: Reason::Fallback });
    let is_new = |field: &&RawField| {
        !is_used(&mapping, &field.name) && !mapping.reward_parts.iter().any(|(raw, _)| *raw == field.name)
    };
    let unused: Vec<RawField> = fields.iter().filter(is_new).cloned().collect();
    mapping.unused = unused.iter().map(|field| field.name.clone()).collect();
    mapping.others = unused.iter().filter_map(other).collect();
    Some(mapping)
}

/// Whether a number of a response is a part of its reward.
fn is_part(field: &RawField) -> bool {
    let is_number = matches!(field.shape, Shape::Scalar(Primitive::Float | Primitive::Int | Primitive::Bool));
    let folded = fold_name(&field.name);
    let words: Vec<&str> = folded.split('_').collect();
    let pays = words.iter().any(|word| PAYS.contains(word));
    // A fraction under the bare name is what a length was paid, not the length.
    let is_paid = field.shape == Shape::Scalar(Primitive::Float) && matches!(words[..], ["length" | "len"]);
    let counts = !pays && !is_paid && words.iter().any(|word| NO_PARTS.contains(word));
    let is_column = |column: &Column| *column != Column::Reward && column.is_called(&field.name);
    is_number && !counts && !Column::ALL.iter().any(is_column)
}

/// The parts are all that says what a response was worth.
fn sum_parts(mapping: &mut Mapping) {
    let part = |(raw, _): &(String, String)| RawSource {
        name: raw.clone(),
        transform: Transform::Keep,
        text: false,
    };
    let sources: Vec<RawSource> = mapping.reward_parts.iter().map(part).collect();
    if sources.is_empty() {
        return;
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    mapping.notes.push(format!(
        "no column says the reward: it is the sum of {} (--map reward=COLUMN to name one)",
        names.join(" + ")
    ));
    mapping.insert(Mapped { column: Column::Reward, sources, reason: Reason::Fallback });
}

fn other(field: &RawField) -> Option<OtherColumn> {
    let Shape::Scalar(primitive) = field.shape else { return None };
    let is_number = matches!(primitive, Primitive::Int | Primitive::Float);
    let is_read = is_number || matches!(primitive, Primitive::Text | Primitive::Bool);
    is_read.then(|| OtherColumn { name: field.name.clone(), is_number })
}

/// The sum of the rewards of functions; one that was not applied (NaN) adds nothing, as TRL has it.
pub fn sum_of_functions(parts: &[(ArrayRef, Transform)]) -> std::result::Result<Vec<f32>, WrongType> {
    let rows = parts.first().map_or(0, |(part, _)| part.len());
    let mut sums = vec![f32::NAN; rows];
    for (part, transform) in parts {
        let weight = match transform {
            Transform::Times(thousandths) => *thousandths as f32 / 1000.0,
            _ => 1.0,
        };
        for (sum, value) in sums.iter_mut().zip(arrays::to_f32(part)?.iter()) {
            if value.is_finite() {
                *sum = if sum.is_nan() { weight * *value } else { *sum + weight * *value };
            }
        }
    }
    sums.iter_mut().filter(|sum| !sum.is_finite()).for_each(|sum| *sum = f32::NAN);
    Ok(sums)
}
