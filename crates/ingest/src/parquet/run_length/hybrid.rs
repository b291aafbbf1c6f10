//! Parquet's hybrid of run lengths and bit-packed values, as runs of equal values.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};

use super::unpack::{GROUP, unpack};

/// The widest value: indices and levels are never wider.
const WIDEST: u32 = 32;
/// Bits of a word of eight bytes wherever in the first byte the next one is.
const SURE_BITS: usize = 57;

/// A value, and how often it comes in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated<T> {
    /// The value.
    pub value: T,
    /// How often.
    pub len: usize,
}

/// The next values: some equal ones, or a few that differ.
pub enum Stretch<'a> {
    /// One value again and again.
    Repeated(Repeated<u32>),
    /// Values that may all differ.
    Packed(&'a [u32]),
}

/// Room for values that differ, in groups as they are packed.
pub type Room = [[u32; GROUP]; 64];

/// Room that holds nothing yet.
pub const EMPTY_ROOM: Room = [[0; GROUP]; 64];

/// The runs of an encoded stretch.
#[derive(Debug)]
pub struct HybridRuns {
    bytes: Bytes,
    width: u32,
    at: usize,
    packed: Packed,
}

/// What is left of bit-packed values.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    first_bit: usize,
    left: usize,
}

impl HybridRuns {
    /// Values of `width` bits.
    pub fn new(bytes: Bytes, width: u32) -> Result<Self> {
        if width > WIDEST {
            return Err(bad("a width of more than 32 bits"));
        }
        Ok(Self { bytes, width, at: 0, packed: Packed::default() })
    }

    /// The next run; neighbours may have the same value.
    pub fn next_run(&mut self) -> Result<Repeated<u32>> {
        match self.open_run()? {
            Some(run) => Ok(run),
            None => Ok(self.packed_run()),
        }
    }

    /// The next values: a run, or as many packed ones as are left, fit and are wanted.
    pub fn next_stretch<'a>(&mut self, most: usize, room: &'a mut Room) -> Result<Stretch<'a>> {
        if let Some(run) = self.open_run()? {
            return Ok(Stretch::Repeated(run));
        }
        let values = room.as_flattened().len().min(most).min(self.packed.left);
        let groups = match self.packed.first_bit % 8 {
            0 => unpack(&self.bytes[self.packed.first_bit / 8..], self.width, &mut room[..values / GROUP]),
            _ => 0,
        };
        self.pass(groups * GROUP);
        let values = &mut room.as_flattened_mut()[..values];
        for value in &mut values[groups * GROUP..] {
            *value = self.packed_value();
            self.pass(1);
        }
        Ok(Stretch::Packed(values))
    }

    /// The next run of equal values; `None` where packed ones are next.
    fn open_run(&mut self) -> Result<Option<Repeated<u32>>> {
        if self.width == 0 {
            return Ok(Some(Repeated { value: 0, len: usize::MAX }));
        }
        while self.packed.left == 0 {
            let header = self.varint()?;
            let count = usize::try_from(header >> 1).map_err(|_| bad("a run without end"))?;
            if header & 1 == 0 {
                let value = self.repeated()?;
                if count > 0 {
                    return Ok(Some(Repeated { value, len: count }));
                }
            } else {
                self.open_packed(count)?;
            }
        }
        Ok(None)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| bad("fewer values than announced"))?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(bad("a length of more than 64 bits"))
    }

    fn repeated(&mut self) -> Result<u32> {
        let size = self.width.div_ceil(8) as usize;
        let bytes = self.bytes.get(self.at..self.at + size).ok_or_else(|| bad("a run without value"))?;
        self.at += size;
        let value = bytes.iter().rev().fold(0, |value, byte| (value << 8) | u32::from(*byte));
        if value > u32::MAX >> (WIDEST - self.width) {
            return Err(bad("a value of more bits than it may have"));
        }
        Ok(value)
    }

    /// Whether there are `values` values, as the lengths of the runs say; the values are not looked at.
    pub fn require(mut self, values: usize) -> Result<()> {
        let mut left = values;
        while self.width > 0 && left > 0 {
            let header = self.varint()?;
            let count = usize::try_from(header >> 1).map_err(|_| bad("a run without end"))?;
            if header & 1 == 0 {
                self.repeated()?;
                left = left.saturating_sub(count);
            } else {
                self.open_packed(count)?;
                left = left.saturating_sub(self.packed.left);
            }
        }
        Ok(())
    }

    /// `groups` of eight values each; the last group may be cut off where its values end.
    fn open_packed(&mut self, groups: usize) -> Result<()> {
        let size = groups.saturating_mul(self.width as usize);
        let size = size.min(self.bytes.len() - self.at);
        if size <= groups.saturating_sub(1).saturating_mul(self.width as usize) && groups > 0 {
            return Err(bad("packed values that are not there"));
        }
        self.packed = Packed { first_bit: self.at * 8, left: size * 8 / self.width as usize };
        self.at += size;
        Ok(())
    }

    fn packed_run(&mut self) -> Repeated<u32> {
        let value = self.packed_value();
        let mut len = 0;
        if self.width == 1 {
            loop {
                let same = self.bits_like(value);
                len += same;
                if same < SURE_BITS || self.packed.left == 0 {
                    return Repeated { value, len };
                }
            }
        }
        while self.packed.left > 0 && self.packed_value() == value {
            len += 1;
            self.pass(1);
        }
        Repeated { value, len }
    }

    /// Passes bits that equal `value`: all up to another, or as many as are seen at once.
    fn bits_like(&mut self, value: u32) -> usize {
        let word = self.packed_word();
        let others = if value == 0 { word } else { !word };
        let same = (others.trailing_zeros() as usize).min(SURE_BITS).min(self.packed.left);
        self.pass(same);
        same
    }

    fn pass(&mut self, values: usize) {
        self.packed.left -= values;
        self.packed.first_bit += values * self.width as usize;
    }

    #[allow(clippy::cast_possible_truncation)]
    fn packed_value(&self) -> u32 {
        self.packed_word() as u32 & (u32::MAX >> (WIDEST - self.width))
    }

    /// The next bits, of which at least [`SURE_BITS`] are there unless the bytes end.
    fn packed_word(&self) -> u64 {
        let bytes = &self.bytes[self.packed.first_bit / 8..];
        let word = match bytes.first_chunk() {
            Some(whole) => u64::from_le_bytes(*whole),
            None => bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
        };
        word >> (self.packed.first_bit % 8)
    }
}

/// An error of the bytes.
pub fn bad(what: &str) -> ParquetError {
    ParquetError::General(format!("a page has {what}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(bytes: &[u8], width: u32, values: usize) -> Vec<(u32, usize)> {
        let mut hybrid = HybridRuns::new(Bytes::copy_from_slice(bytes), width).unwrap();
        let (mut out, mut seen) = (Vec::new(), 0);
        while seen < values {
            let run = hybrid.next_run().unwrap();
            seen += run.len;
            out.push((run.value, run.len));
        }
        out
    }

    #[test]
    fn repeated_and_packed_values_alternate() {
        // 100 times 5, then 0 to 7 in three bits each, then 3 times 300 in nine bits.
        assert_eq!(runs(&[0xc8, 0x01, 5], 3, 100), [(5, 100)]);
        let packed: Vec<(u32, usize)> = (0..8).map(|v| (v, 1)).collect();
        assert_eq!(runs(&[0x03, 0x88, 0xc6, 0xfa], 3, 8), packed);
        assert_eq!(runs(&[0x06, 0x2c, 0x01], 9, 3), [(300, 3)]);
        assert_eq!(runs(&[0x03, 0b1110_0011], 1, 8), [(1, 2), (0, 3), (1, 3)]);
        // 192 bits, more than are seen at once: 3 zeros, 150 ones, 39 zeros.
        let mut bits = [&[0x31, 0xf8][..], &[0xff; 18], &[0x01, 0, 0, 0, 0]].concat();
        assert_eq!(runs(&bits, 1, 192), [(0, 3), (1, 150), (0, 39)]);
        // Only ones, up to the last byte and not beyond it.
        bits[1..].fill(0xff);
        assert_eq!(runs(&bits, 1, 192), [(1, 192)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// In stretches of any length, up to the last byte.
        #[test]
        fn packed_values_are_what_their_bits_are(
            width in 1..=WIDEST,
            packed in prop::collection::vec(any::<u8>(), 1..40),
            stretches in prop::collection::vec(1_usize..90, 1..20),
        ) {
            let groups = packed.len();
            let packed: Vec<u8> = packed.iter().cycle().take(groups * width as usize).copied().collect();
            let header = u8::try_from(2 * groups + 1).unwrap();
            let bit = |b: usize| u32::from(packed[b / 8] >> (b % 8) & 1);
            let value = |i: usize| (0..width).map(|b| bit(i * width as usize + b as usize) << b).sum::<u32>();
            let expected: Vec<u32> = (0..8 * groups).map(value).collect();
            let mut hybrid = HybridRuns::new(Bytes::from([&[header][..], &packed].concat()), width).unwrap();
            let (mut found, mut room) = (Vec::new(), EMPTY_ROOM);
            for most in stretches.iter().cycle() {
                match hybrid.next_stretch(*most, &mut room).unwrap() {
                    Stretch::Packed(values) => found.extend_from_slice(values),
                    Stretch::Repeated(run) => prop_assert!(false, "{run:?}"),
                }
                if found.len() == expected.len() {
                    break;
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn values_of_no_bits_are_all_zero() {
        let mut hybrid = HybridRuns::new(Bytes::new(), 0).unwrap();
        assert_eq!(hybrid.next_run().unwrap(), Repeated { value: 0, len: usize::MAX });
    }

    #[test]
    fn broken_bytes_are_errors() {
        let first = |bytes: &[u8], width| {
            HybridRuns::new(Bytes::copy_from_slice(bytes), width).and_then(|mut h| h.next_run())
        };
        assert!(first(&[], 3).is_err());
        assert!(first(&[0xff; 12], 3).is_err());
        assert!(first(&[0x08], 3).is_err());
        assert!(first(&[0x03], 3).is_err());
        assert!(first(&[0x02, 0x08], 3).is_err(), "8 has four bits");
        assert!(first(&[0x02, 0xff, 0xff, 0xff, 0xff], 32).is_ok());
        assert!(HybridRuns::new(Bytes::new(), 33).is_err());
        // A cut-off last group has the values that its bytes hold.
        assert_eq!(runs(&[0x03, 0x88], 3, 2), [(0, 1), (1, 1)]);
    }
}
