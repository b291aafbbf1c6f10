//! atropos groups: one row is a group, its columns are lists over the members.

use std::vec::IntoIter;

use super::super::field::{Field, Object};
use super::context::{Bad, Context, Responses, is_set, take_numbers};
use super::sequence::Sequence;

/// Marks a token that is not trained on.
const IGNORED: f64 = -100.0;

pub(super) fn responses(row: Object, context: &Context) -> Responses {
    match Group::new(row, context) {
        Ok(group) => Box::new(group),
        Err(bad) => Box::new(std::iter::once(Err(bad))),
    }
}

/// Per-token streams: canonical name, raw name.
const STREAMS: [(&str, &str); 3] =
    [("logprob_rollout", "inference_logprobs"), ("logprob_ref", "ref_logprobs"), ("advantage", "advantages")];

struct Group {
    id: String,
    member: usize,
    tokens: IntoIter<Field>,
    masks: IntoIter<Field>,
    scores: IntoIter<f64>,
    /// One advantage a member, where they are not token by token.
    advantages: Option<IntoIter<f64>>,
    streams: Vec<(&'static str, &'static str, IntoIter<Field>)>,
}

impl Group {
    fn new(mut row: Object, context: &Context) -> Result<Self, Bad> {
        let tokens = members(&mut row, "tokens")?.unwrap_or_default();
        let size = tokens.len();
        let same = |column: &'static str, found: usize| match found {
            n if n == size => Ok(()),
            n => Err(Bad::length(column, n, "tokens", size)),
        };
        let masks = members(&mut row, "masks")?.unwrap_or_default();
        same("masks", masks.len())?;
        let scores = take_numbers(&mut row, "scores")?.unwrap_or_default();
        same("scores", scores.len())?;
        let advantages = match row.get("advantages") {
            Some(Field::Numbers(n)) if n.values.iter().any(|v| !v.is_nan()) => {
                take_numbers(&mut row, "advantages")?
            }
            _ => None,
        };
        if let Some(advantages) = &advantages {
            same("advantages", advantages.len())?;
        }
        let mut streams = Vec::new();
        for (name, raw) in STREAMS {
            if let Some(lists) = members(&mut row, raw)? {
                same(raw, lists.len())?;
                streams.push((name, raw, lists.into_iter()));
            }
        }
        Ok(Self {
            id: format!("{}-{}", context.stem, context.row),
            member: 0,
            tokens: tokens.into_iter(),
            masks: masks.into_iter(),
            scores: scores.into_iter(),
            advantages: advantages.map(Vec::into_iter),
            streams,
        })
    }

    fn response(&mut self, tokens: Field) -> Result<Object, Bad> {
        let ids = tokens.into_numbers().ok_or_else(|| Bad::new("tokens", "not a list of ids"))?;
        let mask = self.masks.next().and_then(Field::into_numbers);
        let mask = mask.ok_or_else(|| Bad::new("masks", "not a list of numbers"))?;
        if mask.len() != ids.len() {
            return Err(Bad::length("masks", mask.len(), "tokens", ids.len()));
        }
        let trained = trained(&mask, &ids);
        let mut sequence = Sequence { ids, sampled: trained.clone(), trained, streams: Vec::new() };
        for (name, raw, lists) in &mut self.streams {
            let mut values = match lists.next() {
                None | Some(Field::Null) => continue,
                Some(Field::List(empty)) if empty.is_empty() => continue,
                Some(list) => list.into_numbers().ok_or_else(|| Bad::new(*raw, "not a list of numbers"))?,
            };
            if name.starts_with("logprob") {
                // Masked tokens carry 1.0, which no log-probability is.
                for (value, _) in values.iter_mut().zip(&sequence.trained).filter(|(_, t)| !**t) {
                    *value = f64::NAN;
                }
            }
            sequence.streams.push((name, raw, values));
        }
        let mut row = Object::default();
        row.set("group_id", Field::Text(self.id.clone()));
        row.set("sample_id", Field::Text(format!("{}-{}", self.id, self.member)));
        row.set("reward", self.scores.next().map_or(Field::Null, Field::Float));
        if let Some(advantage) = self.advantages.as_mut().and_then(Iterator::next) {
            row.set("advantage_seq", Field::Float(advantage));
        }
        sequence.write(&mut row)?;
        Ok(row)
    }
}

impl Iterator for Group {
    type Item = Result<Object, Bad>;

    fn next(&mut self) -> Option<Self::Item> {
        let tokens = self.tokens.next()?;
        let response = self.response(tokens);
        self.member += 1;
        Some(response)
    }
}

/// The lists of the members; `None` where the column is absent or null.
fn members(row: &mut Object, column: &'static str) -> Result<Option<Vec<Field>>, Bad> {
    match row.take(column) {
        None | Some(Field::Null) => Ok(None),
        Some(Field::List(lists)) => Ok(Some(lists)),
        // All members without the stream: `[null, null]`.
        Some(Field::Numbers(n)) if n.values.iter().all(|v| v.is_nan()) => Ok(None),
        Some(_) => Err(Bad::new(column, "not a list of lists")),
    }
}

/// A mask is −100 where a token is ignored and the token's own id elsewhere; some environments
/// write 0 and 1.
fn trained(mask: &[f64], ids: &[f64]) -> Vec<bool> {
    if mask.contains(&IGNORED) || mask == ids {
        return mask.iter().map(|m| *m != IGNORED && !m.is_nan()).collect();
    }
    mask.iter().map(|m| is_set(*m)).collect()
}
