#![allow(clippy::unwrap_used)]

use super::*;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

type Row = Option<Vec<Option<i64>>>;

/// How lists are written and read.
#[derive(Debug)]
struct Case {
    lists: Vec<Row>,
    wanted: Vec<bool>,
    nullable: bool,
    second: bool,
    join: bool,
    page: usize,
    group: usize,
    at_once: usize,
}

/// Numbers of one type, to it and back.
struct Numbers<T: ArrowPrimitiveType>(fn(i64) -> T::Native, fn(T::Native) -> i64);

impl<T: ArrowPrimitiveType> Numbers<T> {
    fn rows_of(&self, array: &ArrayRef) -> Vec<Row> {
        let lists = array.as_list::<i32>();
        let list = |i: usize| lists.value(i).as_primitive::<T>().iter().map(|v| v.map(self.1)).collect();
        (0..lists.len()).map(|i| lists.is_valid(i).then(|| list(i))).collect()
    }

    fn array_of(&self, rows: &[Row], nullable: bool) -> ArrayRef {
        let numbers = |row: &Vec<Option<i64>>| row.iter().map(|v| v.map(self.0)).collect::<Vec<_>>();
        let lists =
            ListArray::from_iter_primitive::<T, _, _>(rows.iter().map(|row| row.as_ref().map(numbers)));
        let (_, offsets, values, nulls) = lists.into_parts();
        let item = Arc::new(Field::new("element", T::DATA_TYPE, nullable));
        Arc::new(ListArray::new(item, offsets, values, nulls))
    }

    fn hold(&self, case: &Case) -> std::result::Result<(), TestCaseError> {
        let Case { lists, wanted, nullable, second, join, page, group, at_once } = case;
        let column = self.array_of(lists, *nullable);
        let field = Field::new("prompt_ids", column.data_type().clone(), *nullable);
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let version = if *second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_data_page_row_count_limit(*page)
            .set_write_batch_size(3)
            .set_max_row_group_row_count(Some(*group))
            .build();
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), Some(properties)).unwrap();
        writer.write(&RecordBatch::try_new(schema, vec![column]).unwrap()).unwrap();
        writer.close().unwrap();
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap();
        let metadata = metadata.metadata().clone();
        let groups = 0..metadata.num_row_groups();
        let groups = CheckedRowGroups { file: Arc::new(file), metadata, groups, budget: Budget::default() };
        let open = || ListColumn::open(&groups, &field).unwrap();
        let (mut sparse, mut whole) = (open(), open());
        let mut row = 0;
        while row < lists.len() {
            let rows = (*at_once).min(lists.len() - row);
            let mut picked: Vec<Range<usize>> = Vec::new();
            for i in (0..rows).filter(|i| wanted[row + i]) {
                match picked.last_mut() {
                    Some(last) if last.end == i && *join => last.end += 1,
                    _ => picked.push(i..i + 1),
                }
            }
            let expected: Vec<Row> =
                (0..rows).map(|i| lists[row + i].clone().filter(|_| wanted[row + i])).collect();
            prop_assert_eq!(self.rows_of(&sparse.next_rows(rows, &picked).unwrap()), expected);
            let all = whole.next_rows(rows, std::slice::from_ref(&(0..rows))).unwrap();
            prop_assert_eq!(&self.rows_of(&all)[..], &lists[row..row + rows]);
            row += rows;
        }
        prop_assert!(sparse.next_rows(1, std::slice::from_ref(&(0..1))).is_err());
        Ok(())
    }
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
        (nullable, second, join) in any::<(bool, bool, bool)>(),
        (page, group, at_once) in (1_usize..40, 5_usize..90, 1_usize..50),
        numbers in 0..4,
    ) {
        let full = |row: Vec<Option<i64>>| row.into_iter().map(|v| Some(v.unwrap_or(7))).collect::<Vec<_>>();
        let lists: Vec<Row> = match nullable {
            true => lists,
            false => lists.into_iter().map(|row| Some(full(row.unwrap_or_default()))).collect(),
        };
        let case = Case { lists, wanted, nullable, second, join, page, group, at_once };
        match numbers {
            0 => Numbers::<Int32Type>(|v| v as i32, i64::from).hold(&case)?,
            1 => Numbers::<Int64Type>(|v| v, |v| v).hold(&case)?,
            2 => Numbers::<Float32Type>(|v| v as f32, |v| v as i64).hold(&case)?,
            _ => Numbers::<Float64Type>(|v| v as f64, |v| v as i64).hold(&case)?,
        }
    }
}
