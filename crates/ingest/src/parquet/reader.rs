//! Parquet files: what the footer says, and batches of rows of some row groups.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::parquet::batches::Batches;
use crate::parquet::budget::Budget;
use crate::parquet::footer::End;
use crate::parquet::list_column::ListColumn;
use crate::parquet::number_column::NumberColumn;
use crate::parquet::row_groups::CheckedRowGroups;
use crate::parquet::run_length::RunColumn;
use crate::parquet::shapes::raw_field;
use crate::parquet::statistics;
use crate::schema::mapping::Layout;
use crate::schema::raw_field::RawField;
use crate::storage::stored::Stored;
use crate::values::arrays::{range_of, to_f64};
use crate::values::lists::Lists;
use stapo_base::error::{Error, Result};
use stapo_base::guard::{decoding, guarded};
use stapo_batch::limits::Limits;

/// Rows that are looked at where the footer does not tell enough.
const FIRST_ROWS: usize = 1024;
/// Bytes that are fetched for them, where they are far.
const FIRST_WINDOW: u64 = 1 << 20;

/// What a Parquet file's footer says.
#[derive(Clone)]
pub struct ParquetHead {
    metadata: ArrowReaderMetadata,
    limits: Limits,
    /// Columns of the file by name and shape, in its order.
    pub fields: Vec<RawField>,
    /// Key-value metadata, without Arrow's own.
    pub metadata_keys: BTreeMap<String, String>,
}

/// Which columns are read, and how.
pub struct Projection<'a> {
    /// The layout of the file.
    pub layout: Layout,
    /// Every column that is read.
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
    /// Reads the footer, and nothing of the data.
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

    /// The row groups as the footer counts them, in the order of the file.
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

    /// How many values a column has, where the statistics prove that all of them are zero.
    pub fn zeros(&self, name: &str) -> Option<u64> {
        statistics::zeros(self.metadata.metadata(), name)
    }

    /// The least and the largest number of a column, where the statistics tell.
    pub fn stated_range(&self, name: &str) -> Option<(f64, f64)> {
        statistics::range(self.metadata.metadata(), name)
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
        let groups = CheckedRowGroups { file, metadata: footer.clone(), groups: row_groups, budget };
        let runs: Vec<RunColumn> =
            self.fields_of(&columns.repeating).filter_map(|field| RunColumn::open(&groups, field)).collect();
        let list_of = |field: &Arc<Field>| ListColumn::open(&groups, field);
        let sparse: Vec<ListColumn> = self.fields_of(&columns.sparse).filter_map(list_of).collect();
        let lists: Vec<ListColumn> = match columns.layout {
            Layout::Long => Vec::new(),
            Layout::Nested => {
                let is_sparse = |field: &&Arc<Field>| columns.sparse.contains(&field.name().as_str());
                self.fields_of(&columns.all).filter(|field| !is_sparse(field)).filter_map(list_of).collect()
            }
        };
        let numbers: Vec<NumberColumn> = match columns.layout {
            Layout::Nested => Vec::new(),
            Layout::Long => {
                let is_run = |field: &&Arc<Field>| runs.iter().any(|run| run.field.name() == field.name());
                let others = self.fields_of(&columns.all).filter(|field| !is_run(field));
                others.filter_map(|field| NumberColumn::open(&groups, field)).collect()
            }
        };
        let keys: Vec<String> = columns.sparse_keys.iter().map(|key| (*key).to_owned()).collect();
        let is_own = |name: &str| {
            let lists = lists.iter().chain(&sparse).map(|column| &column.field);
            let numbers = numbers.iter().map(|column| &column.field);
            runs.iter().map(|column| &column.field).chain(numbers).chain(lists).any(|f| f.name() == name)
        };
        let schema = footer.file_metadata().schema_descr_ptr();
        let fields = schema.root_schema().get_fields();
        let wanted = |name: &str| columns.all.contains(&name) && !is_own(name);
        let roots = (0..fields.len()).filter(|i| wanted(fields[*i].name()));
        let projection = ProjectionMask::roots(&schema, roots);
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
        Ok(Batches { reader, runs, numbers, lists, sparse, keys, expected, fail })
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
