//! The columns of a made-up log.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};

use crate::support::{float_lists, floats, int_lists, ints, write_parquet};

/// The columns of a log; those that are empty are not written.
#[derive(Default)]
pub struct Log {
    pub steps: Vec<i64>,
    pub updates: Vec<i64>,
    pub groups: Vec<i64>,
    pub samples: Vec<i64>,
    pub versions: Vec<i64>,
    pub rewards: Vec<f32>,
    pub parts: Vec<(&'static str, Vec<f32>)>,
    pub advantages: Vec<f32>,
    pub truncated: Vec<bool>,
    pub ids: Vec<Vec<i32>>,
    pub turns: Vec<Vec<i32>>,
    /// ln π_old, ln μ, ln π_θ, H, Σπ².
    pub values: [Vec<Vec<f32>>; 5],
}

impl Log {
    pub fn write(&self, path: &Path) {
        let lists = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let int_rows = |rows: &[Vec<i32>]| int_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("step", ints(&self.steps)),
            ("group_id", ints(&self.groups)),
            ("sample_id", ints(&self.samples)),
            ("reward", floats(&self.rewards)),
            ("advantage", floats(&self.advantages)),
            ("truncated", Arc::new(BooleanArray::from(self.truncated.clone()))),
            ("token_ids", int_rows(&self.ids)),
        ];
        columns.extend(self.parts.iter().map(|(name, values)| (*name, floats(values))));
        for (name, values) in [("update", &self.updates), ("policy_version", &self.versions)] {
            if !values.is_empty() {
                columns.push((name, ints(values)));
            }
        }
        if !self.turns.is_empty() {
            columns.push(("turn", int_rows(&self.turns)));
        }
        let names = ["logprob", "logprob_rollout", "logprob_new", "entropy", "sum_pi_sq"];
        for (name, rows) in names.into_iter().zip(&self.values).filter(|(_, rows)| !rows.is_empty()) {
            columns.push((name, lists(rows)));
        }
        write_parquet(path, columns, 4_096);
    }
}
