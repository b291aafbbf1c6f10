//! The header of a page, as far as it says what the page will take.

use parquet::basic::Type;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::definitions;
use super::run_length::bad;
use super::thrift::{Compact, kind};

/// Kinds of pages, with the field of the header that describes each.
const DATA_PAGE: (i64, i16) = (0, 5);
const INDEX_PAGE: i64 = 1;
const DICTIONARY_PAGE: (i64, i16) = (2, 7);
const DATA_PAGE_2: (i64, i16) = (3, 8);

/// Encodings that a dictionary may have: the same one under the name of each version of the format.
const PLAIN: [i64; 2] = [0, 2];

/// Sizes of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Bytes in memory.
    pub uncompressed: u64,
    /// Bytes in the file, without the header.
    pub compressed: u64,
    /// Values of a dictionary.
    dictionary: Option<i64>,
    dictionary_encoding: i64,
    /// Whether it says that it is not packed, whatever its column is.
    is_bare: bool,
    kind: i64,
    /// Bytes of levels in front that are not packed.
    levels: u64,
}

impl PageHeader {
    /// Reads a header; also tells how long it is.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize)> {
        definitions::PAGE.check(&mut Compact::new(bytes))?;
        let mut header = Self::default();
        let mut described = None;
        let mut compact = Compact::new(bytes);
        let size = |n: i64| u64::try_from(n).map_err(|_| bad("a negative size"));
        compact.structure(&mut |compact, field| {
            if [DATA_PAGE.1, DICTIONARY_PAGE.1, DATA_PAGE_2.1].contains(&field.id) {
                described = Some(described.map_or(field.id, |_| 0));
            }
            match field.id {
                1 => header.kind = compact.int()?,
                2 => header.uncompressed = size(compact.int()?)?,
                3 => header.compressed = size(compact.int()?)?,
                7 => compact.structure(&mut |compact, field| {
                    match field.id {
                        1 => header.dictionary = Some(compact.int()?),
                        2 => header.dictionary_encoding = compact.int()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                8 => compact.structure(&mut |compact, field| {
                    header.is_bare |= field.id == 7 && field.kind == kind::FALSE;
                    let is_levels = matches!(field.id, 5 | 6);
                    if is_levels {
                        header.levels = header.levels.saturating_add(size(compact.int()?)?);
                    }
                    Ok(is_levels)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let known =
            [DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_2].into_iter().find(|(kind, _)| *kind == header.kind);
        if known.is_some_and(|(_, field)| described != Some(field)) {
            return Err(bad("a header that describes another kind of page"));
        }
        Ok((header, compact.position()))
    }

    /// Which of the page's bytes are packed, and what they announce to unpack to; `None` where none are.
    pub fn packed(&self) -> Option<(std::ops::Range<u64>, u64)> {
        let levels = self.levels.min(self.compressed);
        let announced = self.uncompressed.saturating_sub(levels);
        (!self.is_bare && announced > 0).then_some((levels..self.compressed, announced))
    }

    /// Whether the page is an index, which no reader looks at.
    pub fn is_index(&self) -> bool {
        self.kind == INDEX_PAGE
    }

    /// Whether the page is a dictionary.
    pub fn is_dictionary(&self) -> bool {
        self.kind == DICTIONARY_PAGE.0
    }

    /// A dictionary has no more values than its bytes can hold, and they are plain.
    pub fn check_dictionary(&self, descriptor: &ColumnDescPtr) -> Result<()> {
        let Some(values) = self.dictionary else { return Ok(()) };
        if !PLAIN.contains(&self.dictionary_encoding) {
            return Err(bad("a dictionary of an encoding that no dictionary has"));
        }
        let smallest = match descriptor.physical_type() {
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(descriptor.type_length()).unwrap_or(1).max(1),
            Type::BOOLEAN => 1,
        };
        let fits = u64::try_from(values).is_ok_and(|n| n <= self.uncompressed / smallest);
        if fits { Ok(()) } else { Err(bad("a dictionary of more values than its bytes hold")) }
    }
}
