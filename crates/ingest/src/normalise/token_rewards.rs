//! Rewards of responses from those of their tokens.

use crate::file_context::FileContext;
use crate::normalise::quality::Quality;
use crate::schema::mapping::Mapping;
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;

/// Adds the rewards of tokens up where nothing else says a response's, and counts those that are missing. The
/// responses are whole, their prompts and padding cut.
pub fn sum(batch: &mut TokenBatch, mapping: &Mapping, context: &FileContext, quality: &mut Quality) {
    if !mapping.sums_token_rewards() || batch.tokens.floats.get(Column::TokenReward).is_none() {
        return;
    }
    batch.sum_token_rewards();
    let asked = context.asked(&batch.responses);
    let is_asked = |i: &usize| asked.as_ref().is_none_or(|asked| asked[*i] == 1);
    let rewards = batch.responses.floats.get(Column::Reward);
    let is_null = |i: usize| rewards.is_none_or(|rewards| rewards[i].is_nan());
    let counts = quality.column(Column::Reward);
    for i in (0..batch.len()).filter(is_asked) {
        counts.values += 1;
        counts.null += u64::from(is_null(i));
    }
}
