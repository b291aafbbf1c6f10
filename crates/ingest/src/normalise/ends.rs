//! Prompt and padding in front of and behind the responses of a long log: what is cut from the lists of
//! a row is cut from the rows of a token too, so that both layouts of a log say the same.

use std::ops::Range;

use crate::align::plan;
use crate::align::plan::{RowPlan, RowShape};
use crate::schema::alignment::{AlignmentRule, ListAlignment};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;

/// Cuts the ends of whole responses; whether there was anything to cut. `own_prompt` says whether the
/// log has a column of prompts.
pub fn cut(batch: &mut TokenBatch, rule: AlignmentRule, own_prompt: bool) -> bool {
    let given = match rule {
        AlignmentRule::Auto => None,
        AlignmentRule::Given(
            given @ (ListAlignment::Response | ListAlignment::LeftPadded | ListAlignment::Full),
        ) => Some(given),
        // A row holds its own token's values: nothing is shifted, nothing is left out.
        AlignmentRule::Exact | AlignmentRule::Given(_) => return false,
    };
    let told = matches!(given, Some(ListAlignment::LeftPadded | ListAlignment::Full));
    if !told && !(0..batch.len()).any(|i| has_ends(batch, i)) {
        return false;
    }
    let plans: Vec<RowPlan> = (0..batch.len()).map(|i| plan_of(batch, i, given, own_prompt)).collect();
    if plans.iter().any(|plan| plan.prompt_before) {
        let prompt = |(i, plan): (usize, &RowPlan)| {
            let ids = batch.tokens.ints.get(Column::TokenId).filter(|_| plan.prompt_before)?;
            Some(ids.slice(batch.offsets[i], plan.response.start))
        };
        batch.responses.prompt_ids = Some(plans.iter().enumerate().map(prompt).collect());
    }
    if (0..batch.len()).all(|i| plans[i].response == (0..batch.range(i).len())) {
        return false;
    }
    let kept: Vec<Range<usize>> = plans.into_iter().map(|plan| plan.response).collect();
    batch.keep(&kept);
    batch.count_positions_from(|i| kept[i].start);
    true
}

/// Whether a response may have an end to cut.
fn has_ends(batch: &TokenBatch, i: usize) -> bool {
    let tokens = batch.range(i);
    let untrained = batch.mask().is_some_and(|mask| {
        let mask = &mask[tokens.clone()];
        [mask.first(), mask.last()].into_iter().flatten().any(|flag| *flag != 1)
    });
    untrained || logged_length(batch, i, Column::ResponseLen).is_some_and(|n| n != tokens.len())
}

fn logged_length(batch: &TokenBatch, i: usize, column: Column) -> Option<usize> {
    usize::try_from(batch.responses.ints.get(column)?[i]?).ok()
}

fn plan_of(batch: &TokenBatch, i: usize, given: Option<ListAlignment>, own_prompt: bool) -> RowPlan {
    let tokens = batch.range(i);
    let shape = RowShape {
        tokens: tokens.len(),
        values: tokens.len(),
        uneven: false,
        mask: batch.mask().map(|mask| &mask[tokens.clone()]),
        response_len: logged_length(batch, i, Column::ResponseLen),
        prompt_len: logged_length(batch, i, Column::PromptLen),
        own_prompt,
        ids: batch.token_ids().map(|ids| &ids[tokens.clone()]),
    };
    plan::plan(given, &shape).unwrap_or_else(|| RowPlan::whole(tokens.len()))
}
