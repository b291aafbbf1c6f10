//! A column of some row groups as run-end encoded arrays.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, Int32Array, PrimitiveArray, RunArray};
use arrow_schema::{DataType, Field, FieldRef};
use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;

use super::chunk_pages::{ChunkPages, Next};
use super::hybrid::{Repeated, bad};
use super::page::{Bits, OpenPage, dictionary};
use crate::parquet::row_groups::CheckedRowGroups;

/// A column that is read as runs.
pub struct RunColumn {
    /// Its field, with the run-end encoded type.
    pub field: FieldRef,
    values: DataType,
    width: usize,
    nullable: bool,
    pages: ChunkPages,
    dictionary: Vec<u64>,
    page: Option<OpenPage>,
}

impl RunColumn {
    /// The column at the root of the schema with this name, where its row groups keep numbers in
    /// dictionaries; `None` where reading row by row is the way.
    pub fn open(groups: &CheckedRowGroups, field: &Field) -> Option<Self> {
        let leaves = groups.metadata.file_metadata().schema_descr().columns();
        let leaf = leaves.iter().position(|c| c.path().parts() == [field.name().as_str()])?;
        let descriptor = &leaves[leaf];
        let width = match (descriptor.physical_type(), field.data_type()) {
            (Type::INT32, t) if t.is_integer() && !matches!(t, DataType::Int64 | DataType::UInt64) => 4,
            (Type::FLOAT, DataType::Float32) => 4,
            (Type::INT64, DataType::Int64 | DataType::UInt64) => 8,
            (Type::DOUBLE, DataType::Float64) => 8,
            _ => return None,
        };
        let flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
        let chunks = groups.chunks(leaf)?;
        let is_packed = |chunk: &ColumnChunkMetaData| chunk.dictionary_page_offset().is_some();
        let readable = chunks.iter().all(|(chunk, _)| is_packed(chunk) && is_readable(chunk));
        let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
        let values = Arc::new(Field::new("values", field.data_type().clone(), true));
        let runs = field.clone().with_data_type(DataType::RunEndEncoded(ends, values)).with_nullable(true);
        (flat && readable).then_some(())?;
        Some(Self {
            field: Arc::new(runs),
            values: field.data_type().clone(),
            width,
            nullable: descriptor.max_def_level() == 1,
            pages: ChunkPages::new(groups, chunks),
            dictionary: Vec::new(),
            page: None,
        })
    }

    /// The next `rows` rows.
    pub fn next_rows(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut runs = Runs::default();
        let mut left = rows;
        while left > 0 {
            let dictionary = &self.dictionary;
            match self.page.as_mut().filter(|page| page.rows > 0) {
                Some(page) => {
                    let run = page.next_run(left, dictionary)?;
                    left -= run.len;
                    runs.push(run)?;
                }
                None => self.next_page()?,
            }
        }
        runs.into_array(&self.values)
    }

    fn next_page(&mut self) -> Result<()> {
        self.page = None;
        match self.pages.next()? {
            Next::Chunk => self.dictionary.clear(),
            Next::Page(Page::DictionaryPage { buf, num_values, .. }) if self.dictionary.is_empty() => {
                self.dictionary = dictionary(&buf, num_values, self.width)?;
            }
            Next::Page(page) => self.page = Some(OpenPage::open(page, self.width, self.nullable)?),
        }
        Ok(())
    }
}

/// Whether a chunk has dictionary indices, plain values and values of split bytes alone.
pub fn is_readable(chunk: &ColumnChunkMetaData) -> bool {
    #[allow(deprecated)]
    let known = |encoding: Encoding| {
        use Encoding::{BYTE_STREAM_SPLIT, PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
        matches!(encoding, PLAIN | PLAIN_DICTIONARY | RLE | RLE_DICTIONARY | BYTE_STREAM_SPLIT)
    };
    chunk.encodings().all(known)
}

/// Runs of different neighbours.
#[derive(Default)]
struct Runs {
    ends: Vec<i32>,
    values: Vec<Bits>,
    rows: usize,
}

impl Runs {
    fn push(&mut self, run: Repeated<Bits>) -> Result<()> {
        if run.len == 0 {
            return Err(bad("a run of no rows"));
        }
        self.rows += run.len;
        let end = i32::try_from(self.rows).map_err(|_| bad("too many rows"))?;
        match (self.values.last(), self.ends.last_mut()) {
            (Some(last), Some(open)) if *last == run.value => *open = end,
            _ => {
                self.ends.push(end);
                self.values.push(run.value);
            }
        }
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    fn into_array(self, values: &DataType) -> Result<ArrayRef> {
        let values: ArrayRef = match values {
            DataType::Int8 => self.typed::<Int8Type>(|bits| bits as i8),
            DataType::Int16 => self.typed::<Int16Type>(|bits| bits as i16),
            DataType::Int32 => self.typed::<Int32Type>(|bits| bits as i32),
            DataType::Int64 => self.typed::<Int64Type>(|bits| bits as i64),
            DataType::UInt8 => self.typed::<UInt8Type>(|bits| bits as u8),
            DataType::UInt16 => self.typed::<UInt16Type>(|bits| bits as u16),
            DataType::UInt32 => self.typed::<UInt32Type>(|bits| bits as u32),
            DataType::UInt64 => self.typed::<UInt64Type>(|bits| bits),
            DataType::Float32 => self.typed::<Float32Type>(|bits| f32::from_bits(bits as u32)),
            DataType::Float64 => self.typed::<Float64Type>(f64::from_bits),
            _ => return Err(bad("a type that has no runs")),
        };
        Ok(Arc::new(RunArray::<Int32Type>::try_new(&Int32Array::from(self.ends), &values)?))
    }

    fn typed<T: ArrowPrimitiveType>(&self, of: impl Fn(u64) -> T::Native) -> ArrayRef {
        let array: PrimitiveArray<T> = self.values.iter().map(|bits| bits.map(&of)).collect();
        Arc::new(array)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::parquet::budget::Budget;
    use std::fs::File;

    use arrow_array::cast::AsArray;
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::Schema;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderMetadata;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;

    fn written(column: &ArrayRef, nullable: bool, properties: WriterProperties) -> (File, Field) {
        let field = Field::new("step", column.data_type().clone(), nullable);
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), Some(properties)).unwrap();
        writer.write(&RecordBatch::try_new(schema, vec![column.clone()]).unwrap()).unwrap();
        writer.close().unwrap();
        (file, field)
    }

    fn all_groups(file: File) -> CheckedRowGroups {
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap().metadata().clone();
        let groups = 0..metadata.num_row_groups();
        CheckedRowGroups { file: Arc::new(file), metadata, groups, budget: Budget::default() }
    }

    /// All rows, read a few at a time.
    fn read_back(file: File, field: &Field, rows: usize, at_once: usize) -> Vec<Option<i64>> {
        let mut column = RunColumn::open(&all_groups(file), field).unwrap();
        let mut all = Vec::new();
        while all.len() < rows {
            let array = column.next_rows(at_once.min(rows - all.len())).unwrap();
            let runs = array.as_run::<Int32Type>();
            let values = runs.values().as_primitive::<Int64Type>();
            let physical = |row: usize| runs.get_physical_index(row);
            all.extend((0..runs.len()).map(|row| {
                let at = physical(row);
                values.is_valid(at).then(|| values.value(at))
            }));
        }
        assert!(column.next_rows(1).is_err());
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn runs_are_the_rows(
            runs in prop::collection::vec((prop::option::weighted(0.9, -3_i64..400), 1_usize..60), 1..60),
            (nullable, second, split) in any::<(bool, bool, bool)>(),
            (page, group, dictionary) in (1_usize..200, 50_usize..500, 8_usize..400),
            at_once in 1_usize..300,
        ) {
            let value = |v: &Option<i64>| if nullable { *v } else { Some(v.unwrap_or(0)) };
            let rows: Vec<Option<i64>> =
                runs.iter().flat_map(|(v, n)| std::iter::repeat_n(value(v), *n)).collect();
            let version = if second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(7)
                .set_max_row_group_row_count(Some(group))
                .set_encoding(if split { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN })
                // Small enough that some columns fall back to the values themselves on the way.
                .set_dictionary_page_size_limit(dictionary)
                .build();
            let column: ArrayRef = Arc::new(PrimitiveArray::<Int64Type>::from(rows.clone()));
            let (file, field) = written(&column, nullable, properties);
            prop_assert_eq!(read_back(file, &field, rows.len(), at_once), rows);
        }
    }

    #[test]
    fn plain_columns_and_texts_are_read_row_by_row() {
        let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
        let column: ArrayRef = Arc::new(PrimitiveArray::<Int64Type>::from(vec![1, 1, 2]));
        let (file, field) = written(&column, false, plain);
        assert!(RunColumn::open(&all_groups(file), &field).is_none());
        let column: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["a", "a"]));
        let (file, field) = written(&column, false, WriterProperties::default());
        assert!(RunColumn::open(&all_groups(file), &field).is_none());
    }
}
