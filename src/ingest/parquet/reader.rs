//! Parquet files: what the footer says, and batches of rows of some row groups.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use crate::error::{Error, Result};
use crate::ingest::parquet::run_length::RunColumn;
use crate::ingest::parquet::sparse_lists::SparseLists;
use crate::ingest::schema::dialect::{Primitive, RawField, Shape};
use crate::ingest::schema::mapping::Layout;
use crate::ingest::values::boundaries;

/// What a Parquet file's footer says.
#[derive(Clone)]
pub struct ParquetHead {
    metadata: ArrowReaderMetadata,
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
}

impl ParquetHead {
    /// Reads the footer.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let length = file.metadata().map_err(|e| Error::read(path, e))?.len();
        if length == 0 {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let corrupt = |e: parquet::errors::ParquetError| Error::Corrupt {
            path: path.to_owned(),
            place: "footer".into(),
            message: e.to_string(),
        };
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            // An Arrow schema in the metadata that does not fit is only a hint: leave it.
            .or_else(|_| {
                ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))
            })
            .map_err(corrupt)?;
        let fields = metadata.schema().fields().iter().map(|f| raw_field(f)).collect();
        let pairs = metadata.metadata().file_metadata().key_value_metadata();
        let metadata_keys = pairs
            .into_iter()
            .flatten()
            .filter(|kv| kv.key != "ARROW:schema" && kv.key != "pandas")
            .filter_map(|kv| Some((kv.key.clone(), kv.value.clone()?)))
            .collect();
        Ok(Self { metadata, fields, metadata_keys })
    }

    /// The row groups.
    pub fn row_groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        let values = |g: &RowGroupMetaData| g.columns().iter().map(|c| c.num_values()).max();
        let size = |n: i64| u64::try_from(n).unwrap_or(0);
        self.metadata.metadata().row_groups().iter().map(move |g| RowGroup {
            rows: size(g.num_rows()),
            tokens: size(values(g).unwrap_or(0)),
            bytes: size(g.compressed_size()),
        })
    }

    /// Whether the statistics prove that all values of a column are zero.
    pub fn is_all_zero(&self, name: &str) -> bool {
        let groups = self.metadata.metadata().row_groups();
        let zero = |g: &RowGroupMetaData| {
            let column =
                g.columns().iter().find(|c| c.column_path().parts().first().is_some_and(|p| p == name));
            match column.and_then(|c| c.statistics()) {
                Some(Statistics::Float(s)) => s.min_opt() == Some(&0.0) && s.max_opt() == Some(&0.0),
                Some(Statistics::Double(s)) => s.min_opt() == Some(&0.0) && s.max_opt() == Some(&0.0),
                _ => false,
            }
        };
        !groups.is_empty() && groups.iter().all(zero)
    }

    /// Decodes some columns of some row groups, a batch of rows at a time.
    pub fn batches(
        &self,
        path: &Path,
        row_groups: Range<usize>,
        columns: &Projection<'_>,
        batch_rows: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let place = match row_groups.len() {
            1 => format!("row group {}", row_groups.start),
            _ => format!("row groups {} to {}", row_groups.start, row_groups.end.saturating_sub(1)),
        };
        let owned = path.to_owned();
        let corrupt =
            move |message: String| Error::Corrupt { path: owned.clone(), place: place.clone(), message };
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let open = |names: &[&str]| self.own_columns(path, names);
        let mut runs: Vec<RunColumn> = open(&columns.repeating)?
            .iter()
            .filter_map(|(file, field)| {
                RunColumn::open(file, self.metadata.metadata(), row_groups.clone(), field)
            })
            .collect();
        let mut sparse: Vec<SparseLists> = open(&columns.sparse)?
            .iter()
            .filter_map(|(file, field)| {
                SparseLists::open(file, self.metadata.metadata(), row_groups.clone(), field)
            })
            .collect();
        let keys: Vec<String> = columns.sparse_keys.iter().map(|key| (*key).to_owned()).collect();
        let is_own = |name: &str| {
            let mut fields = runs.iter().map(|c| &c.field).chain(sparse.iter().map(|c| &c.field));
            fields.any(|field| field.name() == name)
        };
        let metadata = match columns.layout {
            Layout::Long => self.with_dictionaries(),
            Layout::Nested => self.metadata.clone(),
        };
        let schema = metadata.metadata().file_metadata().schema_descr_ptr();
        let fields = schema.root_schema().get_fields();
        let wanted = |name: &str| columns.all.contains(&name) && !is_own(name);
        let roots = (0..fields.len()).filter(|i| wanted(fields[*i].name()));
        let projection = ProjectionMask::roots(&schema, roots);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(row_groups.collect())
            .with_projection(projection)
            .with_batch_size(batch_rows)
            .build()
            .map_err(|e| corrupt(e.to_string()))?;
        Ok(reader.map(move |batch| {
            let batch = batch.map_err(|e| corrupt(e.to_string()))?;
            with_own(&batch, &mut runs, &mut sparse, &keys).map_err(|e| corrupt(e.to_string()))
        }))
    }

    /// Columns that are not left to the Arrow reader, each with the file.
    fn own_columns(&self, path: &Path, names: &[&str]) -> Result<Vec<(Arc<File>, Arc<Field>)>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let file = Arc::new(File::open(path).map_err(|e| Error::read(path, e))?);
        let fields = self.metadata.schema().fields().iter().filter(|f| names.contains(&f.name().as_str()));
        Ok(fields.map(|field| (file.clone(), field.clone())).collect())
    }

    /// Texts of the long layout repeat on every row: kept as dictionaries they cost nothing.
    fn with_dictionaries(&self) -> ArrowReaderMetadata {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let field = |f: &Arc<Field>| match f.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => {
                Arc::new(f.as_ref().clone().with_data_type(dictionary.clone()))
            }
            _ => f.clone(),
        };
        let schema: SchemaRef =
            Arc::new(Schema::new(self.metadata.schema().fields().iter().map(field).collect::<Vec<_>>()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        ArrowReaderMetadata::try_new(self.metadata.metadata().clone(), options)
            .unwrap_or_else(|_| self.metadata.clone())
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
        _ => Primitive::Other,
    }
}
