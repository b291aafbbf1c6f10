//! Responses that are kept whole, with their prompts.

use std::sync::Arc;

use super::Collector;
use super::response::Response;
use crate::collect::columns::Columns;
use crate::collect::views::{Interest, KeptResponse, LoggedPrompt, Prompt, kept_stretch};
use crate::plan::was_cut;
use stapo_batch::batch::Id;
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;

impl Collector<'_> {
    /// Keeps a whole response where it is wanted: norms of all its tokens are computed again.
    pub(super) fn keep_view(&mut self, response: &Response<'_>, whole: &Columns<'_>, risk: f64) {
        self.note_prompt(response);
        let ending = ending(response);
        let interest = Interest {
            risk,
            reward: response.reward,
            truncated: ending.as_deref().and_then(was_cut) == Some(true),
            hash: response.hash,
            drawn: draw_key(response),
        };
        let Some(tokens) = self.views.admits(&interest) else { return };
        let range = response.source.range(response.index);
        let candidate = |t: &usize| {
            let advantage = whole.advantage.get(*t).copied().unwrap_or(0.0);
            whole.logprob.get(*t).is_some_and(|l| self.plan.rule.is_candidate(*l, advantage))
        };
        let centre = (0..range.len()).find(candidate).unwrap_or(0);
        let kept = kept_stretch(range.len(), centre, tokens);
        let columns = whole.slice(kept.clone());
        let mask = response.source.mask().map(|mask| &mask[range.clone()]);
        let text = |i: usize| response.source.token_text(range.start + i).unwrap_or_default().into();
        let norm = self.norms(&columns);
        let view = KeptResponse {
            risk,
            hash: response.hash,
            batch: response.key,
            update: response.update,
            group: response.id(Column::GroupId).clone(),
            sample: response.id(Column::SampleId).clone(),
            place: response.place(),
            reward: response.reward,
            ending,
            prompt: self.prompt_of(response),
            length: range.len(),
            centre,
            first: kept.start,
            token_ids: columns.token_id.to_vec(),
            texts: response.source.tokens.texts.as_ref().map(|_| kept.clone().map(text).collect()),
            trained: kept.clone().map(|t| mask.is_none_or(|mask| mask[t] == 1)).collect(),
            logprob: columns.logprob.to_vec(),
            entropy: columns.entropy.to_vec(),
            advantage: columns.advantage.to_vec(),
            norm,
        };
        self.views.add(&interest, view);
    }

    /// Remembers the prompt of a response for those of its group that follow.
    fn note_prompt(&mut self, response: &Response<'_>) {
        let responses = &response.source.responses;
        let ids = responses.prompt_ids.as_ref().and_then(|ids| ids.get(response.index)?.clone());
        let text = || responses.texts.get(Column::PromptText).and_then(|t| t.get(response.index)?.clone());
        let prompt = ids.map(LoggedPrompt::Ids).or_else(|| text().map(LoggedPrompt::Text));
        if let Some(prompt) = prompt {
            self.prompt = Some((response.key.step, response.id(Column::GroupId).clone(), prompt));
        }
    }

    /// The prompt of a response, its end where it is long.
    fn prompt_of(&self, response: &Response<'_>) -> Option<Prompt> {
        let (step, group, prompt) = self.prompt.as_ref()?;
        let same = *step == response.key.step && group == response.id(Column::GroupId);
        same.then(|| prompt.end())
    }
}

/// Why a response ended: its reason, else that it was cut.
fn ending(response: &Response<'_>) -> Option<Arc<str>> {
    let responses = &response.source.responses;
    let reason = responses.texts.get(Column::FinishReason).and_then(|t| t[response.index].clone());
    let cut = || responses.flags.get(Column::Truncated).and_then(|t| t[response.index]);
    reason.or_else(|| cut().map(|cut| if cut { "truncated".into() } else { "complete".into() }))
}

/// What is drawn at random: the group, else the response itself.
fn draw_key(response: &Response<'_>) -> (u32, i64, Id) {
    let step = response.key.step;
    match response.id(Column::GroupId) {
        Id::Missing => (response.hash, step, response.id(Column::SampleId).clone()),
        group => (Mixer::new(step.cast_unsigned()).with_id(Some(group)).finish(), step, group.clone()),
    }
}
