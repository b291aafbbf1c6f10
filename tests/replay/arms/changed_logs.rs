//! The sample log with a column taken out or changed.

use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch};

/// Without a column.
pub fn without(batch: &RecordBatch, column: &str) -> RecordBatch {
    let kept: Vec<(String, ArrayRef)> = (batch.schema().fields().iter())
        .zip(batch.columns())
        .filter(|(field, _)| field.name() != column)
        .map(|(field, array)| (field.name().clone(), array.clone()))
        .collect();
    RecordBatch::try_from_iter(kept).unwrap()
}

/// With a column in place of another, or added.
pub fn replaced(batch: &RecordBatch, column: &str, array: ArrayRef) -> RecordBatch {
    let mut columns: Vec<(String, ArrayRef)> = (batch.schema().fields().iter())
        .zip(batch.columns())
        .map(|(field, old)| {
            (field.name().clone(), if field.name() == column { array.clone() } else { old.clone() })
        })
        .collect();
    if !columns.iter().any(|(name, _)| name == column) {
        columns.push((column.into(), array));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A token column, changed value by value: (response, position, value).
pub fn changed(batch: &RecordBatch, column: &str, change: impl Fn(usize, usize, f32) -> f32) -> ArrayRef {
    let lists = batch.column_by_name(column).unwrap().as_any().downcast_ref::<ListArray>().unwrap().clone();
    let rows = (0..lists.len()).map(|r| {
        let values = lists.value(r);
        let values = values.as_any().downcast_ref::<arrow_array::Float32Array>().unwrap();
        Some(values.values().iter().enumerate().map(|(t, v)| Some(change(r, t, *v))).collect::<Vec<_>>())
    });
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows))
}
