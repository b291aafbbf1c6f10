//! What a footer says, checked against itself before anything is allocated for it.

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::definitions;
use super::thrift::Compact;
use crate::storage::ranges::Ranges;
use stapo_batch::limits::Limits;

/// Length of the footer and magic at the end of a file.
const TAIL: u64 = 8;
/// Read at once, in the hope that the whole footer is in it.
const GUESS: u64 = 64 << 10;

/// What is looked at in a footer.
#[derive(Default)]
struct Footer {
    /// The elements of the schema, in the order of the file.
    elements: Vec<Element>,
    rows: Option<i64>,
    /// Rows of each row group, and its columns.
    groups: Vec<(i64, Vec<Chunk>)>,
}

/// An element of the schema: a column, or a group of them.
#[derive(Default)]
struct Element {
    children: i64,
    physical: Option<i64>,
    repetition: i64,
    /// Which of the logical types it names.
    logical: Option<i16>,
}

/// A leaf of the schema, with its highest levels.
struct Leaf {
    physical: i64,
    /// Of repetition and of definition.
    levels: [usize; 2],
}

/// A column of a row group.
#[derive(Default)]
struct Chunk {
    physical: i64,
    values: i64,
    compressed: i64,
    data: i64,
    dictionary: Option<i64>,
    /// Entries of the histograms of repetition and of definition levels; none where there is no such.
    histograms: [usize; 2],
}

/// Repetition types that have levels.
const OPTIONAL: i64 = 1;
const REPEATED: i64 = 2;
/// Logical types of groups: MAP, LIST, and VARIANT, which only a group can be, too.
const OF_GROUPS: [i16; 3] = [2, 3, 16];

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
        let mut element = Element::default();
        compact.structure(&mut |compact, field| {
            match field.id {
                1 => element.physical = Some(compact.int()?),
                3 => element.repetition = compact.int()?,
                5 => element.children = compact.int()?,
                10 => compact.structure(&mut |_, field| {
                    element.logical = Some(field.id);
                    Ok(false)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.elements.push(element);
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
        let leaves = self.leaves();
        let mut all = 0_i64;
        for (number, (rows, chunks)) in self.groups.iter().enumerate() {
            if !chunks.iter().zip(&leaves).all(|(chunk, leaf)| chunk.physical == leaf.physical) {
                return Err(broken(&format!(
                    "row group {number} stores a type that the schema does not name"
                )));
            }
            if !chunks.iter().zip(&leaves).all(|(chunk, leaf)| chunk.counts_levels_of(leaf)) {
                return Err(broken(&format!("row group {number} counts levels that a column does not have")));
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
        for element in &self.elements {
            if open == 0 {
                return Err(broken("the schema has parts that belong to no column"));
            }
            if element.logical.is_some_and(|logical| !element.can_be(logical)) {
                return Err(broken("a column is of a logical type that it cannot be"));
            }
            open = Some(element.children)
                .filter(|children| *children >= 0)
                .and_then(|children| (open - 1).checked_add(children))
                .ok_or_else(|| broken("a column has a number of parts that cannot be"))?;
        }
        if open > 0 { Err(broken("a column announces more parts than the schema has")) } else { Ok(()) }
    }

    /// The leaves of a schema that is a tree.
    fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        // What is left of each group that is open, and its levels.
        let mut open: Vec<(i64, [usize; 2])> = Vec::new();
        for (number, element) in self.elements.iter().enumerate() {
            while open.last().is_some_and(|(left, _)| *left == 0) {
                open.pop();
            }
            let mut levels = [0; 2];
            if let Some((left, around)) = open.last_mut() {
                *left -= 1;
                levels = *around;
            }
            // The root has none.
            if number > 0 {
                levels[0] += usize::from(element.repetition == REPEATED);
                levels[1] += usize::from([OPTIONAL, REPEATED].contains(&element.repetition));
            }
            match element.physical {
                Some(physical) if element.children == 0 => leaves.push(Leaf { physical, levels }),
                _ => open.push((element.children, levels)),
            }
        }
        leaves
    }
}

impl Element {
    fn can_be(&self, logical: i16) -> bool {
        let is_group = self.physical.is_none() || self.children > 0;
        is_group == OF_GROUPS.contains(&logical)
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
                    16 => compact.structure(&mut |compact, field| {
                        let Some(which) = [2, 3].iter().position(|id| *id == field.id) else {
                            return Ok(false);
                        };
                        let (_, length) = compact.list()?;
                        chunk.histograms[which] = length;
                        for _ in 0..length {
                            compact.int()?;
                        }
                        Ok(true)
                    })?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            Ok(true)
        })?;
        Ok(chunk)
    }

    fn counts_levels_of(&self, leaf: &Leaf) -> bool {
        let fits = |(entries, level): (&usize, usize)| *entries == 0 || *entries == level + 1;
        self.histograms.iter().zip(leaf.levels).all(fits)
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
