//! Response-level columns of a batch, for both layouts.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;

use crate::file_context::FileContext;
use crate::normalise::quality::{Quality, ValuePlace};
use crate::schema::dialect::group_of_uid;
use crate::schema::mapping::{Mapped, Mapping, RawSource, Transform, source_names};
use crate::text_logs::sum_of_functions;
use crate::values::arrays;
use crate::values::arrays::WrongType;
use crate::values::lists;
use crate::values::lists::Lists;
use crate::values::texts;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::{Id, OpenStart, ResponseColumns};
use stapo_batch::columns::{Column, Kind, Level};
use stapo_batch::hash::Mixer;
use stapo_batch::others::OtherColumns;

/// Reads the response-level columns at the given rows of the batch; the function gives the file's row
/// of a response, for messages. Where the first may have `begun` before, its values are counted later.
pub fn read(
    batch: &RecordBatch,
    mapping: &Mapping,
    context: &FileContext,
    (rows, row_of): (&[usize], &dyn Fn(usize) -> u64),
    begun: bool,
    quality: &mut Quality,
) -> Result<ResponseColumns> {
    let mut out = ResponseColumns::default();
    let mut steps = None;
    let mut floats: Vec<(Column, ArrayRef)> = Vec::new();
    for mapped in mapping.columns.iter().filter(|m| m.column.level() == Level::Response) {
        let Some((array, source)) = first_source(batch, mapped) else { continue };
        let wrong = |WrongType(found)| context.type_error(&source.name, mapped.column, found);
        let array = pick(array, rows).map_err(wrong)?;
        let column = mapped.column;
        match column.kind() {
            Kind::Int if column == Column::Step => {
                let values = texts::to_i64(&array).map_err(wrong)?;
                steps = Some(whole_steps(&values, &array, &source.name, context, row_of)?);
            }
            Kind::Int => out.ints.set(column, texts::to_i64(&array).map_err(wrong)?),
            Kind::Float | Kind::Double if mapped.sources.len() > 1 => {
                let of = |s: &RawSource| {
                    let array = batch.column_by_name(&s.name)?;
                    Some(pick(array, rows).map(|array| (array, s.transform)))
                };
                let parts = mapped.sources.iter().filter_map(of).collect::<Result<Vec<_>, _>>();
                out.floats.set(column, parts.and_then(|parts| sum_of_functions(&parts)).map_err(wrong)?);
            }
            Kind::Float | Kind::Double => {
                out.floats.set(column, arrays::to_f32(&array).map_err(wrong)?.to_vec());
                floats.push((column, array));
            }
            Kind::Flag => {
                let flags = arrays::to_flags(&array, false).map_err(wrong)?;
                let flag = |f: &u8| (*f <= 1).then_some(*f == 1);
                out.flags.set(column, flags.iter().map(flag).collect());
            }
            Kind::Text => out.texts.set(column, texts::to_texts(&array).map_err(wrong)?),
            Kind::Id => {
                let ids = texts::to_ids(&array).map_err(wrong)?;
                out.ids.set(column, ids.into_iter().map(|id| transform_id(id, source.transform)).collect());
            }
            Kind::IdList => out.prompt_ids = Some(id_lists(&array).map_err(wrong)?),
        }
    }
    out.step = match (steps, mapping.get(Column::Step), context.step) {
        (Some(steps), ..) => steps,
        // A JSON log whose rows had a step, and have none here.
        (None, Some(mapped), None) if !rows.is_empty() => {
            return Err(no_step(context, row_of(0), &source_names(mapped)));
        }
        (None, _, named) => vec![named.unwrap_or(0); rows.len()],
    };
    out.open_start =
        (begun && !rows.is_empty()).then(|| OpenStart { row: row_of(0), ..OpenStart::default() });
    if context.held_out {
        out.texts.set(Column::Split, vec![Some(Arc::from("validation")); rows.len()]);
    }
    let asked = context.asked(&out);
    let place = |i: usize| ValuePlace { file: context.file, row: row_of(i), position: 0 };
    for (column, array) in floats {
        let counted = |i: usize| asked.as_ref().is_none_or(|asked| asked[i] == 1);
        finite(column, &array, (&counted, &place), &mut out, quality);
    }
    for (raw, part) in &mapping.reward_parts {
        if let Some(array) = batch.column_by_name(raw) {
            let wrong = |WrongType(found)| context.type_error(raw, Column::Reward, found);
            let values = pick(array, rows).and_then(|a| arrays::to_f32(&a)).map_err(wrong)?;
            out.reward_parts.push((Arc::from(part.as_str()), values.to_vec()));
        }
    }
    out.others = others(batch, mapping, context, rows)?;
    Ok(out)
}

/// The columns that are none of the canonical ones; what is not of a file's type is missing.
fn others(
    batch: &RecordBatch,
    mapping: &Mapping,
    context: &FileContext,
    rows: &[usize],
) -> Result<OtherColumns> {
    let mut out = OtherColumns::default();
    for other in &mapping.others {
        let Some(array) = batch.column_by_name(&other.name) else { continue };
        let wrong = |WrongType(found)| Error::ColumnType {
            path: context.path.clone(),
            column: other.name.clone(),
            found,
            expected: "numbers or texts, one a response".into(),
            canonical: None,
        };
        let (name, array) = (Arc::from(other.name.as_str()), pick(array, rows).map_err(wrong)?);
        match other.is_number {
            true => out.numbers.push((name, arrays::to_f64(&array).map_err(wrong)?.to_vec())),
            false => out.texts.push((name, texts::to_texts(&array).map_err(wrong)?)),
        }
    }
    Ok(out)
}

/// Steps order everything that follows: one that cannot be read is never taken for another.
fn whole_steps(
    values: &[Option<i64>],
    array: &ArrayRef,
    raw: &str,
    context: &FileContext,
    row_of: &dyn Fn(usize) -> u64,
) -> Result<Vec<i64>> {
    let step = |(i, value): (usize, &Option<i64>)| match (value, context.step) {
        (Some(step), _) => Ok(*step),
        (None, Some(of_file)) if array.is_null(i) => Ok(of_file),
        (None, _) if array.is_null(i) => Err(no_step(context, row_of(i), raw)),
        (None, _) => {
            let shown = lists::take(array, &[i]).and_then(|one| texts::to_texts(&one)).ok();
            let shown = shown.and_then(|texts| texts.into_iter().next().flatten());
            let shown = shown.map_or_else(|| "this".to_owned(), |text| format!("`{text}`"));
            Err(context.bad_row(row_of(i), raw, format!("{shown} is not a whole number that a step can be")))
        }
    };
    values.iter().enumerate().map(step).collect()
}

fn no_step(context: &FileContext, row: u64, raw: &str) -> Error {
    let message =
        "the step is null, and neither folder nor file name says it (to count all as one step: --map step=)";
    context.bad_row(row, raw, message)
}

fn first_source<'a>(batch: &'a RecordBatch, mapped: &'a Mapped) -> Option<(&'a ArrayRef, &'a RawSource)> {
    let source = mapped.sources.first()?;
    Some((batch.column_by_name(&source.name)?, source))
}

/// The rows of an array; the whole array where all rows are asked for.
fn pick(array: &ArrayRef, rows: &[usize]) -> Result<ArrayRef, WrongType> {
    let all = rows.len() == array.len() && lists::runs(array).is_none();
    if all { Ok(array.clone()) } else { lists::take(array, rows) }
}

fn transform_id(id: Id, transform: Transform) -> Id {
    match (&id, transform) {
        (Id::Text(uid), Transform::StripIndices) => Id::Text(Arc::from(group_of_uid(uid))),
        (Id::Text(_), Transform::Digest) => {
            Id::Text(format!("prompt-{:016x}", Mixer::new(0).with_id(Some(&id)).word()).into())
        }
        _ => id,
    }
}

/// Makes what is not finite missing, and counts it.
fn finite(
    column: Column,
    array: &ArrayRef,
    (counted, place): (&dyn Fn(usize) -> bool, &dyn Fn(usize) -> ValuePlace),
    out: &mut ResponseColumns,
    quality: &mut Quality,
) {
    let Some(values) = out.floats.get_mut(column) else { return };
    let counts = quality.column(column);
    for (i, v) in values.iter_mut().enumerate() {
        let finite = v.is_finite();
        if !finite {
            *v = f32::NAN;
        }
        match &mut out.open_start {
            Some(start) if i == 0 => {
                start.not_finite.extend((!finite && !array.is_null(i)).then_some(column));
            }
            _ if counted(i) => {
                counts.values += 1;
                if !finite && array.is_null(i) {
                    counts.null += 1;
                } else if !finite {
                    counts.not_finite += 1;
                    counts.note(place(i));
                }
            }
            _ => {}
        }
    }
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
