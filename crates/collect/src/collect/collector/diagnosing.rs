//! What the diagnosis sees of a batch: its responses, with all their tokens, as they were logged.

use super::Collector;
use crate::collect::groups::group_hash;
use stapo_batch::batch::ResponseColumns;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;
use stapo_batch::held_out::HeldOut;
use stapo_batch::others::OtherValue;
use stapo_evidence::Response;
use stapo_evidence::rewards::place;
use std::borrow::Cow;

/// The prompt of a group, which the reader gives with its first response alone.
#[derive(Clone, Copy)]
pub struct GroupPrompt {
    group: u64,
    hash: u64,
    length: u32,
}

impl Collector<'_> {
    /// Adds the responses of a batch to what the diagnosis rests on.
    pub(super) fn diagnose(&mut self, batch: &TokenBatch) {
        let part_columns = part_columns(&batch.responses, &self.plan.reward_parts);
        let mut parts = vec![f32::NAN; part_columns.len()];
        for index in 0..batch.len() {
            let slice = slice_of(&batch.responses, &self.plan.others, index);
            fill(&mut parts, &part_columns, index);
            let response = self.logged(batch, index, &slice, &parts);
            self.diagnostics.evidence.add(&response);
            let (step, group, reward) = (response.step, response.group, response.reward);
            let mut values = Vec::with_capacity(2 + parts.len());
            values.push(reward);
            if let Some(rule) = &self.plan.questions.pass {
                let right = rule.judge(&batch.responses, index);
                values.push(right.map_or(f32::NAN, |right| f32::from(u8::from(right))));
            }
            values.extend(&parts);
            self.diagnostics.trained.push(step, group, &slice, &values);
        }
    }

    /// Adds responses of evaluation.
    pub(super) fn diagnose_held_out(&mut self, rows: &HeldOut) {
        let responses = &rows.responses;
        let part_columns = part_columns(responses, &self.plan.reward_parts);
        let mut parts = vec![f32::NAN; part_columns.len()];
        for index in 0..rows.len() {
            let slice = slice_of(responses, &self.plan.others, index);
            fill(&mut parts, &part_columns, index);
            let step = responses.step.get(index).copied().unwrap_or(0);
            let reward = float(responses, Column::Reward, index);
            let (group, hash) = ids(responses, step, index, u64::from(reward.to_bits()));
            let text = responses.texts.get(Column::PromptText).and_then(|texts| texts[index].clone());
            let prompt = text.map(|text| Mixer::new(1).with_id(Some(&Id::Text(text))).word());
            self.diagnostics.evidence.add(&Response {
                step,
                group,
                place: 0,
                hash,
                slice: &slice,
                held_out: true,
                reward,
                parts: &parts,
                prompt,
                ..nothing()
            });
            let mut values = Vec::with_capacity(2 + parts.len());
            values.push(reward);
            if let Some(rule) = &self.plan.questions.pass {
                values
                    .push(rule.judge(responses, index).map_or(f32::NAN, |right| f32::from(u8::from(right))));
            }
            values.extend(&parts);
            if let Some(clusters) = &mut self.clusters {
                let id = responses
                    .ids
                    .get(Column::GroupId)
                    .map(|ids| &ids[index])
                    .filter(|id| **id != Id::Missing);
                let group = id.map(|_| group);
                // A question comes back at other steps: where prompts are not logged, by the id of its group.
                let no_prompts = rows.prompts.iter().all(Option::is_none);
                let by_id = id.filter(|_| no_prompts).map(|id| Mixer::new(2).with_id(Some(id)).word());
                clusters.add_held_out(step, &slice, group, rows.prompts[index].or(by_id), hash, reward);
            }
            self.diagnostics.held_out.push(step, prompt.unwrap_or(group), &slice, &values);
        }
    }

    /// A response as it was logged.
    fn logged<'b>(
        &mut self,
        batch: &'b TokenBatch,
        index: usize,
        slice: &'b str,
        parts: &'b [f32],
    ) -> Response<'b> {
        let (responses, range) = (&batch.responses, batch.range(index));
        let floats = |column: Column| batch.floats(column).map(|values| &values[range.clone()]);
        let ints = |column: Column| batch.tokens.ints.get(column).map(|values| &values[range.clone()]);
        let int = |column: Column| responses.ints.get(column).and_then(|values| values[index]);
        let logprob = floats(Column::Logprob).unwrap_or_default();
        let step = responses.step.get(index).copied().unwrap_or(0);
        let content = [logprob.first(), logprob.last()]
            .map(|value| value.map_or(0, |value| u64::from(value.to_bits())));
        let update = int(Column::Update);
        let content = Mixer::new(range.len() as u64)
            .with(content[0] << 32 | content[1])
            .with(update.map_or(0, |update| update.cast_unsigned().wrapping_add(1)))
            .word();
        let (group, hash) = ids(responses, step, index, content);
        let prompt = match batch.responses.prompt_hash(index) {
            Some(hash) => Some((hash, prompt_length(batch, index))),
            None => {
                self.group_prompt.filter(|known| known.group == group).map(|known| (known.hash, known.length))
            }
        };
        self.group_prompt = prompt.map(|(hash, length)| GroupPrompt { group, hash, length });
        let logged_length = int(Column::PromptLen);
        let of_tokens = responses.prompt_ids.is_some();
        Response {
            step,
            group,
            place: place(batch.origin.unit, batch.origin.first_response + index as u64),
            hash,
            slice,
            held_out: false,
            update,
            version: int(Column::PolicyVersion),
            reward: float(responses, Column::Reward, index),
            parts,
            advantage: responses.floats.get(Column::AdvantageSeq).map(|values| values[index]),
            prompt: prompt.map(|(hash, _)| hash),
            prompt_len: logged_length.or(prompt.filter(|_| of_tokens).map(|(_, length)| i64::from(length))),
            finish: responses.texts.get(Column::FinishReason).and_then(|texts| texts[index].as_deref()),
            truncated: responses.flags.get(Column::Truncated).and_then(|flags| flags[index]),
            tokens: ints(Column::TokenId),
            mask: batch.mask().map(|mask| &mask[range.clone()]),
            logprob,
            entropy: floats(Column::Entropy),
            rollout: floats(Column::LogprobRollout),
            new: floats(Column::LogprobNew),
            reference: floats(Column::LogprobRef),
            advantages: floats(Column::Advantage),
            is_weight: floats(Column::IsWeight),
            grad_norm: floats(Column::GradNorm),
            turns: ints(Column::Turn),
        }
    }
}

/// The hash of a response's group, and of itself with what it holds; without ids it is a group of its own.
fn ids(responses: &ResponseColumns, step: i64, index: usize, content: u64) -> (u64, u64) {
    let id = |column| responses.ids.get(column).map_or(&Id::Missing, |ids| &ids[index]);
    let (group, sample) = (id(Column::GroupId), id(Column::SampleId));
    let own =
        Mixer::new(step.cast_unsigned()).with_id(Some(group)).with_id(Some(sample)).with(content).word();
    match group {
        Id::Missing => (own, own),
        group => (group_hash(step, group).word(), own),
    }
}

/// Task or data source, else the first column that the user slices by; "" where there is none.
pub(super) fn slice_of<'a>(responses: &'a ResponseColumns, others: &[String], index: usize) -> Cow<'a, str> {
    if let Some(sources) = responses.texts.get(Column::Source) {
        return sources[index].as_deref().unwrap_or_default().into();
    }
    match others.iter().find_map(|name| responses.others.value(name, index)) {
        Some(OtherValue::Text(text)) => Cow::Borrowed(text),
        Some(OtherValue::Number(number)) => number.to_string().into(),
        None => "".into(),
    }
}

fn float(responses: &ResponseColumns, column: Column, index: usize) -> f32 {
    responses.floats.get(column).map_or(f32::NAN, |values| values[index])
}

/// The values of each part of the reward in a batch.
fn part_columns<'a>(responses: &'a ResponseColumns, names: &[String]) -> Vec<Option<&'a [f32]>> {
    let of = |name: &String| responses.reward_parts.iter().find(|(known, _)| **known == **name);
    names.iter().map(|name| of(name).map(|(_, values)| &values[..])).collect()
}

fn fill(parts: &mut [f32], columns: &[Option<&[f32]>], index: usize) {
    for (part, column) in parts.iter_mut().zip(columns) {
        *part = column.map_or(f32::NAN, |values| values[index]);
    }
}

fn nothing<'a>() -> Response<'a> {
    Response {
        step: 0,
        group: 0,
        place: 0,
        hash: 0,
        slice: "",
        held_out: false,
        update: None,
        version: None,
        reward: f32::NAN,
        parts: &[],
        advantage: None,
        prompt: None,
        prompt_len: None,
        finish: None,
        truncated: None,
        tokens: None,
        mask: None,
        logprob: &[],
        entropy: None,
        rollout: None,
        new: None,
        reference: None,
        advantages: None,
        is_weight: None,
        grad_norm: None,
        turns: None,
    }
}

/// Tokens of a response's prompt, or characters where it is logged as a text; 0 where it is not logged.
fn prompt_length(source: &TokenBatch, index: usize) -> u32 {
    let responses = &source.responses;
    let ids = responses.prompt_ids.as_ref().and_then(|prompts| prompts[index].as_ref()).map(|ids| ids.len());
    let text = || responses.texts.get(Column::PromptText)?[index].as_ref().map(|text| text.chars().count());
    ids.or_else(text).map_or(0, |length| u32::try_from(length).unwrap_or(u32::MAX))
}
