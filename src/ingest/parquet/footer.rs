//! What a footer says, checked against itself before anything is allocated for it.

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::definitions;
use super::thrift::Compact;
use crate::ingest::files::ranges::Ranges;
use crate::ingest::limits::Limits;

/// Length of the footer and magic at the end of a file.
const TAIL: u64 = 8;
/// Read at once, in the hope that the whole footer is in it.
const GUESS: u64 = 64 << 10;

/// What is looked at in a footer.
#[derive(Default)]
struct Footer {
    /// Parts of each element of the schema, in the order of the file.
    children: Vec<i64>,
    /// Physical types of the leaves of the schema.
    leaves: Vec<i64>,
    rows: Option<i64>,
    /// Rows of each row group, and its columns.
    groups: Vec<(i64, Vec<Chunk>)>,
}

/// A column of a row group.
#[derive(Default)]
struct Chunk {
    physical: i64,
    values: i64,
    compressed: i64,
    data: i64,
    dictionary: Option<i64>,
}

/// The end of a file, which is all that is needed to understand it.
pub struct End {
    bytes: Bytes,
    /// Where it begins, and where the file ends.
    start: u64,
    length: u64,
}

impl End {
    /// Reads the footer; refuses one that contradicts itself, or that would take too much memory.
    pub fn read(file: &dyn Ranges, length: u64, limits: Limits) -> Result<Self> {
        let tail_at = length.checked_sub(TAIL).ok_or_else(|| broken("the file is too short"))?;
        let guess = at_once(length.min(GUESS))?;
        let mut bytes = file.get(length - guess as u64, guess)?;
        let [a, b, c, d, magic @ ..] =
            *bytes.last_chunk::<{ TAIL as usize }>().ok_or_else(|| broken("the file is too short"))?;
        if &magic != b"PAR1" {
            return Err(broken("the file does not end as Parquet does"));
        }
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = tail_at.checked_sub(size).ok_or_else(|| broken("the footer is longer than the file"))?;
        if size > limits.piece() {
            return Err(ParquetError::General(limits.too_much("a footer", size)));
        }
        let whole = at_once(size + TAIL)?;
        if whole > bytes.len() {
            bytes = file.get(start, whole)?;
        }
        let bytes = bytes.slice(bytes.len() - whole..);
        Footer::read(&bytes[..whole - TAIL as usize])?.check(start)?;
        Ok(Self { bytes, start, length })
    }
}

fn at_once(size: u64) -> Result<usize> {
    usize::try_from(size).map_err(|_| broken("it does not fit into memory"))
}

impl Length for End {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for End {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let skip = start.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
        let inside = skip.filter(|skip| *skip <= self.bytes.len());
        Ok(self.bytes.slice(inside.ok_or_else(|| broken("it refers to what is before it"))?..).reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.get_read(start)?.into_inner();
        (length <= rest.len()).then(|| rest.slice(..length)).ok_or_else(|| broken("it ends beyond its file"))
    }
}

impl Footer {
    fn read(bytes: &[u8]) -> Result<Self> {
        definitions::FILE.check(&mut Compact::new(bytes))?;
        let mut footer = Self::default();
        Compact::new(bytes).structure(&mut |compact, field| {
            match field.id {
                2 => {
                    compact.structures(&mut |compact| footer.element(compact))?;
                }
                3 => footer.rows = Some(compact.int()?),
                4 => {
                    compact.structures(&mut |compact| footer.group(compact))?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(footer)
    }

    fn element(&mut self, compact: &mut Compact<'_>) -> Result<()> {
        let (mut physical, mut children) = (None, 0);
        compact.structure(&mut |compact, field| {
            match field.id {
                1 => physical = Some(compact.int()?),
                5 => children = compact.int()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.children.push(children);
        if children == 0 {
            self.leaves.extend(physical);
        }
        Ok(())
    }

    fn group(&mut self, compact: &mut Compact<'_>) -> Result<()> {
        let (mut rows, mut chunks) = (0, Vec::new());
        compact.structure(&mut |compact, field| {
            match field.id {
                1 => {
                    compact.structures(&mut |compact| {
                        chunks.push(Chunk::read(compact)?);
                        Ok(())
                    })?;
                }
                3 => rows = compact.int()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.groups.push((rows, chunks));
        Ok(())
    }

    /// Whether all of it can be, where the pages end at `end`.
    fn check(&self, end: u64) -> Result<()> {
        self.check_schema()?;
        let mut all = 0_i64;
        for (number, (rows, chunks)) in self.groups.iter().enumerate() {
            if !chunks.iter().zip(&self.leaves).all(|(chunk, leaf)| chunk.physical == *leaf) {
                return Err(broken(&format!(
                    "row group {number} stores a type that the schema does not name"
                )));
            }
            if !chunks.iter().all(|chunk| chunk.lies_before(end)) {
                return Err(broken(&format!("row group {number} has a column that is not inside the file")));
            }
            all = Some(*rows)
                .filter(|rows| *rows >= 0)
                .and_then(|rows| all.checked_add(rows))
                .ok_or_else(|| broken(&format!("row group {number} has a number of rows that cannot be")))?;
        }
        if self.rows != Some(all) {
            return Err(broken(&format!(
                "it announces {} rows, its row groups have {all}",
                self.rows.unwrap_or(0)
            )));
        }
        Ok(())
    }

    /// The elements of the schema are one tree, written from the root down.
    fn check_schema(&self) -> Result<()> {
        let mut open = 1_i64;
        for children in &self.children {
            if open == 0 {
                return Err(broken("the schema has parts that belong to no column"));
            }
            open = Some(*children)
                .filter(|children| *children >= 0)
                .and_then(|children| (open - 1).checked_add(children))
                .ok_or_else(|| broken("a column has a number of parts that cannot be"))?;
        }
        if open > 0 { Err(broken("a column announces more parts than the schema has")) } else { Ok(()) }
    }
}

impl Chunk {
    fn read(compact: &mut Compact<'_>) -> Result<Self> {
        let mut chunk = Self::default();
        compact.structure(&mut |compact, field| {
            if field.id != 3 {
                return Ok(false);
            }
            compact.structure(&mut |compact, field| {
                match field.id {
                    1 => chunk.physical = compact.int()?,
                    5 => chunk.values = compact.int()?,
                    7 => chunk.compressed = compact.int()?,
                    9 => chunk.data = compact.int()?,
                    11 => chunk.dictionary = Some(compact.int()?),
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            Ok(true)
        })?;
        Ok(chunk)
    }

    /// Whether its pages, the dictionary first, end before `end`. Where there are no values there may be
    /// no data page, either.
    fn lies_before(&self, end: u64) -> bool {
        let start = self.dictionary.unwrap_or(self.data);
        let stop = start.checked_add(self.compressed).and_then(|stop| u64::try_from(stop).ok());
        let in_order = start <= self.data || self.values == 0;
        start >= 0 && in_order && self.compressed >= 0 && stop.is_some_and(|stop| stop <= end)
    }
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(format!("the footer cannot be right: {what}"))
}
