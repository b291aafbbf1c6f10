//! Older verifiers results: a rollout is a list of turns, each with the whole prompt it saw and
//! the completion it sampled. Every turn is one response, so no token counts twice.

use super::super::field::{Field, Numbers, Object};
use super::context::{Bad, Context, Responses, is_set, take_numbers};

pub(super) fn responses(mut row: Object, context: &Context) -> Responses {
    let turns = match row.take("trajectory") {
        Some(Field::List(turns)) => turns,
        _ => Vec::new(),
    };
    let id =
        ["trajectory_id", "id"].iter().find_map(|k| row.get(k).and_then(Field::id).map(|id| id.into_owned()));
    let id = id.unwrap_or_else(|| format!("{}-{}", context.stem, context.row));
    row.retain(|name, value| {
        !matches!(name, "trajectory_id" | "id" | "sample_id" | "advantage") && !value.shape().is_list()
    });
    let with_tokens = turns.into_iter().enumerate().filter_map(|(i, turn)| match turn {
        Field::Object(turn) if turn.at(&["tokens", "completion_ids"]).is_some() => Some((i, turn)),
        _ => None,
    });
    Box::new(with_tokens.map(move |(i, turn)| {
        let mut response = row.clone();
        response.set("sample_id", Field::Text(format!("{id}-{i}")));
        write_turn(&mut response, turn, i)?;
        Ok(response)
    }))
}

/// Whether a raw row carries token ids.
pub(super) fn has_tokens(row: &Object) -> bool {
    let Some(Field::List(turns)) = row.get("trajectory") else { return false };
    turns.iter().filter_map(Field::as_object).any(|t| t.at(&["tokens", "completion_ids"]).is_some())
}

fn write_turn(response: &mut Object, mut turn: Object, number: usize) -> Result<(), Bad> {
    let Some(Field::Object(mut tokens)) = turn.take("tokens") else { return Ok(()) };
    if let Some(reward) = turn.take("reward").filter(|r| r.number().is_some()) {
        response.take("reward");
        response.set("reward", reward);
    }
    if let Some(advantage) = turn.take("advantage").filter(|a| a.number().is_some()) {
        response.set("advantage_seq", advantage);
    }
    let ids = take_numbers(&mut tokens, "completion_ids")?.unwrap_or_default();
    let length = ids.len();
    if let Some(prompt) = take_numbers(&mut tokens, "prompt_ids")? {
        response.set("prompt_ids", Field::Numbers(Numbers::whole(prompt)));
    }
    response.set("token_id", Field::Numbers(Numbers::whole(ids)));
    if let Some(mask) = take_numbers(&mut tokens, "completion_mask")? {
        let mask = checked("tokens.completion_mask", mask, length)?;
        response.set("mask", Field::Bools(mask.into_iter().map(|m| Some(is_set(m))).collect()));
    }
    if let Some(values) = take_numbers(&mut tokens, "completion_logprobs")?.filter(|v| !v.is_empty()) {
        let values = checked("tokens.completion_logprobs", values, length)?;
        response.set("logprob_rollout", Field::Numbers(Numbers::floats(values)));
    }
    #[allow(clippy::cast_precision_loss)] // turns are few
    response.set("turn", Field::Numbers(Numbers::whole(vec![number as f64; length])));
    Ok(())
}

fn checked(column: &'static str, values: Vec<f64>, length: usize) -> Result<Vec<f64>, Bad> {
    if values.len() == length {
        Ok(values)
    } else {
        Err(Bad::length(column, values.len(), "tokens.completion_ids", length))
    }
}
