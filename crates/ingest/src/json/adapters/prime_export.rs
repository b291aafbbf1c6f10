//! prime-rl token exports: flat lists over the whole sequence, value i of token i.

use super::super::field::{Field, Object};

/// Streams that compare a token with what came before it: the first token has nothing before it
/// and carries log(1/V), log V or what follows from them.
const WITHOUT_FIRST: [&str; 7] = [
    "trainer_logprobs",
    "inference_logprobs",
    "entropy",
    "mismatch_kl",
    "log_importance_ratio",
    "importance_ratio",
    "prob_delta",
];

pub(super) fn response(mut row: Object) -> Object {
    // Positions count from the start of the prompt; ours count from the start of the response.
    row.take("position_ids");
    for (_, value) in row.iter_mut().filter(|(name, _)| WITHOUT_FIRST.contains(name)) {
        if let Field::Numbers(n) = value
            && let Some(first) = n.values.first_mut()
        {
            *first = f64::NAN;
        }
    }
    // The sequence index counts inside one rank's file of a step.
    if row.get("sample_id").is_none()
        && let (Some(rank), Some(index)) =
            (row.get("rank").and_then(Field::id), row.get("export_sequence_idx").and_then(Field::id))
    {
        let id = format!("{rank}-{index}");
        row.set("sample_id", Field::Text(id));
    }
    row
}
