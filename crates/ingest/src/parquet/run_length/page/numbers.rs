//! The values of a data page, number by number.

use arrow_buffer::NullBufferBuilder;
use parquet::errors::Result;

use super::split_bytes::SplitBytes;
use super::{OpenPage, PageValues, too_few};
use crate::parquet::run_length::hybrid::{Room, Stretch, bad};
use stapo_base::simd::{Work, widest};

/// Numbers that room is made for at once: what is cleared is at hand when it is filled.
const AT_ONCE: usize = 1024;

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

    /// The next numbers, of which the bytes lie apart; `None` where fewer are left.
    fn join(split: &mut SplitBytes, into: &mut [Self]) -> Option<()>;
}

macro_rules! numbers {
    ($($type:ty: $($byte:ident)*;)*) => {$(
        impl Number for $type {
            type Stored = [u8; size_of::<$type>()];

            fn stored(bytes: &[u8]) -> &[Self::Stored] {
                bytes.as_chunks().0
            }

            #[inline(always)]
            fn of(stored: Self::Stored) -> Self {
                Self::from_le_bytes(stored)
            }

            fn join(split: &mut SplitBytes, into: &mut [Self]) -> Option<()> {
                let streams = split.next_streams(into.len())?;
                widest(Joining { streams, into });
                Some(())
            }
        }

        impl Work for Joining<'_, $type, { size_of::<$type>() }> {
            type Output = ();

            #[inline(always)]
            fn call(self) {
                let n = self.into.len();
                let [$($byte),*] = self.streams.map(|stream| &stream[..n]);
                for i in 0..n {
                    self.into[i] = <$type>::from_le_bytes([$($byte[i]),*]);
                }
            }
        }
    )*};
}
numbers! {
    i32: a b c d;
    i64: a b c d e f g h;
    f32: a b c d;
    f64: a b c d e f g h;
}

/// Numbers and their bytes: all lowest, then all of the next, and so on.
struct Joining<'a, T, const WIDTH: usize> {
    streams: [&'a [u8]; WIDTH],
    into: &'a mut [T],
}

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
            PageValues::Split(split) => {
                for first in (0..rows).step_by(AT_ONCE) {
                    let room = more(into, AT_ONCE.min(rows - first));
                    T::join(split, room).ok_or_else(too_few)?;
                }
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

/// Room for so many more numbers.
fn more<T: Number>(into: &mut Vec<T>, count: usize) -> &mut [T] {
    let before = into.len();
    into.resize(before + count, T::default());
    &mut into[before..]
}
