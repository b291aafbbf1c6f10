//! A column of lists that is read on some rows only and passed over on the others: prompts, which
//! all responses of a group repeat.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{ArrayRef, ListArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type as stored;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::ColumnDescPtr;

use crate::ingest::files::ranges::Ranges;
use crate::ingest::guard::decoding;
use crate::ingest::parquet::budget::Budget;
use crate::ingest::parquet::checked_pages::CheckedPages;
use crate::ingest::parquet::column_chunks::{Chunks, chunks_of};
use crate::ingest::parquet::run_length::bad;

/// A column of lists of whole numbers.
pub struct SparseLists {
    /// Its field, with a type that [`Self::next_rows`] gives.
    pub field: FieldRef,
    item: FieldRef,
    file: Arc<dyn Ranges>,
    descriptor: ColumnDescPtr,
    /// Levels of definition from which there is an item.
    present: i16,
    chunks: Chunks,
    budget: Budget,
    chunk: Option<Chunk>,
    /// Rows left in the chunk.
    left: usize,
}

enum Chunk {
    Narrow(ColumnReaderImpl<stored::Int32Type>),
    Wide(ColumnReaderImpl<stored::Int64Type>),
}

impl SparseLists {
    /// The column at the root of the schema with this name; `None` where it is not a list of
    /// numbers stored as they are.
    pub fn open(
        file: &Arc<dyn Ranges>,
        metadata: &ParquetMetaData,
        row_groups: Range<usize>,
        field: &Field,
        budget: &Budget,
    ) -> Option<Self> {
        let leaves = metadata.file_metadata().schema_descr().columns();
        let leaf = leaves.iter().position(|c| c.path().parts().first() == Some(field.name()))?;
        let descriptor = leaves[leaf].clone();
        let (DataType::List(item) | DataType::LargeList(item)) = field.data_type() else { return None };
        let stored = (descriptor.physical_type(), item.data_type());
        let known = matches!(stored, (Type::INT32, DataType::Int32) | (Type::INT64, DataType::Int64));
        // Above the items: the repeated level, and one where the list itself can be null.
        let present = descriptor.max_def_level() - i16::from(item.is_nullable());
        let flat = descriptor.max_rep_level() == 1 && present == 1 + i16::from(field.is_nullable());
        if !known || !flat {
            return None;
        }
        let item = Arc::new(item.as_ref().clone().with_nullable(true));
        Some(Self {
            field: Arc::new(Field::new(field.name(), DataType::List(item.clone()), true)),
            item,
            file: file.clone(),
            descriptor,
            present,
            chunks: chunks_of(metadata, row_groups, leaf)?,
            budget: budget.clone(),
            chunk: None,
            left: 0,
        })
    }

    /// The next `rows` rows: the lists of those in `wanted` (ascending), null for all others.
    pub fn next_rows(&mut self, rows: usize, wanted: &[usize]) -> Result<ArrayRef> {
        match self.descriptor.physical_type() {
            Type::INT32 => {
                self.next_typed::<stored::Int32Type, Int32Type>(rows, wanted, |chunk| match chunk {
                    Chunk::Narrow(reader) => Some(reader),
                    Chunk::Wide(_) => None,
                })
            }
            _ => self.next_typed::<stored::Int64Type, Int64Type>(rows, wanted, |chunk| match chunk {
                Chunk::Wide(reader) => Some(reader),
                Chunk::Narrow(_) => None,
            }),
        }
    }

    fn next_typed<P, A>(
        &mut self,
        rows: usize,
        wanted: &[usize],
        reader_of: impl Fn(&mut Chunk) -> Option<&mut ColumnReaderImpl<P>>,
    ) -> Result<ArrayRef>
    where
        P: stored::DataType,
        A: ArrowPrimitiveType<Native = P::T>,
        P::T: ArrowNativeType,
    {
        let mut lists = Lists::<P::T>::new(rows);
        let mut row = 0;
        for next in wanted.iter().copied().chain([rows]) {
            while row < next {
                self.fill()?;
                let passed = (next - row).min(self.left);
                let reader = self.chunk.as_mut().and_then(&reader_of).ok_or_else(too_few)?;
                if decoding(fails, || reader.skip_records(passed))? != passed {
                    return Err(too_few());
                }
                self.left -= passed;
                row += passed;
                lists.pass(passed);
            }
            if row < rows {
                self.fill()?;
                let (present, all) = (self.present, self.descriptor.max_def_level());
                let reader = self.chunk.as_mut().and_then(&reader_of).ok_or_else(too_few)?;
                lists.read(reader, present, all)?;
                self.left -= 1;
                row += 1;
            }
        }
        lists.into_array::<A>(self.item.clone())
    }

    /// Opens the next chunk where the last one is at its end.
    fn fill(&mut self) -> Result<()> {
        while self.left == 0 {
            let (chunk, rows) = self.chunks.pop_front().ok_or_else(too_few)?;
            let pages = Box::new(CheckedPages::open(&self.file, &chunk, rows, &self.budget)?);
            let descriptor = self.descriptor.clone();
            self.chunk = Some(match descriptor.physical_type() {
                Type::INT32 => Chunk::Narrow(ColumnReaderImpl::new(descriptor, pages)),
                _ => Chunk::Wide(ColumnReaderImpl::new(descriptor, pages)),
            });
            self.left = rows;
        }
        Ok(())
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
    /// Whether each value is one, in lists with nulls.
    valid: Vec<bool>,
    ends: Vec<usize>,
    known: Vec<bool>,
    levels: [Vec<i16>; 2],
    read: Vec<T>,
}

impl<T: Clone + Default> Lists<T> {
    fn new(rows: usize) -> Self {
        Self {
            values: Vec::new(),
            valid: Vec::new(),
            ends: Vec::with_capacity(rows),
            known: Vec::with_capacity(rows),
            levels: Default::default(),
            read: Vec::new(),
        }
    }

    fn pass(&mut self, rows: usize) {
        let end = self.values.len();
        self.ends.extend(std::iter::repeat_n(end, rows));
        self.known.extend(std::iter::repeat_n(false, rows));
    }

    fn read<P>(&mut self, reader: &mut ColumnReaderImpl<P>, present: i16, all: i16) -> Result<()>
    where
        P: stored::DataType<T = T>,
    {
        let [definition, repetition] = &mut self.levels;
        definition.clear();
        repetition.clear();
        self.read.clear();
        let values = &mut self.read;
        let (records, ..) =
            decoding(fails, || reader.read_records(1, Some(definition), Some(repetition), values))?;
        if records != 1 {
            return Err(too_few());
        }
        let mut read = self.read.iter();
        for level in definition.iter().filter(|level| **level >= present) {
            let valid = *level == all;
            let value = if valid { read.next().cloned().ok_or_else(too_few)? } else { T::default() };
            self.values.push(value);
            self.valid.push(valid);
        }
        self.ends.push(self.values.len());
        // An empty list is defined up to its repeated level, a null one is not.
        self.known.push(definition.first().is_some_and(|level| *level + 1 >= present));
        Ok(())
    }

    fn into_array<A>(self, item: FieldRef) -> Result<ArrayRef>
    where
        A: ArrowPrimitiveType<Native = T>,
        T: ArrowNativeType,
    {
        let lengths = self.ends.iter().scan(0, |start, end| Some(end - std::mem::replace(start, *end)));
        let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
        let values = PrimitiveArray::<A>::new(self.values.into(), Some(NullBuffer::from(self.valid)));
        Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(values), Some(NullBuffer::from(self.known)))?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::Schema;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderMetadata;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;

    type Row = Option<Vec<Option<i64>>>;

    fn rows_of(array: &ArrayRef) -> Vec<Row> {
        let lists = array.as_list::<i32>();
        let list = |i: usize| {
            let values = lists.value(i);
            match values.data_type() {
                DataType::Int32 => {
                    values.as_primitive::<Int32Type>().iter().map(|v| v.map(i64::from)).collect()
                }
                _ => values.as_primitive::<Int64Type>().iter().collect(),
            }
        };
        (0..lists.len()).map(|i| lists.is_valid(i).then(|| list(i))).collect()
    }

    fn array_of(rows: &[Row], wide: bool, nullable: bool) -> ArrayRef {
        let lists = rows.to_vec();
        let array: ListArray = if wide {
            ListArray::from_iter_primitive::<Int64Type, _, _>(lists)
        } else {
            let narrow =
                |row: Vec<Option<i64>>| row.into_iter().map(|v| v.map(|v| v as i32)).collect::<Vec<_>>();
            ListArray::from_iter_primitive::<Int32Type, _, _>(lists.into_iter().map(|row| row.map(narrow)))
        };
        let (_, offsets, values, nulls) = array.into_parts();
        let item = Arc::new(Field::new("element", values.data_type().clone(), nullable));
        Arc::new(ListArray::new(item, offsets, values, nulls))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn wanted_rows_are_those_of_the_column(
            lists in prop::collection::vec(
                prop::option::weighted(0.9, prop::collection::vec(prop::option::weighted(0.95, 0_i64..300), 0..9)),
                1..120,
            ),
            wanted in prop::collection::vec(any::<bool>(), 120),
            (wide, nullable, second) in any::<(bool, bool, bool)>(),
            (page, group, at_once) in (1_usize..40, 5_usize..90, 1_usize..50),
        ) {
            let full = |row: Vec<Option<i64>>| row.into_iter().map(|v| Some(v.unwrap_or(7))).collect::<Vec<_>>();
            let lists: Vec<Row> = match nullable {
                true => lists,
                false => lists.into_iter().map(|row| Some(full(row.unwrap_or_default()))).collect(),
            };
            let column = array_of(&lists, wide, nullable);
            let field = Field::new("prompt_ids", column.data_type().clone(), nullable);
            let schema = Arc::new(Schema::new(vec![field.clone()]));
            let version = if second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(3)
                .set_max_row_group_row_count(Some(group))
                .build();
            let mut file = tempfile::tempfile().unwrap();
            let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), Some(properties)).unwrap();
            writer.write(&RecordBatch::try_new(schema, vec![column]).unwrap()).unwrap();
            writer.close().unwrap();
            let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap();
            let groups = 0..metadata.metadata().num_row_groups();
            let file: Arc<dyn Ranges> = Arc::new(file);
            let mut sparse = SparseLists::open(&file, metadata.metadata(), groups, &field, &Budget::default()).unwrap();
            let mut row = 0;
            while row < lists.len() {
                let rows = at_once.min(lists.len() - row);
                let picked: Vec<usize> = (0..rows).filter(|i| wanted[row + i]).collect();
                let expected: Vec<Row> =
                    (0..rows).map(|i| lists[row + i].clone().filter(|_| wanted[row + i])).collect();
                prop_assert_eq!(rows_of(&sparse.next_rows(rows, &picked).unwrap()), expected);
                row += rows;
            }
            prop_assert!(sparse.next_rows(1, &[0]).is_err());
        }
    }
}
