//! Columns that are more than one value a row, or less: lists, runs, and some rows of them.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::values::arrays::WrongType;

/// A list column: row `i` has `values[offsets[i]..offsets[i + 1]]`.
pub struct Lists {
    /// Row boundaries in `values`.
    pub offsets: Vec<usize>,
    /// All rows' values, one after another.
    pub values: ArrayRef,
    /// Which rows have a list at all.
    pub nulls: Option<NullBuffer>,
}

impl Lists {
    /// Opens any kind of list array.
    pub fn of(array: &dyn Array) -> Result<Self, WrongType> {
        let nulls = array.nulls().cloned();
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets().iter().map(|o| *o as usize).collect();
                Ok(Self { offsets, values: list.values().clone(), nulls })
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let offsets = list.value_offsets().iter().map(|o| *o as usize).collect();
                Ok(Self { offsets, values: list.values().clone(), nulls })
            }
            DataType::FixedSizeList(_, _) => {
                let list = array.as_fixed_size_list();
                let width = usize::try_from(list.value_length()).unwrap_or(0);
                let offsets = (0..=list.len()).map(|i| i * width).collect();
                Ok(Self { offsets, values: list.values().clone(), nulls })
            }
            _ => Err(WrongType::of(array)),
        }
    }

    /// Length of row `i`.
    pub fn row_len(&self, i: usize) -> usize {
        if self.is_null(i) { 0 } else { self.offsets[i + 1] - self.offsets[i] }
    }

    /// Whether row `i` has no list.
    pub fn is_null(&self, i: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.is_null(i))
    }
}

/// The runs of a run-end encoded array: where each ends, and the values.
pub fn runs(array: &ArrayRef) -> Option<(&[i32], &ArrayRef)> {
    let runs = array.as_run_opt::<Int32Type>()?;
    Some((runs.run_ends().values(), runs.values()))
}

/// The given rows of an array, ascending, one after another; the rows of runs become plain.
pub fn take(array: &ArrayRef, rows: &[usize]) -> Result<ArrayRef, WrongType> {
    if let Some((ends, values)) = runs(array) {
        let mut run = 0;
        let of_row = |row: &usize| {
            run +=
                ends[run..].iter().take_while(|end| usize::try_from(**end).is_ok_and(|e| e <= *row)).count();
            run
        };
        let places: Vec<usize> = rows.iter().map(of_row).collect();
        return take(values, &places);
    }
    let rows = UInt64Array::from_iter_values(rows.iter().map(|row| *row as u64));
    arrow_select::take::take(array, &rows, None).map_err(|e| WrongType(e.to_string()))
}
