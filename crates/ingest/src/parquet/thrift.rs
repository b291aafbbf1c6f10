//! The compact protocol of Thrift, as far as Parquet's own headers need it: numbers that are looked
//! for, everything else passed over. Nothing is allocated for what the bytes announce.

use parquet::errors::{ParquetError, Result};

/// Structures inside of each other; Parquet has six levels.
const DEEPEST: u8 = 16;

/// Kinds of fields, by their number in the protocol.
pub mod kind {
    /// A flag that is set; it takes no bytes as a field.
    pub const TRUE: u8 = 1;
    /// A flag that is not set.
    pub const FALSE: u8 = 2;
    /// A number of 8 bits.
    pub const BYTE: u8 = 3;
    /// A number of 16 bits.
    pub const SHORT: u8 = 4;
    /// A number of 32 bits.
    pub const INT: u8 = 5;
    /// A number of 64 bits.
    pub const LONG: u8 = 6;
    /// A floating-point number.
    pub const DOUBLE: u8 = 7;
    /// Bytes or a text, after their length.
    pub const BYTES: u8 = 8;
    /// A list.
    pub const LIST: u8 = 9;
    /// A set.
    pub const SET: u8 = 10;
    /// A map.
    pub const MAP: u8 = 11;
    /// A structure.
    pub const STRUCT: u8 = 12;
}

/// Bytes on their way to numbers.
pub struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u8,
}

/// A field of a structure: what it is, and the kind of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThriftField {
    /// Its number in the structure.
    pub id: i16,
    /// What the value is.
    pub kind: u8,
}

impl<'a> Compact<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Reads a structure: `visit` takes the value of a field and returns true, or leaves it and
    /// returns false.
    pub fn structure(&mut self, visit: &mut dyn FnMut(&mut Self, ThriftField) -> Result<bool>) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(broken("structures nested too deeply"));
        }
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                break;
            }
            id = match head >> 4 {
                0 => i16::try_from(self.int()?).map_err(|_| broken("a field without a number"))?,
                step => id.checked_add(i16::from(step)).ok_or_else(|| broken("a field without a number"))?,
            };
            let field = ThriftField { id, kind: head & 0x0f };
            if !visit(self, field)? {
                self.skip(field.kind)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a list of structures.
    pub fn structures(&mut self, each: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<usize> {
        let (kind, length) = self.list()?;
        if kind != kind::STRUCT {
            return Err(broken("a list of something else"));
        }
        for _ in 0..length {
            each(self)?;
        }
        Ok(length)
    }

    /// A whole number.
    pub fn int(&mut self) -> Result<i64> {
        let raw = self.varint()?;
        #[allow(clippy::cast_possible_wrap)] // zigzag: the sign is the lowest bit
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).ok_or_else(ends_early)?;
        self.at += 1;
        Ok(*byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(broken("a number of more than 64 bits"))
    }

    /// The start of a list: the kind of its entries, and how many there are.
    pub fn list(&mut self) -> Result<(u8, usize)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.varint()?).unwrap_or(usize::MAX),
            short => usize::from(short),
        };
        // Every entry takes a byte at least.
        if length > self.bytes.len() - self.at {
            return Err(ends_early());
        }
        Ok((head & 0x0f, length))
    }

    fn pass(&mut self, bytes: usize) -> Result<()> {
        let end = self.at.checked_add(bytes).filter(|end| *end <= self.bytes.len());
        self.at = end.ok_or_else(ends_early)?;
        Ok(())
    }

    /// Passes over a value.
    pub fn skip(&mut self, kind: u8) -> Result<()> {
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.pass(1),
            kind::SHORT | kind::INT | kind::LONG => self.varint().map(|_| ()),
            kind::DOUBLE => self.pass(8),
            kind::BYTES => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                self.pass(length)
            }
            kind::LIST | kind::SET => {
                let (entry, length) = self.list()?;
                (0..length).try_for_each(|_| self.skip_entry(entry))
            }
            kind::MAP => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                if length == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                for _ in 0..length {
                    self.skip_entry(kinds >> 4)?;
                    self.skip_entry(kinds & 0x0f)?;
                }
                Ok(())
            }
            kind::STRUCT => self.structure(&mut |_, _| Ok(false)),
            _ => Err(broken("a kind of value that does not exist")),
        }
    }

    /// In lists a flag takes a byte; as a field it takes none.
    fn skip_entry(&mut self, kind: u8) -> Result<()> {
        if matches!(kind, kind::LIST | kind::SET | kind::MAP) {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(broken("lists nested too deeply"));
            }
            self.skip(kind)?;
            self.depth -= 1;
            return Ok(());
        }
        self.skip(if matches!(kind, kind::TRUE | kind::FALSE) { kind::BYTE } else { kind })
    }
}

fn ends_early() -> ParquetError {
    ParquetError::EOF("a header ends too early".into())
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(format!("a header has {what}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_all_else_is_passed_over() {
        // 1: i32 = -3, 2: binary "ab", 4: list of two i32, 5: struct { 1: true }, 20: i64 = 300.
        let bytes =
            [0x15, 5, 0x18, 2, b'a', b'b', 0x29, 0x25, 2, 4, 0x1c, 0x11, 0, 0x06, 40, 0xd8, 0x04, 0, 99];
        let mut compact = Compact::new(&bytes);
        let mut found = Vec::new();
        compact
            .structure(&mut |compact, field| {
                let wanted = matches!(field.id, 1 | 20);
                if wanted {
                    found.push((field.id, compact.int()?));
                }
                Ok(wanted)
            })
            .unwrap();
        assert_eq!(found, [(1, -3), (20, 300)]);
        assert_eq!(compact.position(), bytes.len() - 1);
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let read = |bytes: &[u8]| Compact::new(bytes).structure(&mut |_, _| Ok(false));
        assert!(read(&[]).is_err());
        assert!(read(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0x7f]).is_err());
        assert!(read(&[0x1c; 4000]).is_err());
        assert!(read(&[0x19, 0x19].repeat(4000)).is_err());
        assert!(read(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).is_err());
    }
}
