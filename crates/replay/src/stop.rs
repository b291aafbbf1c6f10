//! Why an arm stopped, with the tokens to look at.

use super::model::TokenStats;
use super::stage::StepData;
use super::update::UpdatePlace;
use stapo_result::replay::{BadToken, Stop};

/// Tokens that a stop names at most.
const BAD_TOKENS: usize = 8;

/// Names the tokens whose numbers are not finite, or else the least probable ones.
pub fn stop(
    what: &str,
    place: UpdatePlace,
    data: &StepData,
    members: &[usize],
    stats: &[TokenStats],
) -> Stop {
    let mut found: Vec<(bool, f32, BadToken)> = Vec::new();
    for (member, stats) in members.iter().zip(stats) {
        let response = &data.responses[*member];
        for t in (0..stats.len()).filter(|t| response.trained[*t]) {
            let logprob = stats.logprob[t];
            let bad = !logprob.is_finite() || !stats.entropy[t].is_finite();
            found.push((
                !bad,
                if logprob.is_nan() { f32::NEG_INFINITY } else { logprob },
                BadToken {
                    sample: response.name(),
                    position: t as u64,
                    token_id: response.tokens[response.response_start + t],
                    what: format!(
                        "ln π {logprob}, entropy {}, advantage {}",
                        stats.entropy[t], response.advantage[t]
                    ),
                },
            ));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Stop {
        reason: format!("the {what} is not a finite number"),
        update: place.update,
        step: place.step,
        minibatch: place.minibatch,
        tokens: found.into_iter().take(BAD_TOKENS).map(|(_, _, token)| token).collect(),
    }
}
