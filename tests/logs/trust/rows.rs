//! One log in both layouts.

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef, Float32Array, Int32Array, Int64Array, ListArray, RecordBatch};

use super::support::{Numbers, floats as floats_of, ints, write_batch};

/// A response as it is logged.
#[derive(Clone)]
pub struct Row {
    pub step: i64,
    pub group: i64,
    pub sample: Option<i64>,
    pub reward: Option<f32>,
    pub advantage: f32,
    pub ids: Vec<i32>,
    pub logprob: Vec<Option<f32>>,
    pub entropy: Vec<Option<f32>>,
    pub mask: Option<Vec<Option<i32>>>,
}

/// Steps of four groups of four responses.
pub fn rows(steps: i64) -> Vec<Row> {
    let mut numbers = Numbers(7);
    let mut rows = Vec::new();
    for step in 0..steps {
        for sample in 0..16 {
            let tokens = 20 + numbers.below(20);
            let reward = numbers.below(2) as f32;
            rows.push(Row {
                step,
                group: step * 4 + sample / 4,
                sample: Some(step * 16 + sample),
                reward: Some(reward),
                advantage: reward * 2.0 - 1.0,
                ids: (0..tokens).map(|_| 1 + numbers.below(90) as i32).collect(),
                logprob: (0..tokens).map(|_| Some(-3.0 * numbers.next() - 0.001)).collect(),
                entropy: (0..tokens).map(|_| Some(2.0 * numbers.next())).collect(),
                mask: None,
            });
        }
    }
    rows
}

pub fn write_nested(path: &Path, rows: &[Row]) {
    let floats = |of: fn(&Row) -> &Vec<Option<f32>>| -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(
            rows.iter().map(|r| Some(of(r).clone())),
        ))
    };
    let whole = |of: &dyn Fn(&Row) -> Vec<i32>| -> ArrayRef {
        let lists = rows.iter().map(|r| Some(of(r).into_iter().map(Some).collect::<Vec<_>>()));
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
    };
    let mut columns = of_responses(rows, &|_| 1);
    let advantages = rows.iter().map(|r| Some(vec![Some(r.advantage); r.ids.len()]));
    let advantages = ListArray::from_iter_primitive::<Float32Type, _, _>(advantages);
    columns.push(("advantage", Arc::new(advantages)));
    columns.push(("token_ids", whole(&|r| r.ids.clone())));
    columns.push(("logprob", floats(|r| &r.logprob)));
    columns.push(("entropy", floats(|r| &r.entropy)));
    if rows.iter().any(|r| r.mask.is_some()) {
        let masks = rows.iter().map(|r| Some(flags(r)));
        columns.push(("mask", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(masks))));
    }
    write(path, columns, 1 << 20);
}

/// One row a token; row groups are so small that responses lie across their borders.
pub fn write_long(path: &Path, rows: &[Row]) {
    let floats = |of: fn(&Row) -> &Vec<Option<f32>>| -> ArrayRef {
        Arc::new(rows.iter().flat_map(|r| of(r).clone()).collect::<Float32Array>())
    };
    let whole = |of: &dyn Fn(&Row) -> Vec<i32>| -> ArrayRef {
        Arc::new(rows.iter().flat_map(of).collect::<Int32Array>())
    };
    let mut columns = of_responses(rows, &|r| r.ids.len());
    let advantages = rows.iter().flat_map(|r| vec![r.advantage; r.ids.len()]).collect::<Vec<_>>();
    columns.push(("advantage", floats_of(&advantages)));
    columns.push(("position", whole(&|r| (0..r.ids.len() as i32).collect())));
    columns.push(("token_id", whole(&|r| r.ids.clone())));
    columns.push(("logprob", floats(|r| &r.logprob)));
    columns.push(("entropy", floats(|r| &r.entropy)));
    if rows.iter().any(|r| r.mask.is_some()) {
        columns.push(("mask", Arc::new(rows.iter().flat_map(flags).collect::<Int32Array>())));
    }
    write(path, columns, 333);
}

fn flags(row: &Row) -> Vec<Option<i32>> {
    row.mask.clone().unwrap_or_else(|| vec![Some(1); row.ids.len()])
}

fn of_responses(rows: &[Row], times: &dyn Fn(&Row) -> usize) -> Vec<(&'static str, ArrayRef)> {
    let whole = |of: fn(&Row) -> i64| -> ArrayRef {
        ints(&rows.iter().flat_map(|r| vec![of(r); times(r)]).collect::<Vec<_>>())
    };
    let floats = |of: fn(&Row) -> Option<f32>| -> ArrayRef {
        Arc::new(rows.iter().flat_map(|r| vec![of(r); times(r)]).collect::<Float32Array>())
    };
    let samples = rows.iter().flat_map(|r| vec![r.sample; times(r)]).collect::<Int64Array>();
    vec![
        ("step", whole(|r| r.step)),
        ("group_id", whole(|r| r.group)),
        ("sample_id", Arc::new(samples)),
        ("reward", floats(|r| r.reward)),
    ]
}

/// Columns without any value are left out.
fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, row_group: usize) {
    let has_values = |array: &ArrayRef| match array.as_any().downcast_ref::<ListArray>() {
        Some(lists) => lists.values().null_count() < lists.values().len(),
        None => array.null_count() < array.len(),
    };
    let columns = columns.into_iter().filter(|(_, array)| has_values(array));
    let nullable = columns.map(|(name, array)| (name, array, true));
    write_batch(path, &RecordBatch::try_from_iter_with_nullable(nullable).unwrap(), row_group);
}
