//! The columns of a made-up log.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, StringArray};

use crate::run::support::{float_lists, floats, int_lists, ints, write_parquet};

/// A group that is not logged.
pub const NO_GROUP: i64 = -1;

/// The columns of a log; those that are empty are not written.
#[derive(Clone, Default)]
pub struct Log {
    pub steps: Vec<i64>,
    pub updates: Vec<i64>,
    pub groups: Vec<i64>,
    pub samples: Vec<i64>,
    pub versions: Vec<i64>,
    pub rewards: Vec<f32>,
    /// Written as verl does.
    pub token_rewards: Vec<Vec<f32>>,
    pub parts: Vec<(&'static str, Vec<f32>)>,
    pub advantages: Vec<f32>,
    /// Written instead of those of responses where they are there.
    pub token_advantages: Vec<Vec<f32>>,
    pub truncated: Vec<bool>,
    /// Written instead of whether they were cut where they are there.
    pub endings: Vec<&'static str>,
    pub ids: Vec<Vec<i32>>,
    pub turns: Vec<Vec<i32>>,
    pub masks: Vec<Vec<i32>>,
    pub prompts: Vec<Vec<i32>>,
    /// ln π of the reference.
    pub references: Vec<Vec<f32>>,
    /// ln π_old, ln μ, ln π_θ, H, Σπ².
    pub values: [Vec<Vec<f32>>; 5],
}

/// Keeps the values whose place is kept.
fn keep<T>(values: &mut Vec<T>, kept: &[bool]) {
    let mut places = kept.iter();
    values.retain(|_| places.next().copied().unwrap_or(true));
}

impl Log {
    /// The steps before `from` of this log, then those of another one from there on.
    pub fn then(mut self, mut other: Self, from: i64) -> Self {
        self.keep_steps(|step| step < from);
        other.keep_steps(|step| step >= from);
        self.steps.append(&mut other.steps);
        self.updates.append(&mut other.updates);
        self.groups.append(&mut other.groups);
        self.samples.append(&mut other.samples);
        self.versions.append(&mut other.versions);
        self.rewards.append(&mut other.rewards);
        self.token_rewards.append(&mut other.token_rewards);
        self.parts.iter_mut().zip(&mut other.parts).for_each(|((_, all), (_, more))| all.append(more));
        self.advantages.append(&mut other.advantages);
        self.token_advantages.append(&mut other.token_advantages);
        self.truncated.append(&mut other.truncated);
        self.endings.append(&mut other.endings);
        self.ids.append(&mut other.ids);
        self.turns.append(&mut other.turns);
        self.masks.append(&mut other.masks);
        self.prompts.append(&mut other.prompts);
        self.references.append(&mut other.references);
        self.values.iter_mut().zip(&mut other.values).for_each(|(all, more)| all.append(more));
        self
    }

    pub fn keep_steps(&mut self, is_kept: impl Fn(i64) -> bool) {
        let kept: Vec<bool> = self.steps.iter().map(|step| is_kept(*step)).collect();
        for values in [&mut self.steps, &mut self.updates, &mut self.groups] {
            keep(values, &kept);
        }
        for values in [&mut self.samples, &mut self.versions] {
            keep(values, &kept);
        }
        keep(&mut self.rewards, &kept);
        keep(&mut self.token_rewards, &kept);
        self.parts.iter_mut().for_each(|(_, values)| keep(values, &kept));
        keep(&mut self.advantages, &kept);
        keep(&mut self.token_advantages, &kept);
        keep(&mut self.truncated, &kept);
        keep(&mut self.endings, &kept);
        keep(&mut self.ids, &kept);
        keep(&mut self.turns, &kept);
        keep(&mut self.masks, &kept);
        keep(&mut self.prompts, &kept);
        keep(&mut self.references, &kept);
        self.values.iter_mut().for_each(|rows| keep(rows, &kept));
    }

    pub fn write(&self, path: &Path) {
        let lists = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let int_rows = |rows: &[Vec<i32>]| int_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let group_ids: Int64Array = self.groups.iter().map(|g| (*g != NO_GROUP).then_some(*g)).collect();
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("step", ints(&self.steps)), ("token_ids", int_rows(&self.ids))];
        if !self.groups.is_empty() {
            columns.push(("group_id", Arc::new(group_ids)));
        }
        if !self.samples.is_empty() {
            columns.push(("sample_id", ints(&self.samples)));
        }
        columns.push(match self.endings.is_empty() {
            true => ("truncated", Arc::new(BooleanArray::from(self.truncated.clone()))),
            false => ("finish_reason", Arc::new(StringArray::from(self.endings.clone()))),
        });
        if !self.rewards.is_empty() {
            columns.push(("reward", floats(&self.rewards)));
        }
        if !self.token_rewards.is_empty() {
            columns.push(("token_level_scores", lists(&self.token_rewards)));
        }
        columns.push((
            "advantage",
            match self.token_advantages.is_empty() {
                true => floats(&self.advantages),
                false => lists(&self.token_advantages),
            },
        ));
        columns.extend(self.parts.iter().map(|(name, values)| (*name, floats(values))));
        for (name, values) in [("update", &self.updates), ("policy_version", &self.versions)] {
            if !values.is_empty() {
                columns.push((name, ints(values)));
            }
        }
        for (name, rows) in [("turn", &self.turns), ("mask", &self.masks), ("prompt_ids", &self.prompts)] {
            if !rows.is_empty() {
                columns.push((name, int_rows(rows)));
            }
        }
        let names = ["logprob", "logprob_rollout", "logprob_new", "entropy", "sum_pi_sq"];
        for (name, rows) in names.into_iter().zip(&self.values).filter(|(_, rows)| !rows.is_empty()) {
            columns.push((name, lists(rows)));
        }
        if !self.references.is_empty() {
            columns.push(("logprob_ref", lists(&self.references)));
        }
        write_parquet(path, columns, 4_096);
    }
}
