//! The values of a data page, number by number.

use arrow_buffer::NullBufferBuilder;
use parquet::errors::Result;

use super::{OpenPage, PageValues, too_few};
use crate::ingest::parquet::run_length::hybrid::{Room, Stretch, bad};

/// Numbers as they are read.
pub struct Numbers<T> {
    /// Values; anything where null.
    pub values: Vec<T>,
    /// Which are not null.
    pub valid: NullBufferBuilder,
}

/// A number of fixed width.
pub trait Number: Copy + Default {
    /// Adds the numbers that `bytes` are.
    fn extend(into: &mut Vec<Self>, bytes: &[u8]);
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn extend(into: &mut Vec<Self>, bytes: &[u8]) {
                into.extend(bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|b| Self::from_le_bytes(*b)));
            }
        }
    )*};
}
numbers!(i32 i64 f32 f64);

impl OpenPage {
    /// Reads at most `most` rows, one by one.
    pub fn read<T: Number>(
        &mut self,
        most: usize,
        dictionary: &[T],
        into: &mut Numbers<T>,
        room: &mut Room,
    ) -> Result<()> {
        self.open_level()?;
        let rows = most.min(self.rows).min(self.open_level.len);
        if self.open_level.value == 0 {
            into.values.resize(into.values.len() + rows, T::default());
            into.valid.append_n_nulls(rows);
        } else {
            self.read_values(rows, dictionary, &mut into.values, room)?;
            into.valid.append_n_non_nulls(rows);
        }
        self.open_level.len -= rows;
        self.rows -= rows;
        Ok(())
    }

    fn read_values<T: Number>(
        &mut self,
        rows: usize,
        dictionary: &[T],
        into: &mut Vec<T>,
        room: &mut Room,
    ) -> Result<()> {
        let indices = match &mut self.values {
            PageValues::Plain { bytes, width } => {
                let size = rows.checked_mul(*width).filter(|size| *size <= bytes.len());
                T::extend(into, &bytes.split_to(size.ok_or_else(too_few)?));
                return Ok(());
            }
            PageValues::Indices(indices) => indices,
        };
        let beyond = || bad("an index beyond its dictionary");
        let end = into.len() + rows;
        while into.len() < end {
            let left = end - into.len();
            if self.open_index.len > 0 {
                let value = *dictionary.get(self.open_index.value as usize).ok_or_else(beyond)?;
                let len = left.min(self.open_index.len);
                self.open_index.len -= len;
                into.extend(std::iter::repeat_n(value, len));
                continue;
            }
            match indices.next_stretch(left, room)? {
                Stretch::Repeated(run) => self.open_index = run,
                Stretch::Packed(found) => {
                    let mut is_beyond = false;
                    into.extend(found.iter().map(|index| match dictionary.get(*index as usize) {
                        Some(value) => *value,
                        None => {
                            is_beyond = true;
                            T::default()
                        }
                    }));
                    if is_beyond {
                        return Err(beyond());
                    }
                }
            }
        }
        Ok(())
    }
}
