//! A column of lists of numbers, read by levels and values. The Arrow reader makes a bitmap and offsets of every level
//! on its own, a fifth of the time that logs of lists take; here lists without a null are their values and the places
//! where rows begin. Rows that are not wanted are passed over: prompts, which all responses of a group repeat.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, ListArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type as stored;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescPtr;

use crate::parquet::budget::Budget;
use crate::parquet::checked_pages::CheckedPages;
use crate::parquet::reused_memory::ColumnMemory;
use crate::parquet::row_groups::{CheckedRowGroups, Chunks};
use crate::parquet::run_length::bad;
use crate::storage::ranges::Ranges;
use stapo_base::guard::decoding;

/// Levels that are looked at together for a row that begins.
const AT_ONCE: usize = 16;

/// A column of lists of numbers.
pub struct ListColumn {
    /// Its field, with a type that [`Self::next_rows`] gives.
    pub field: FieldRef,
    rows: Box<dyn NextRows>,
}

impl ListColumn {
    /// The column at the root of the schema with this name; `None` where it is not a list of
    /// numbers stored as they are.
    pub fn open(groups: &CheckedRowGroups, field: &Field) -> Option<Self> {
        let leaves = groups.metadata.file_metadata().schema_descr().columns();
        let leaf = leaves.iter().position(|c| c.path().parts().first() == Some(field.name()))?;
        let descriptor = leaves[leaf].clone();
        let (DataType::List(item) | DataType::LargeList(item)) = field.data_type() else { return None };
        // Above the items: the repeated level, and one where the list itself can be null.
        let present = descriptor.max_def_level() - i16::from(item.is_nullable());
        if descriptor.max_rep_level() != 1 || present != 1 + i16::from(field.is_nullable()) {
            return None;
        }
        let item = Arc::new(item.as_ref().clone().with_nullable(true));
        let stored = (descriptor.physical_type(), item.data_type().clone());
        let field = Arc::new(Field::new(field.name(), DataType::List(item.clone()), true));
        let chunks = groups.chunks(leaf)?;
        let (file, budget) = (groups.file.clone(), groups.budget.clone());
        let source = Source { item, file, descriptor, present, chunks, budget };
        let rows: Box<dyn NextRows> = match stored {
            (Type::INT32, DataType::Int32) => Typed::<stored::Int32Type, Int32Type>::of(source),
            (Type::INT64, DataType::Int64) => Typed::<stored::Int64Type, Int64Type>::of(source),
            (Type::FLOAT, DataType::Float32) => Typed::<stored::FloatType, Float32Type>::of(source),
            (Type::DOUBLE, DataType::Float64) => Typed::<stored::DoubleType, Float64Type>::of(source),
            _ => return None,
        };
        Some(Self { field, rows })
    }

    /// The next `rows` rows: the lists of those in `wanted` (ascending), null for all others.
    pub fn next_rows(&mut self, rows: usize, wanted: &[Range<usize>]) -> Result<ArrayRef> {
        self.rows.next_rows(rows, wanted)
    }
}

trait NextRows {
    fn next_rows(&mut self, rows: usize, wanted: &[Range<usize>]) -> Result<ArrayRef>;
}

/// Where lists come from.
struct Source {
    item: FieldRef,
    file: Arc<dyn Ranges>,
    descriptor: ColumnDescPtr,
    /// Levels of definition from which there is an item.
    present: i16,
    chunks: Chunks,
    budget: Budget,
}

/// A column of one type, as it is stored and in memory.
struct Typed<P: stored::DataType, A> {
    source: Source,
    reader: Option<ColumnReaderImpl<P>>,
    /// Rows left in the chunk that is read.
    left: usize,
    /// The most values that were read at once: room for as many is made at first.
    most: usize,
    levels: Levels,
    made: PhantomData<A>,
}

impl<P, A> Typed<P, A>
where
    P: stored::DataType + 'static,
    A: ArrowPrimitiveType<Native = P::T>,
    P::T: ArrowNativeType,
{
    fn of(source: Source) -> Box<dyn NextRows> {
        Box::new(Self {
            source,
            reader: None,
            left: 0,
            most: 0,
            levels: Levels::default(),
            made: PhantomData,
        })
    }

    /// Opens the next chunk where the last one is at its end.
    fn open_next(&mut self) -> Result<()> {
        let source = &mut self.source;
        while self.left == 0 {
            let (chunk, rows) = source.chunks.pop_front().ok_or_else(too_few)?;
            let pages = Box::new(CheckedPages::open(
                &source.file,
                &chunk,
                rows,
                &source.budget,
                ColumnMemory::default(),
            )?);
            self.reader = Some(ColumnReaderImpl::new(source.descriptor.clone(), pages));
            self.left = rows;
        }
        Ok(())
    }
}

impl<P, A> NextRows for Typed<P, A>
where
    P: stored::DataType + 'static,
    A: ArrowPrimitiveType<Native = P::T>,
    P::T: ArrowNativeType,
{
    fn next_rows(&mut self, rows: usize, wanted: &[Range<usize>]) -> Result<ArrayRef> {
        let mut lists = Lists::<P::T>::new(rows, self.most);
        let levels = (self.source.present, self.source.descriptor.max_def_level());
        let mut row = 0;
        for next in wanted.iter().cloned().chain(std::iter::once(rows..rows)) {
            while row < next.end {
                self.open_next()?;
                let is_wanted = row >= next.start;
                let to = if is_wanted { next.end } else { next.start };
                let count = (to - row).min(self.left);
                let reader = self.reader.as_mut().ok_or_else(too_few)?;
                if is_wanted {
                    lists.read(reader, count, levels, &mut self.levels)?;
                } else if decoding(fails, || reader.skip_records(count))? == count {
                    lists.pass(count);
                } else {
                    return Err(too_few());
                }
                self.left -= count;
                row += count;
            }
        }
        self.most = self.most.max(lists.values.len());
        lists.into_array::<A>(self.source.item.clone())
    }
}

fn fails() -> ParquetError {
    bad("bytes that the decoder fails on")
}

fn too_few() -> ParquetError {
    ParquetError::General("fewer rows than the other columns".into())
}

/// Lists as they are read.
struct Lists<T> {
    values: Vec<T>,
    valid: NullBufferBuilder,
    ends: Vec<usize>,
    known: NullBufferBuilder,
}

/// Levels of definition and of repetition; reused.
#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<T: ArrowNativeType> Lists<T> {
    fn new(rows: usize, most: usize) -> Self {
        Self {
            values: Vec::with_capacity(most),
            valid: NullBufferBuilder::new(0),
            ends: Vec::with_capacity(rows),
            known: NullBufferBuilder::new(rows),
        }
    }

    fn pass(&mut self, rows: usize) {
        let end = self.values.len();
        self.ends.extend(std::iter::repeat_n(end, rows));
        self.known.append_n_nulls(rows);
    }

    /// Reads some rows. Items are there from level `present` on, and are not null at level `all`.
    fn read<P>(
        &mut self,
        reader: &mut ColumnReaderImpl<P>,
        rows: usize,
        (present, all): (i16, i16),
        Levels { definition, repetition }: &mut Levels,
    ) -> Result<()>
    where
        P: stored::DataType<T = T>,
    {
        definition.clear();
        repetition.clear();
        let (before, values) = (self.values.len(), &mut self.values);
        let (records, ..) = decoding(fails, || {
            reader.read_records(rows, Some(&mut *definition), Some(&mut *repetition), values)
        })?;
        if records != rows || repetition.len() != definition.len() {
            return Err(too_few());
        }
        // Rows without an item are rare, as is an item that is null.
        let is_full = |level: i16| definition.iter().fold(true, |full, at| full & (*at >= level));
        if is_full(all) && self.values.len() - before == definition.len() {
            self.valid.append_n_non_nulls(definition.len());
            self.add_full(before, repetition, rows);
        } else if is_full(present) {
            let read = self.values.split_off(before);
            self.add_items(&read, definition, all)?;
            self.add_full(before, repetition, rows);
        } else {
            let read = self.values.split_off(before);
            self.add_with_gaps(&read, definition, repetition, (present, all))?;
        }
        if self.ends.len() == self.known.len() { Ok(()) } else { Err(too_few()) }
    }

    /// Adds items, some of which are null.
    fn add_items(&mut self, read: &[T], definition: &[i16], all: i16) -> Result<()> {
        let mut next = 0;
        self.values.reserve(definition.len());
        for level in definition {
            let is_valid = *level == all;
            let value = if is_valid { *read.get(next).ok_or_else(too_few)? } else { T::default() };
            self.values.push(value);
            next += usize::from(is_valid);
        }
        let valid = BooleanBuffer::collect_bool(definition.len(), |at| definition[at] == all);
        self.valid.append_buffer(&NullBuffer::new(valid));
        Ok(())
    }

    /// Adds rows that all have items, which are added already: only where they begin is to be found.
    fn add_full(&mut self, before: usize, repetition: &[i16], rows: usize) {
        for (chunk, first) in repetition.chunks(AT_ONCE).zip((before..).step_by(AT_ONCE)) {
            if chunk.iter().fold(1, |least, level| least.min(*level)) == 0 {
                let begins = (first..).zip(chunk).filter(|(at, level)| **level == 0 && *at > before);
                self.ends.extend(begins.map(|(at, _)| at));
            }
        }
        self.ends.push(self.values.len());
        self.known.append_n_non_nulls(rows);
    }

    fn add_with_gaps(
        &mut self,
        read: &[T],
        definition: &[i16],
        repetition: &[i16],
        (present, all): (i16, i16),
    ) -> Result<()> {
        let mut read = read.iter();
        for (at, (level, repeated)) in definition.iter().zip(repetition).enumerate() {
            if *repeated == 0 {
                if at > 0 {
                    self.ends.push(self.values.len());
                }
                // An empty list is defined up to its repeated level, a null one is not.
                self.known.append(*level + 1 >= present);
            }
            if *level >= present {
                let is_valid = *level == all;
                let value = if is_valid { read.next().copied().ok_or_else(too_few)? } else { T::default() };
                self.values.push(value);
                self.valid.append(is_valid);
            }
        }
        self.ends.push(self.values.len());
        Ok(())
    }

    fn into_array<A>(mut self, item: FieldRef) -> Result<ArrayRef>
    where
        A: ArrowPrimitiveType<Native = T>,
    {
        let lengths = self.ends.iter().scan(0, |start, end| Some(end - std::mem::replace(start, *end)));
        if i32::try_from(self.values.len()).is_err() {
            return Err(bad("more items than one batch can hold"));
        }
        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
        let values = PrimitiveArray::<A>::try_new(self.values.into(), self.valid.finish())?;
        Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(values), self.known.finish())?))
    }
}

#[cfg(test)]
mod tests;
