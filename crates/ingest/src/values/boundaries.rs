//! Where responses start among the rows of a long log.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, downcast_primitive_array};
use arrow_schema::DataType;

use crate::values::arrays;
use crate::values::arrays::WrongType;
use crate::values::lists::runs;
use crate::values::texts;
use stapo_base::simd::{Work, widest};

/// The rows at which a response starts: a position that does not go on, or a key that changes.
pub fn starts(
    rows: usize,
    positions: Option<&ArrayRef>,
    keys: &[&ArrayRef],
) -> Result<Vec<usize>, WrongType> {
    // One byte a row, so that comparisons vectorise.
    let mut first = vec![0u8; rows];
    if let Some(row) = first.first_mut() {
        *row = 1;
    }
    let mut keys = keys;
    match (positions, keys) {
        (Some(array), _) => mark_positions(array, &mut first)?,
        (None, [key, rest @ ..]) if runs(key).is_none() => {
            mark_changes(key, &mut first, 0..rows);
            keys = rest;
        }
        (None, _) => {}
    }
    // Keys hardly ever change where positions go on: stretches that are constant are only compared.
    let found = marked(&first);
    let mut changed = false;
    for key in keys {
        if let Some((ends, _)) = runs(key) {
            changed |= mark_runs(ends, &mut first);
            continue;
        }
        let ends = found.iter().skip(1).copied().chain([rows]);
        for (start, end) in found.iter().copied().zip(ends) {
            if !is_constant(key, start, end) {
                mark_changes(key, &mut first, start..end);
                changed = true;
            }
        }
    }
    Ok(if changed { marked(&first) } else { found })
}

/// The rows at which a key changes or is null: whether two nulls mean the same no one knows.
pub fn changes(rows: usize, keys: &[&ArrayRef]) -> Vec<usize> {
    let mut first = vec![0u8; rows];
    if let Some(row) = first.first_mut() {
        *row = 1;
    }
    for key in keys {
        mark_changes(key, &mut first, 0..rows);
        if key.null_count() > 0 {
            first.iter_mut().enumerate().for_each(|(i, row)| *row |= u8::from(key.is_null(i)));
        }
    }
    marked(&first)
}

/// The indices of the marked rows; rows without a mark are passed over eight at a time.
fn marked(rows: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let (words, rest) = rows.as_chunks::<8>();
    for (w, word) in words.iter().enumerate() {
        if u64::from_ne_bytes(*word) != 0 {
            found.extend(word.iter().enumerate().filter(|(_, m)| **m != 0).map(|(i, _)| w * 8 + i));
        }
    }
    let done = rows.len() - rest.len();
    found.extend(rest.iter().enumerate().filter(|(_, m)| **m != 0).map(|(i, _)| done + i));
    found
}

/// Marks the rows whose position does not go on.
struct MarkRestarts<'a> {
    rows: &'a mut [u8],
    before: &'a [i32],
    now: &'a [i32],
}

impl Work for MarkRestarts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for ((row, before), now) in self.rows.iter_mut().zip(self.before).zip(self.now) {
            *row |= u8::from(now <= before);
        }
    }
}

fn mark_positions(array: &ArrayRef, first: &mut [u8]) -> Result<(), WrongType> {
    let positions = arrays::to_i32(array)?;
    if let Some((_, rows)) = first.split_first_mut() {
        let n = rows.len().min(positions.len().saturating_sub(1));
        let (before, now) = (&positions[..n], &positions[positions.len() - n..]);
        widest(MarkRestarts { rows: &mut rows[..n], before, now });
    }
    if array.null_count() > 0 {
        for (i, row) in first.iter_mut().enumerate().skip(1) {
            *row |= u8::from(array.is_null(i) || array.is_null(i - 1));
        }
    }
    Ok(())
}

/// Marks the rows behind the ends of runs; whether any was not marked before.
fn mark_runs(ends: &[i32], first: &mut [u8]) -> bool {
    let mut changed = false;
    for end in ends {
        if let Some(row) = usize::try_from(*end).ok().and_then(|end| first.get_mut(end)) {
            changed |= std::mem::replace(row, 1) == 0;
        }
    }
    changed
}

/// Whether all rows of a stretch surely have one value; numbers are compared as memory.
fn is_constant(array: &ArrayRef, start: usize, end: usize) -> bool {
    fn equal<T: PartialEq>(values: &[T], start: usize, end: usize) -> bool {
        values[start..end - 1] == values[start + 1..end]
    }
    if array.null_count() > 0 || end - start < 2 {
        return end - start < 2;
    }
    match array.data_type() {
        DataType::Int64 => equal(array.as_primitive::<arrow_array::types::Int64Type>().values(), start, end),
        DataType::Int32 => equal(array.as_primitive::<arrow_array::types::Int32Type>().values(), start, end),
        DataType::Dictionary(key, _) if key.as_ref() == &DataType::Int32 => {
            let keys = array.as_dictionary::<arrow_array::types::Int32Type>().keys();
            equal(keys.values(), start, end)
        }
        _ => false,
    }
}

/// Marks the rows whose value differs from the row before; nulls equal each other.
fn mark_changes(array: &ArrayRef, first: &mut [u8], rows: std::ops::Range<usize>) {
    let nulls = array.nulls().filter(|n| n.null_count() > 0);
    let mut mark = |differ: &dyn Fn(usize) -> bool| {
        for (i, row) in first.iter_mut().enumerate().take(rows.end).skip(rows.start + 1) {
            *row |= u8::from(match nulls.map(|n| (n.is_valid(i - 1), n.is_valid(i))) {
                None | Some((true, true)) => differ(i),
                Some((before, now)) => before != now,
            });
        }
    };
    match array.data_type() {
        DataType::Dictionary(_, _) => {
            let keys = arrays::dictionary_keys(array).unwrap_or_else(|| vec![0; array.len()]);
            mark(&|i| keys[i] != keys[i - 1]);
        }
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            mark(&|i| texts.value(i) != texts.value(i - 1));
        }
        _ => downcast_primitive_array!(
            array => mark(&|i| array.value(i) != array.value(i - 1)),
            _ => {
                let texts = texts::to_texts(array).unwrap_or_else(|_| vec![None; array.len()]);
                mark(&|i| texts[i] != texts[i - 1]);
            }
        ),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow_array::{Int32Array, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn positions_and_keys_both_start_responses() {
        let positions: ArrayRef = Arc::new(Int32Array::from(vec![0, 1, 2, 3, 0, 1, 5]));
        let samples: ArrayRef = Arc::new(Int64Array::from(vec![7, 7, 8, 8, 8, 8, 8]));
        let groups: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "a", "a", "a", "b", "b"]));
        assert_eq!(starts(7, Some(&positions), &[&samples, &groups]).unwrap(), [0, 2, 4, 5]);
        assert_eq!(starts(7, None, &[&samples, &groups]).unwrap(), [0, 2, 5]);
        assert_eq!(starts(0, None, &[]).unwrap(), Vec::<usize>::new());
    }

    #[test]
    fn nulls_equal_each_other() {
        let samples: ArrayRef = Arc::new(Int64Array::from(vec![None, None, Some(0), Some(0), None]));
        assert_eq!(starts(5, None, &[&samples]).unwrap(), [0, 2, 4]);
        assert_eq!(changes(5, &[&samples]), [0, 1, 2, 4]);
        let positions: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(0), Some(1), None, None]));
        assert_eq!(starts(5, Some(&positions), &[]).unwrap(), [0, 1, 3, 4]);
    }
}
