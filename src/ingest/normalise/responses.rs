//! Response-level columns of a batch, for both layouts.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;

use crate::error::Result;
use crate::ingest::batch::{Id, ResponseColumns};
use crate::ingest::normalise::quality::{Quality, ValuePlace};
use crate::ingest::schema::columns::{Column, Kind, Level};
use crate::ingest::schema::context::FileContext;
use crate::ingest::schema::dialect::group_of_uid;
use crate::ingest::schema::mapping::{Mapped, Mapping, Transform};
use crate::ingest::values::arrays::{self, Lists, WrongType};

/// Reads the response-level columns at the given rows of the batch. `row_of` gives the file's row
/// of a response, for messages.
pub fn read(
    batch: &RecordBatch,
    mapping: &Mapping,
    context: &FileContext,
    rows: &[usize],
    row_of: &dyn Fn(usize) -> u64,
    quality: &mut Quality,
) -> Result<ResponseColumns> {
    let mut out = ResponseColumns::default();
    let mut steps: Option<Vec<Option<i64>>> = None;
    for mapped in mapping.columns.iter().filter(|m| m.column.level() == Level::Response) {
        let Some((array, source)) = first_source(batch, mapped) else { continue };
        let wrong = |WrongType(found)| context.type_error(&source.name, mapped.column, found);
        let array = pick(array, rows).map_err(wrong)?;
        let column = mapped.column;
        match column.kind() {
            Kind::Int if column == Column::Step => {
                steps = Some(arrays::to_i64(&array).map_err(wrong)?);
            }
            Kind::Int => out.ints.set(column, arrays::to_i64(&array).map_err(wrong)?),
            Kind::Float | Kind::Double => {
                let values = arrays::to_f32(&array).map_err(wrong)?;
                let place = |i: usize| ValuePlace { file: context.file, row: row_of(i), position: 0 };
                out.floats.set(column, finite(column, &values, &array, &place, quality));
            }
            Kind::Flag => {
                let flags = arrays::to_flags(&array).map_err(wrong)?;
                let flag = |f: &u8| (*f <= 1).then_some(*f == 1);
                out.flags.set(column, flags.iter().map(flag).collect());
            }
            Kind::Text => out.texts.set(column, arrays::to_texts(&array).map_err(wrong)?),
            Kind::Id => {
                let ids = arrays::to_ids(&array).map_err(wrong)?;
                out.ids.set(column, ids.into_iter().map(|id| transform_id(id, source.transform)).collect());
            }
            Kind::IdList => out.prompt_ids = Some(id_lists(&array).map_err(wrong)?),
        }
    }
    let fallback = context.step.unwrap_or(0);
    out.step = match steps {
        Some(steps) => steps.into_iter().map(|s| s.unwrap_or(fallback)).collect(),
        None => vec![fallback; rows.len()],
    };
    for (raw, part) in &mapping.reward_parts {
        if let Some(array) = batch.column_by_name(raw) {
            let wrong = |WrongType(found)| context.type_error(raw, Column::Reward, found);
            let values = pick(array, rows).and_then(|a| arrays::to_f32(&a)).map_err(wrong)?;
            out.reward_parts.push((Arc::from(part.as_str()), values.to_vec()));
        }
    }
    Ok(out)
}

fn first_source<'a>(
    batch: &'a RecordBatch,
    mapped: &'a Mapped,
) -> Option<(&'a ArrayRef, &'a crate::ingest::schema::mapping::RawSource)> {
    let source = mapped.sources.first()?;
    Some((batch.column_by_name(&source.name)?, source))
}

/// The rows of an array; the whole array where all rows are asked for.
fn pick(array: &ArrayRef, rows: &[usize]) -> Result<ArrayRef, WrongType> {
    let all = rows.len() == array.len() && arrays::runs(array).is_none();
    if all { Ok(array.clone()) } else { arrays::take(array, rows) }
}

fn transform_id(id: Id, transform: Transform) -> Id {
    match (&id, transform) {
        (Id::Text(uid), Transform::StripIndices) => Id::Text(Arc::from(group_of_uid(uid))),
        _ => id,
    }
}

fn finite(
    column: Column,
    values: &[f32],
    array: &ArrayRef,
    place: &dyn Fn(usize) -> ValuePlace,
    quality: &mut Quality,
) -> Vec<f32> {
    let counts = quality.column(column);
    counts.values += values.len() as u64;
    let mut clean = values.to_vec();
    for (i, v) in clean.iter_mut().enumerate() {
        if v.is_finite() {
            continue;
        }
        if array.is_null(i) {
            counts.null += 1;
        } else {
            counts.not_finite += 1;
            counts.note(place(i));
        }
        *v = f32::NAN;
    }
    clean
}

fn id_lists(array: &ArrayRef) -> Result<Vec<Option<ScalarBuffer<i32>>>, WrongType> {
    let lists = Lists::of(array)?;
    let ids = arrays::to_i32(&lists.values)?;
    let row = |i: usize| {
        let from = lists.offsets[i];
        (!lists.is_null(i)).then(|| ids.slice(from, lists.offsets[i + 1] - from))
    };
    Ok((0..array.len()).map(row).collect())
}
