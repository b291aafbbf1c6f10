//! ROLL's logging board: lists of unequal length, all beginning at the first response token.

use super::super::field::{Field, Object};
use super::context::is_set;

pub(super) fn response(mut row: Object) -> Object {
    let length = match row.get("new_response_mask") {
        Some(mask) => {
            mask.clone().into_numbers().map(|m| m.iter().rposition(|v| is_set(*v)).map_or(0, |i| i + 1))
        }
        None => row.get("logprobs").map(Field::list_len),
    };
    // ROLL writes the token rewards once more under `values`; it is not a value head.
    if row.get("token_rewards").is_some() {
        row.take("values");
    }
    if let Some(length) = length {
        for (_, value) in row.iter_mut() {
            value.cut(0..length);
        }
    }
    row
}
