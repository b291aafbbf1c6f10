//! Values whose bytes lie apart: the first byte of every one, then the second of every one, and so on, as floats are
//! packed best.

use std::ops::Range;

use bytes::Bytes;

use crate::parquet::run_length::hybrid::Repeated;

/// What is left of such values.
#[derive(Debug)]
pub struct SplitBytes {
    bytes: Bytes,
    width: usize,
    /// Places of the values that are left.
    left: Range<usize>,
}

impl SplitBytes {
    /// Values of `width` bytes.
    pub fn new(bytes: Bytes, width: usize) -> Self {
        let left = 0..bytes.len().checked_div(width).unwrap_or(0);
        Self { bytes, width, left }
    }

    /// The bytes of the next `values` values, the lowest of each first; `None` where fewer are left.
    pub fn next_streams<const WIDTH: usize>(&mut self, values: usize) -> Option<[&[u8]; WIDTH]> {
        let places = self.left.start..self.left.start.checked_add(values)?;
        if self.width != WIDTH || places.end > self.left.end {
            return None;
        }
        self.left.start = places.end;
        Some(std::array::from_fn(|byte| &self.bytes[byte * self.left.end..][places.clone()]))
    }

    /// The next value and how often it comes; `None` where none is left.
    pub fn next_run(&mut self) -> Option<Repeated<u64>> {
        let value = |at: usize| {
            let bytes = (0..self.width).rev().map(|byte| self.bytes[byte * self.left.end + at]);
            bytes.fold(0, |bits, byte| (bits << 8) | u64::from(byte))
        };
        let first = value(self.left.clone().next()?);
        let len = self.left.clone().take_while(|at| value(*at) == first).count();
        self.left.start += len;
        Some(Repeated { value: first, len })
    }
}
