#![allow(clippy::unwrap_used)]

use super::*;
use crate::parquet::budget::Budget;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

fn written(column: &ArrayRef, nullable: bool, properties: WriterProperties) -> (CheckedRowGroups, Field) {
    let field = Field::new("entropy", column.data_type().clone(), nullable);
    let schema = Arc::new(Schema::new(vec![field.clone()]));
    let mut file = tempfile::tempfile().unwrap();
    let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), Some(properties)).unwrap();
    writer.write(&RecordBatch::try_new(schema, vec![column.clone()]).unwrap()).unwrap();
    writer.close().unwrap();
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap().metadata().clone();
    let groups = 0..metadata.num_row_groups();
    (CheckedRowGroups { file: Arc::new(file), metadata, groups, budget: Budget::default() }, field)
}

/// All rows of one type, read a few at a time.
fn hold<T: ArrowPrimitiveType>(
    rows: &[Option<T::Native>],
    (nullable, at_once): (bool, usize),
    properties: WriterProperties,
) -> std::result::Result<(), TestCaseError> {
    let column: ArrayRef = Arc::new(rows.iter().copied().collect::<PrimitiveArray<T>>());
    let (groups, field) = written(&column, nullable, properties);
    let mut column = NumberColumn::open(&groups, &field).unwrap();
    let mut all = Vec::new();
    while all.len() < rows.len() {
        let array = column.next_rows(at_once.min(rows.len() - all.len())).unwrap();
        all.extend(array.as_primitive::<T>().iter());
    }
    prop_assert!(column.next_rows(1).is_err());
    prop_assert!(all == rows);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn numbers_are_the_rows(
        runs in prop::collection::vec((prop::option::weighted(0.9, -3_i32..4000), 1_usize..9), 1..300),
        (nullable, second, packed, split) in any::<(bool, bool, bool, bool)>(),
        (page, group, dictionary) in (1_usize..600, 50_usize..2000, 8_usize..4000),
        at_once in 1_usize..1500,
        codec in prop::sample::select(vec![Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]),
    ) {
        let value = |v: &Option<i32>| if nullable { *v } else { Some(v.unwrap_or(0)) };
        let rows: Vec<Option<i32>> =
            runs.iter().flat_map(|(v, n)| std::iter::repeat_n(value(v), *n)).collect();
        let version = if second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = || WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(codec)
            .set_dictionary_enabled(packed)
            .set_encoding(if split { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN })
            .set_data_page_row_count_limit(page)
            .set_write_batch_size(7)
            .set_max_row_group_row_count(Some(group))
            // Small enough that some columns fall back to the values themselves on the way.
            .set_dictionary_page_size_limit(dictionary)
            .build();
        let read = (nullable, at_once);
        let wide = |v: &Option<i32>| v.map(i64::from);
        let float = |v: &Option<i32>| v.map(|v| v as f32 / 7.0);
        hold::<Int32Type>(&rows, read, properties())?;
        hold::<Int64Type>(&rows.iter().map(wide).collect::<Vec<_>>(), read, properties())?;
        hold::<Float32Type>(&rows.iter().map(float).collect::<Vec<_>>(), read, properties())?;
        hold::<Float64Type>(&rows.iter().map(|v| v.map(f64::from)).collect::<Vec<_>>(), read, properties())?;
    }
}

#[test]
fn other_types_and_encodings_are_left_to_the_arrow_reader() {
    let numbers: ArrayRef = Arc::new(PrimitiveArray::<Int32Type>::from(vec![1, 2, 3]));
    let delta = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .build();
    let (groups, field) = written(&numbers, false, delta);
    assert!(NumberColumn::open(&groups, &field).is_none());
    let texts: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["a", "b"]));
    let (groups, field) = written(&texts, false, WriterProperties::default());
    assert!(NumberColumn::open(&groups, &field).is_none());
}
