//! The lengths at the start of a page of texts that repeat the beginning of the one before: integers
//! stored as differences, in blocks of packed bits (Parquet's DELTA_BINARY_PACKED).

use parquet::errors::Result;

use super::run_length::bad;

/// Values of a block, at most: writers use 128.
const LARGEST_BLOCK: u64 = 1 << 16;

/// Reads one length after the other.
#[derive(Debug)]
pub struct DeltaLengths<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values of a piece of a block, which share a width, and pieces of a block.
    piece: usize,
    pieces: usize,
    /// Lengths that are left.
    left: u64,
    last: i64,
    /// Of the block at hand: what is added to each difference, and where the widths of its next pieces are.
    least: i64,
    widths: std::ops::Range<usize>,
    /// Of the piece at hand.
    width: usize,
    bit: usize,
    left_in_piece: usize,
    begun: bool,
}

impl<'a> DeltaLengths<'a> {
    /// The lengths at the start of these bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let (piece, pieces, begun) = (0, 0, false);
        let (widths, width, bit, left_in_piece) = (0..0, 0, 0, 0);
        let (left, last, least) = (0, 0, 0);
        let mut new =
            Self { bytes, at: 0, piece, pieces, left, last, least, widths, width, bit, left_in_piece, begun };
        let (block, pieces) = (new.varint()?, new.varint()?);
        let fits = (1..=LARGEST_BLOCK).contains(&block) && (1..=block).contains(&pieces);
        if !fits || !(block / pieces).is_multiple_of(8) || !block.is_multiple_of(pieces) {
            return Err(bad("blocks of differences that cannot be"));
        }
        (new.piece, new.pieces) = ((block / pieces) as usize, pieces as usize);
        new.left = new.varint()?;
        new.last = new.zigzag()?;
        Ok(new)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| bad("lengths that are cut off"))?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(bad("a length of more than 64 bits"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next difference.
    fn difference(&mut self) -> Result<i64> {
        if self.left_in_piece == 0 {
            if self.widths.is_empty() {
                self.least = self.zigzag()?;
                self.widths = self.at..self.at + self.pieces;
                self.at += self.pieces;
            }
            let width = self.widths.next().and_then(|at| self.bytes.get(at));
            self.width = usize::from(*width.ok_or_else(|| bad("lengths that are cut off"))?);
            if self.width > 64 {
                return Err(bad("a length of more than 64 bits"));
            }
            (self.bit, self.left_in_piece) = (self.at * 8, self.piece);
            self.at += self.width * self.piece / 8;
        }
        let value = (0..self.width).step_by(8).try_fold(0_u64, |value, low| {
            let bits = (self.width - low).min(8);
            let (byte, shift) = ((self.bit + low) / 8, (self.bit + low) % 8);
            let first = u16::from(*self.bytes.get(byte).ok_or_else(|| bad("lengths that are cut off"))?);
            let second = self.bytes.get(byte + 1).copied().map_or(0, u16::from);
            let part = ((first | second << 8) >> shift) & (0xff_u16 >> (8 - bits));
            Ok::<_, parquet::errors::ParquetError>(value | u64::from(part) << low)
        })?;
        self.bit += self.width;
        self.left_in_piece -= 1;
        Ok(self.least.wrapping_add(value.cast_signed()))
    }

    fn read(&mut self) -> Result<u64> {
        if std::mem::replace(&mut self.begun, true) {
            self.last = self.last.wrapping_add(self.difference()?);
        }
        u64::try_from(self.last).map_err(|_| bad("a negative length"))
    }
}

impl Iterator for DeltaLengths<'_> {
    type Item = Result<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }
}
