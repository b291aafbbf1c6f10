//! Parquet files: what the footer says, and batches of rows of some row groups.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use crate::error::{Error, Result};
use crate::ingest::files::stored::Stored;
use crate::ingest::guard::{decoding, guarded};
use crate::ingest::limits::Limits;
use crate::ingest::parquet::budget::Budget;
use crate::ingest::parquet::footer::End;
use crate::ingest::parquet::row_groups::CheckedRowGroups;
use crate::ingest::parquet::run_length::RunColumn;
use crate::ingest::parquet::sparse_lists::SparseLists;
use crate::ingest::schema::dialect::{Primitive, RawField, Shape};
use crate::ingest::schema::mapping::Layout;
use crate::ingest::values::arrays::{Lists, range_of, to_f64};
use crate::ingest::values::boundaries;

/// Rows that are looked at where the footer does not tell enough.
const FIRST_ROWS: usize = 1024;
/// Bytes that are fetched for them, where they are far.
const FIRST_WINDOW: u64 = 1 << 20;

/// What a Parquet file's footer says.
#[derive(Clone)]
pub struct ParquetHead {
    metadata: ArrowReaderMetadata,
    limits: Limits,
    /// The columns.
    pub fields: Vec<RawField>,
    /// Key-value metadata, without Arrow's own.
    pub metadata_keys: BTreeMap<String, String>,
}

/// Which columns are read, and how.
pub struct Projection<'a> {
    /// The layout of the file.
    pub layout: Layout,
    /// The columns.
    pub all: Vec<&'a str>,
    /// Those of them that repeat a value over many rows.
    pub repeating: Vec<&'a str>,
    /// Lists that are null except on the first of several rows with the same `sparse_keys`.
    pub sparse: Vec<&'a str>,
    /// What has to be the same.
    pub sparse_keys: Vec<&'a str>,
}

/// A row group, before it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// Rows in it.
    pub rows: u64,
    /// Values of the longest column: tokens, in either layout.
    pub tokens: u64,
    /// Compressed size.
    pub bytes: u64,
    /// Size in memory, about.
    pub unpacked: u64,
}

impl ParquetHead {
    /// Reads the footer.
    pub fn open(stored: &Stored, limits: Limits) -> Result<Self> {
        let path = stored.path();
        let (file, length) = stored.open()?;
        if length == 0 {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let corrupt = |e: parquet::errors::ParquetError| Error::Corrupt {
            path: path.to_owned(),
            place: "footer".into(),
            message: e.to_string(),
        };
        let end = End::read(file.as_ref(), length, limits)
            .map_err(|e| file.failure().unwrap_or_else(|| corrupt(e)))?;
        let load = |options| {
            guarded(path, || "footer".into(), || ArrowReaderMetadata::load(&end, options).map_err(corrupt))
        };
        // An Arrow schema in the metadata that does not fit is only a hint: leave it.
        let metadata = load(ArrowReaderOptions::new())
            .or_else(|_| load(ArrowReaderOptions::new().with_skip_arrow_metadata(true)))?;
        let fields = metadata.schema().fields().iter().map(|f| raw_field(f)).collect();
        let pairs = metadata.metadata().file_metadata().key_value_metadata();
        let metadata_keys = pairs
            .into_iter()
            .flatten()
            .filter(|kv| kv.key != "ARROW:schema" && kv.key != "pandas")
            .filter_map(|kv| Some((kv.key.clone(), kv.value.clone()?)))
            .collect();
        Ok(Self { metadata, limits, fields, metadata_keys })
    }

    /// The row groups.
    pub fn row_groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        let values = |g: &RowGroupMetaData| g.columns().iter().map(|c| c.num_values()).max();
        let size = |n: i64| u64::try_from(n).unwrap_or(0);
        self.metadata.metadata().row_groups().iter().map(move |g| RowGroup {
            rows: size(g.num_rows()),
            tokens: size(values(g).unwrap_or(0)),
            bytes: size(g.compressed_size()),
            unpacked: size(g.total_byte_size()),
        })
    }

    /// Whether the statistics prove that all values of a column are zero.
    pub fn is_all_zero(&self, name: &str) -> bool {
        self.stated_range(name) == Some((0.0, 0.0))
    }

    /// The least and the largest number of a column, where the statistics tell.
    #[allow(clippy::cast_precision_loss)] // masks and log-probabilities are small
    pub fn stated_range(&self, name: &str) -> Option<(f64, f64)> {
        let of_group = |g: &RowGroupMetaData| {
            let column =
                g.columns().iter().find(|c| c.column_path().parts().first().is_some_and(|p| p == name));
            Some(match column?.statistics()? {
                Statistics::Int32(s) => (f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
                Statistics::Int64(s) => (*s.min_opt()? as f64, *s.max_opt()? as f64),
                Statistics::Float(s) => (f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
                Statistics::Double(s) => (*s.min_opt()?, *s.max_opt()?),
                _ => return None,
            })
        };
        let groups = self.metadata.metadata().row_groups().iter();
        let ranges: Option<Vec<(f64, f64)>> = groups.map(of_group).collect();
        ranges?.into_iter().reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    /// The same of the first rows, where no statistics were written.
    pub fn first_range(&self, stored: &Stored, name: &str) -> Option<(f64, f64)> {
        let columns = Projection {
            layout: Layout::Nested,
            all: vec![name],
            repeating: Vec::new(),
            sparse: Vec::new(),
            sparse_keys: Vec::new(),
        };
        let groups = 0..self.metadata.metadata().num_row_groups().min(1);
        let batch = self.batches(stored, groups, &columns, FIRST_ROWS, FIRST_WINDOW).ok()?.next()?.ok()?;
        let array = batch.column_by_name(name)?;
        let values = Lists::of(array).map_or_else(|_| array.clone(), |lists| lists.values);
        range_of(&to_f64(&values).ok()?)
    }

    /// Decodes some columns of some row groups, a batch of rows at a time.
    /// A far file is fetched `window` bytes ahead.
    pub fn batches(
        &self,
        stored: &Stored,
        row_groups: Range<usize>,
        columns: &Projection<'_>,
        batch_rows: usize,
        window: u64,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let place = match row_groups.len() {
            1 => format!("row group {}", row_groups.start),
            _ => format!("row groups {} to {}", row_groups.start, row_groups.end.saturating_sub(1)),
        };
        let (path, owned) = (stored.path(), stored.path().to_owned());
        let budget = Budget::new(self.limits, batch_rows, columns.layout == Layout::Long);
        let spent = budget.clone();
        let file = stored.stretches(&self.stretches(row_groups.clone(), &columns.all), window)?;
        let source = file.clone();
        let fail = move |message: String| match (source.failure(), spent.refusal()) {
            (Some(failure), _) => failure,
            (None, Some(why)) => Error::TooLarge { path: owned.clone(), place: place.clone(), message: why },
            (None, None) => Error::Corrupt { path: owned.clone(), place: place.clone(), message },
        };
        let footer = self.metadata.metadata();
        let runs: Vec<RunColumn> = self
            .fields_of(&columns.repeating)
            .filter_map(|field| RunColumn::open(&file, footer, row_groups.clone(), field, &budget))
            .collect();
        let sparse: Vec<SparseLists> = self
            .fields_of(&columns.sparse)
            .filter_map(|field| SparseLists::open(&file, footer, row_groups.clone(), field, &budget))
            .collect();
        let keys: Vec<String> = columns.sparse_keys.iter().map(|key| (*key).to_owned()).collect();
        let is_own = |name: &str| {
            let mut fields = runs.iter().map(|c| &c.field).chain(sparse.iter().map(|c| &c.field));
            fields.any(|field| field.name() == name)
        };
        let schema = footer.file_metadata().schema_descr_ptr();
        let fields = schema.root_schema().get_fields();
        let wanted = |name: &str| columns.all.contains(&name) && !is_own(name);
        let roots = (0..fields.len()).filter(|i| wanted(fields[*i].name()));
        let projection = ProjectionMask::roots(&schema, roots);
        let groups = CheckedRowGroups { file, metadata: footer.clone(), groups: row_groups, budget };
        let expected = groups.num_rows();
        let reader = guarded(
            path,
            || "columns".into(),
            || {
                let hint = match columns.layout {
                    Layout::Long => self.with_dictionaries(),
                    Layout::Nested => self.metadata.schema().fields().clone(),
                };
                parquet_to_arrow_field_levels(&schema, projection, Some(&hint))
                    .and_then(|levels| {
                        ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, batch_rows, None)
                    })
                    .map_err(|e| fail(e.to_string()))
            },
        )?;
        Ok(Batches { reader, runs, sparse, keys, expected, fail })
    }

    /// Whether batches over several row groups may hold their texts written out: each row group has a
    /// dictionary of its own. Otherwise, row groups are read one by one.
    pub fn may_join(&self, row_groups: Range<usize>, names: &[&str], batch_rows: usize) -> bool {
        let groups = self.metadata.metadata().row_groups().get(row_groups).unwrap_or_default();
        let is_text = |c: &&ColumnChunkMetaData| {
            c.column_type() == PhysicalType::BYTE_ARRAY
                && c.column_path().parts().first().is_some_and(|root| names.contains(&root.as_str()))
        };
        let chunks = groups.iter().flat_map(|group| group.columns().iter().filter(is_text));
        // No text is longer than its chunk.
        let longest = chunks.map(|c| u64::try_from(c.uncompressed_size()).unwrap_or(0)).max().unwrap_or(0);
        longest.saturating_mul(batch_rows as u64) <= Limits::SHARE
    }

    /// Where the chunks of these columns are, for those who fetch ahead. Chunks that cannot be are left
    /// out; reading them fails with a name.
    pub fn stretches(&self, row_groups: Range<usize>, names: &[&str]) -> Vec<Range<u64>> {
        let groups = self.metadata.metadata().row_groups().get(row_groups).unwrap_or_default();
        let wanted = |c: &&ColumnChunkMetaData| {
            c.column_path().parts().first().is_some_and(|root| names.contains(&root.as_str()))
        };
        let chunks = groups.iter().flat_map(|group| group.columns().iter().filter(wanted));
        let stretch = |chunk: &ColumnChunkMetaData| {
            let (start, length) = decoding(|| (), || Ok(chunk.byte_range())).ok()?;
            Some(start..start.checked_add(length)?)
        };
        chunks.filter_map(stretch).collect()
    }

    /// Fields of these names.
    fn fields_of<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Arc<Field>> {
        self.metadata.schema().fields().iter().filter(|f| names.contains(&f.name().as_str()))
    }

    /// Texts of the long layout repeat on every row: kept as dictionaries they cost nothing.
    fn with_dictionaries(&self) -> Fields {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let field = |f: &Arc<Field>| match f.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => {
                Arc::new(f.as_ref().clone().with_data_type(dictionary.clone()))
            }
            _ => f.clone(),
        };
        self.metadata.schema().fields().iter().map(field).collect()
    }
}

/// Batches of rows.
struct Batches<F> {
    reader: ParquetRecordBatchReader,
    runs: Vec<RunColumn>,
    sparse: Vec<SparseLists>,
    keys: Vec<String>,
    /// Rows that the footer announces and that did not come yet.
    expected: usize,
    fail: F,
}

impl<F: Fn(String) -> Error> Iterator for Batches<F> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let decoded = decoding(
            || (self.fail)("the decoder failed on these bytes".into()),
            || self.reader.next().transpose().map_err(|e| (self.fail)(e.to_string())),
        );
        match decoded.transpose() {
            None if self.expected > 0 => {
                self.expected = 0;
                Some(Err((self.fail)("fewer rows than the footer announces".into())))
            }
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(batch)) if batch.num_rows() > self.expected => {
                Some(Err((self.fail)("too many rows".into())))
            }
            Some(Ok(batch)) => {
                self.expected -= batch.num_rows();
                let whole = with_own(&batch, &mut self.runs, &mut self.sparse, &self.keys);
                Some(whole.map_err(|e| (self.fail)(e.to_string())))
            }
        }
    }
}

/// Adds the columns that the Arrow reader did not read.
fn with_own(
    batch: &RecordBatch,
    runs: &mut [RunColumn],
    sparse: &mut [SparseLists],
    keys: &[String],
) -> std::result::Result<RecordBatch, parquet::errors::ParquetError> {
    let mut fields = batch.schema().fields().to_vec();
    let mut columns = batch.columns().to_vec();
    let rows = batch.num_rows();
    for column in runs {
        fields.push(column.field.clone());
        columns.push(column.next_rows(rows)?);
    }
    if !sparse.is_empty() {
        let keys: Vec<&ArrayRef> = keys.iter().filter_map(|key| batch.column_by_name(key)).collect();
        let wanted = boundaries::changes(rows, &keys);
        for column in sparse {
            fields.push(column.field.clone());
            columns.push(column.next_rows(rows, &wanted)?);
        }
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn raw_field(field: &Field) -> RawField {
    let shape = match field.data_type() {
        DataType::List(inner) | DataType::LargeList(inner) | DataType::FixedSizeList(inner, _) => {
            match inner.data_type() {
                DataType::List(deep) | DataType::LargeList(deep) | DataType::FixedSizeList(deep, _) => {
                    Shape::ListOfLists(primitive(deep.data_type()))
                }
                other => Shape::List(primitive(other)),
            }
        }
        DataType::Struct(_) | DataType::Map(_, _) => Shape::Struct,
        other => Shape::Scalar(primitive(other)),
    };
    RawField::new(field.name(), shape)
}

fn primitive(data_type: &DataType) -> Primitive {
    match data_type {
        t if t.is_integer() => Primitive::Int,
        t if t.is_floating() => Primitive::Float,
        DataType::Decimal128(_, _) => Primitive::Float,
        DataType::Boolean => Primitive::Bool,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Primitive::Text,
        DataType::Dictionary(_, values) => primitive(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Primitive::Binary
        }
        t if t.is_temporal() => Primitive::Date,
        _ => Primitive::Other,
    }
}
