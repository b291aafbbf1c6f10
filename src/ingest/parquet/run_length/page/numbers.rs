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
    /// Its bytes, as a page has them.
    type Stored: Copy;

    /// The numbers that `bytes` are, as they are: a dictionary is as large as what is read with it, mostly, and one
    /// that is copied takes twice the memory.
    fn stored(bytes: &[u8]) -> &[Self::Stored];

    /// The number.
    fn of(stored: Self::Stored) -> Self;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            type Stored = [u8; size_of::<$type>()];

            fn stored(bytes: &[u8]) -> &[Self::Stored] {
                bytes.as_chunks().0
            }

            #[inline(always)]
            fn of(stored: Self::Stored) -> Self {
                Self::from_le_bytes(stored)
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
        dictionary: &[T::Stored],
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
        dictionary: &[T::Stored],
        into: &mut Vec<T>,
        room: &mut Room,
    ) -> Result<()> {
        let indices = match &mut self.values {
            PageValues::Plain { bytes, width } => {
                let size = rows.checked_mul(*width).filter(|size| *size <= bytes.len());
                let bytes = bytes.split_to(size.ok_or_else(too_few)?);
                into.extend(T::stored(&bytes).iter().map(|stored| T::of(*stored)));
                return Ok(());
            }
            PageValues::Indices(indices) => indices,
        };
        let beyond = || bad("an index beyond its dictionary");
        let end = into.len() + rows;
        while into.len() < end {
            let left = end - into.len();
            if self.open_index.len > 0 {
                let value = T::of(*dictionary.get(self.open_index.value as usize).ok_or_else(beyond)?);
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
                        Some(stored) => T::of(*stored),
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
