//! Canonical batches as Arrow rows, in either layout.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use super::schema::{OutputColumn, OutputSchema, item, once_a_response};
use crate::Layout;
use stapo_batch::batch::{Id, MISSING_FLAG, MISSING_ID, TokenBatch};
use stapo_batch::columns::{Column, Kind, Level};

/// Which response and which token (if any) each output row is of.
struct RowMap {
    response: Vec<usize>,
    token: Vec<Option<usize>>,
}

/// The rows of a batch.
pub fn rows(batch: &TokenBatch, output: &OutputSchema) -> Result<RecordBatch, String> {
    let map = match output.layout {
        Layout::Nested => None,
        Layout::Long => Some(token_rows(batch)),
    };
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(output.columns.len());
    for (column, field) in output.columns.iter().zip(output.schema.fields()) {
        let array = match column {
            OutputColumn::RewardPart(part) => {
                let found = batch.responses.reward_parts.iter().find(|(name, _)| name == part);
                spread(float_array(found.map(|(_, v)| &v[..]), batch.len()), map.as_ref())?
            }
            OutputColumn::Canonical(column) => match (column.level(), &map) {
                (Level::Token, None) => list(token_array(batch, *column), batch, field.data_type())?,
                (Level::Token, Some(map)) => token_column(batch, *column, map)?,
                (Level::Response, _) => {
                    let array = response_array(batch, *column, field.data_type())?;
                    match &map {
                        Some(map) if once_a_response(*column) => first_row_only(array, map)?,
                        map => spread(array, map.as_ref())?,
                    }
                }
            },
        };
        arrays.push(array);
    }
    RecordBatch::try_new(output.schema.clone(), arrays).map_err(|e| e.to_string())
}

/// One row a token; a response without tokens has one row.
fn token_rows(batch: &TokenBatch) -> RowMap {
    let mut map = RowMap { response: Vec::new(), token: Vec::new() };
    for i in 0..batch.len() {
        let tokens = batch.range(i);
        if tokens.is_empty() {
            map.response.push(i);
            map.token.push(None);
        }
        for t in tokens {
            map.response.push(i);
            map.token.push(Some(t));
        }
    }
    map
}

fn float_array(values: Option<&[f32]>, len: usize) -> ArrayRef {
    match values {
        Some(values) => {
            let valid = valid_where(values.iter().map(|v| !v.is_nan()));
            Arc::new(Float32Array::new(ScalarBuffer::from(values.to_vec()), valid))
        }
        None => Arc::new(Float32Array::new_null(len)),
    }
}

fn valid_where(valid: impl Iterator<Item = bool>) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::from_iter(valid));
    (nulls.null_count() > 0).then_some(nulls)
}

fn response_array(batch: &TokenBatch, column: Column, data_type: &DataType) -> Result<ArrayRef, String> {
    let r = &batch.responses;
    let n = batch.len();
    Ok(match column.kind() {
        Kind::Int if column == Column::Step => Arc::new(Int64Array::from(r.step.clone())),
        Kind::Int => {
            let values = r.ints.get(column).cloned().unwrap_or_else(|| vec![None; n]);
            match data_type {
                DataType::Int64 => Arc::new(Int64Array::from(values)) as ArrayRef,
                _ => {
                    let narrow = |v: Option<i64>| v.and_then(|v| i32::try_from(v).ok());
                    Arc::new(values.into_iter().map(narrow).collect::<Int32Array>())
                }
            }
        }
        Kind::Float | Kind::Double => float_array(r.floats.get(column).map(|v| &v[..]), n),
        Kind::Flag => {
            let values = r.flags.get(column).cloned().unwrap_or_else(|| vec![None; n]);
            Arc::new(BooleanArray::from(values))
        }
        Kind::Text => {
            let texts = r.texts.get(column).cloned().unwrap_or_else(|| vec![None; n]);
            Arc::new(texts.iter().map(|t| t.as_deref()).collect::<StringArray>())
        }
        Kind::Id => {
            let ids = r.ids.get(column).cloned().unwrap_or_else(|| vec![Id::Missing; n]);
            id_array(column, &ids, data_type)?
        }
        Kind::IdList => {
            let lists = r.prompt_ids.clone().unwrap_or_else(|| vec![None; n]);
            prompt_array(&lists)
        }
    })
}

fn id_array(column: Column, ids: &[Id], data_type: &DataType) -> Result<ArrayRef, String> {
    if data_type == &DataType::Utf8 {
        let text = |id: &Id| (*id != Id::Missing).then(|| id.to_string());
        return Ok(Arc::new(ids.iter().map(text).collect::<StringArray>()));
    }
    let whole = |id: &Id| match id {
        Id::Int(i) => Ok(Some(*i)),
        Id::Missing => Ok(None),
        Id::Text(text) => Err(format!("`{column}` is a number in some rows and text (`{text}`) in others")),
    };
    Ok(Arc::new(ids.iter().map(whole).collect::<Result<Int64Array, String>>()?))
}

fn prompt_array(lists: &[Option<ScalarBuffer<i32>>]) -> ArrayRef {
    let offsets = OffsetBuffer::from_lengths(lists.iter().map(|l| l.as_ref().map_or(0, |l| l.len())));
    let values: Vec<i32> = lists.iter().flatten().flat_map(|l| l.iter().copied()).collect();
    let nulls = valid_where(lists.iter().map(Option::is_some));
    Arc::new(ListArray::new(item(DataType::Int32), offsets, Arc::new(ids_or_null(values.into())), nulls))
}

fn ids_or_null(values: ScalarBuffer<i32>) -> Int32Array {
    let valid = valid_where(values.iter().map(|v| *v != MISSING_ID));
    Int32Array::new(values, valid)
}

/// All tokens of a column, one after another.
fn token_array(batch: &TokenBatch, column: Column) -> ArrayRef {
    let t = &batch.tokens;
    let n = batch.token_count();
    match column.kind() {
        Kind::Int => match t.ints.get(column) {
            Some(values) => Arc::new(ids_or_null(values.clone())),
            None if column == Column::Position => Arc::new(plain_positions(batch)),
            None => Arc::new(Int32Array::new_null(n)),
        },
        Kind::Double => match t.doubles.get(column) {
            Some(values) => {
                let valid = valid_where(values.iter().map(|v| !v.is_nan()));
                Arc::new(Float64Array::new(values.clone(), valid))
            }
            None => Arc::new(Float64Array::new_null(n)),
        },
        Kind::Flag => match t.flags.get(column) {
            Some(values) => {
                let flag = |f: &u8| (*f != MISSING_FLAG).then_some(*f == 1);
                Arc::new(values.iter().map(flag).collect::<BooleanArray>())
            }
            // No mask means that all tokens are trained on; null would read as the opposite.
            None if column == Column::Mask => Arc::new(BooleanArray::from(vec![true; n])),
            None => Arc::new(BooleanArray::new_null(n)),
        },
        Kind::Text => match &t.texts {
            Some(texts) => Arc::new(texts.clone()),
            None => Arc::new(StringArray::new_null(n)),
        },
        Kind::Float | Kind::Id | Kind::IdList => float_array(t.floats.get(column).map(|b| &b[..]), n),
    }
}

fn plain_positions(batch: &TokenBatch) -> Int32Array {
    (0..batch.len()).flat_map(|i| 0..batch.range(i).len() as i32).collect()
}

fn list(values: ArrayRef, batch: &TokenBatch, data_type: &DataType) -> Result<ArrayRef, String> {
    let DataType::List(item) = data_type else { return Err("not a list".into()) };
    let offsets = OffsetBuffer::from_lengths(batch.offsets.windows(2).map(|w| w[1] - w[0]));
    Ok(Arc::new(ListArray::new(item.clone(), offsets, values, None)))
}

/// A token column in the long layout; rows without a token are null.
fn token_column(batch: &TokenBatch, column: Column, map: &RowMap) -> Result<ArrayRef, String> {
    let values = token_array(batch, column);
    if map.token.iter().all(Option::is_some) {
        return Ok(values);
    }
    pick(&values, map.token.iter().copied())
}

fn spread(values: ArrayRef, map: Option<&RowMap>) -> Result<ArrayRef, String> {
    match map {
        None => Ok(values),
        Some(map) => pick(&values, map.response.iter().map(|i| Some(*i))),
    }
}

fn first_row_only(values: ArrayRef, map: &RowMap) -> Result<ArrayRef, String> {
    let mut last = None;
    let first = map.response.iter().map(|i| (last.replace(*i) != Some(*i)).then_some(*i));
    pick(&values, first.collect::<Vec<_>>().into_iter())
}

fn pick(values: &ArrayRef, rows: impl Iterator<Item = Option<usize>>) -> Result<ArrayRef, String> {
    let data = values.to_data();
    let mut out = arrow_data::transform::MutableArrayData::new(vec![&data], true, values.len());
    let mut run: Option<(usize, usize)> = None;
    let flush = |run: Option<(usize, usize)>, out: &mut arrow_data::transform::MutableArrayData<'_>| match run
    {
        Some((from, to)) => out.try_extend(0, from, to),
        None => Ok(()),
    };
    let fail = |e: arrow_schema::ArrowError| e.to_string();
    for row in rows {
        match (row, run) {
            (Some(row), Some((from, to))) if row == to => run = Some((from, to + 1)),
            (Some(row), before) => {
                flush(before, &mut out).map_err(fail)?;
                run = Some((row, row + 1));
            }
            (None, before) => {
                flush(before, &mut out).map_err(fail)?;
                run = None;
                out.try_extend_nulls(1).map_err(fail)?;
            }
        }
    }
    flush(run, &mut out).map_err(fail)?;
    Ok(arrow_array::make_array(out.freeze()))
}
