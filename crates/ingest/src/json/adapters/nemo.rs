//! NeMo-RL `train_data_step*.jsonl`: every value wrapped in a list of one, sequences padded to
//! the longest of the batch.

use super::super::field::{Field, Object};
use super::context::{Bad, is_set, take_numbers};
use super::sequence::Sequence;

pub(super) fn response(mut row: Object) -> Result<Object, Bad> {
    for (_, value) in row.iter_mut() {
        unwrap(value);
    }
    let mut ids = take_numbers(&mut row, "token_ids")?.unwrap_or_default();
    let padded = ids.len();
    let length = row.take("input_lengths").and_then(|v| v.number()).map_or(padded, |n| cut_at(n, padded));
    ids.truncate(length);
    let token_advantages = row.get("advantages").is_some_and(|a| a.shape().is_list());

    let mut cut = |column: &'static str| -> Result<Option<Vec<f64>>, Bad> {
        let Some(mut values) = take_numbers(&mut row, column)? else { return Ok(None) };
        if values.len() != padded {
            return Err(Bad::length(column, values.len(), "token_ids", padded));
        }
        values.truncate(length);
        Ok(Some(values))
    };
    let mask = cut("token_loss_mask")?.ok_or_else(|| Bad::new("token_loss_mask", "missing"))?;
    let sampled: Vec<bool> = mask.iter().map(|m| is_set(*m)).collect();
    let mut streams = Vec::new();
    if let Some(mut values) = cut("generation_logprobs")? {
        // Tokens that were not generated have 0.0 here, which would read as certainty.
        for (value, _) in values.iter_mut().zip(&sampled).filter(|(_, sampled)| !**sampled) {
            *value = f64::NAN;
        }
        streams.push(("logprob_rollout", "generation_logprobs", values));
    }
    for (name, raw) in [("logprob", "prev_logprobs"), ("logprob_ref", "reference_policy_logprobs")] {
        if let Some(values) = cut(raw)? {
            streams.push((name, raw, values));
        }
    }
    if token_advantages && let Some(values) = cut("advantages")? {
        streams.push(("advantage", "advantages", values));
    }
    // The flag of the whole sample is applied after the start of the response is known: a
    // rejected response is still a response.
    let kept = row.take("sample_loss_mask").and_then(|m| m.number()).is_none_or(is_set);
    let trained = sampled.iter().map(|s| *s && kept).collect();
    if let Some(reward) = row.take("rewards").or_else(|| row.take("filtered_rewards")) {
        row.set("reward", reward);
    }
    Sequence { ids, sampled, trained, streams }.write(&mut row)?;
    Ok(row)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, then is cut
fn cut_at(length: f64, padded: usize) -> usize {
    (length.max(0.0) as usize).min(padded)
}

/// `[x]` to `x`.
fn unwrap(value: &mut Field) {
    let inner = match value {
        Field::List(items) if items.len() == 1 => items.pop(),
        Field::Texts(texts) if texts.len() == 1 => {
            texts.pop().map(|t| t.map_or(Field::Null, |t| Field::Text(t.into_string())))
        }
        Field::Bools(flags) if flags.len() == 1 => flags.pop().map(|f| f.map_or(Field::Null, Field::Bool)),
        Field::Numbers(n) if n.values.len() == 1 => n.values.first().map(|v| match v {
            v if v.is_nan() => Field::Null,
            #[allow(clippy::cast_possible_truncation)] // `whole` says that it is exact
            v if n.whole => Field::Int(*v as i64),
            v => Field::Float(*v),
        }),
        _ => None,
    };
    if let Some(inner) = inner {
        *value = inner;
    }
}
