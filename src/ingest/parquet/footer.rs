//! What a footer says, checked against itself before anything is allocated for it.

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

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
    elements: usize,
    /// Physical types of the leaves of the schema.
    leaves: Vec<i64>,
    most_children: i64,
    rows: Option<i64>,
    /// Rows of each row group, and the types of its columns.
    groups: Vec<(i64, Vec<i64>)>,
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
        Footer::read(&bytes[..whole - TAIL as usize])?.check()?;
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
        let mut footer = Self::default();
        Compact::new(bytes).structure(&mut |compact, field| {
            match field.id {
                2 => {
                    let mut elements = 0;
                    compact.structures(&mut |compact| {
                        elements += 1;
                        footer.element(compact)
                    })?;
                    footer.elements = elements;
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
        self.most_children = self.most_children.max(children);
        if children == 0 {
            self.leaves.extend(physical);
        }
        Ok(())
    }

    fn group(&mut self, compact: &mut Compact<'_>) -> Result<()> {
        let (mut rows, mut types) = (0, Vec::new());
        compact.structure(&mut |compact, field| {
            match field.id {
                1 => {
                    compact.structures(&mut |compact| chunk(compact, &mut types))?;
                }
                3 => rows = compact.int()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.groups.push((rows, types));
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if usize::try_from(self.most_children).map_or(true, |most| most >= self.elements.max(1)) {
            return Err(broken("a column announces more parts than the schema has"));
        }
        let mut all = 0_i64;
        for (number, (rows, types)) in self.groups.iter().enumerate() {
            let fits = |types: &[i64]| types.iter().zip(&self.leaves).all(|(a, b)| a == b);
            if !fits(types) {
                return Err(broken(&format!(
                    "row group {number} stores a type that the schema does not name"
                )));
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
}

fn chunk(compact: &mut Compact<'_>, types: &mut Vec<i64>) -> Result<()> {
    compact.structure(&mut |compact, field| {
        if field.id != 3 {
            return Ok(false);
        }
        compact.structure(&mut |compact, field| {
            if field.id == 1 {
                types.push(compact.int()?);
            }
            Ok(field.id == 1)
        })?;
        Ok(true)
    })
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(format!("the footer cannot be right: {what}"))
}
