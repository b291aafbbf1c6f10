//! Opening a log file: its head, its columns, who wrote it.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use crate::files::container::Container;
use crate::files::discover::LogFile;
use crate::json::JsonBatches;
use crate::parquet::reader::ParquetHead;
use crate::schema::alignment::{AlignmentRule, ListAlignment};
use crate::schema::dialect::Dialect;
use crate::schema::raw_field::RawField;
use crate::schema::user_map::UserMap;
use crate::storage::identity::FileIdentity;
use stapo_base::error::Result;
use stapo_batch::batch::BATCH_TOKENS;
use stapo_batch::limits::Limits;

/// How the rows of a file are had.
#[derive(Clone)]
pub enum Source {
    /// From a Parquet file with this footer.
    Parquet(Box<ParquetHead>),
    /// From JSON lines.
    Json,
    /// Read by another process, in so many scan units.
    Elsewhere {
        /// How many units it was cut into where it was planned.
        units: usize,
    },
}

/// A log file whose head was read.
pub struct Opened {
    /// Where it is, and what its name says.
    pub log: LogFile,
    /// How its rows are had.
    pub source: Source,
    /// Its columns.
    pub fields: Vec<RawField>,
    /// The framework that wrote it, by its columns.
    pub dialect: Dialect,
    /// How its lists are aligned.
    pub alignment: AlignmentRule,
    /// Its key-value metadata.
    pub metadata: BTreeMap<String, String>,
    /// What tells it from a file that takes its name later.
    pub identity: FileIdentity,
    /// What reading it may take.
    pub limits: Limits,
}

impl Opened {
    /// The first rows of JSON lines, where they can be read.
    pub fn first_rows(&self) -> Option<RecordBatch> {
        let annotations = self.log.annotations.as_ref();
        let map = UserMap::default();
        let mut rows =
            JsonBatches::open(&self.log.stored, annotations, BATCH_TOKENS, self.limits, &map).ok()?;
        Some(rows.next()?.ok()?.batch)
    }
}

/// Opens a file and looks at its head.
pub fn open(log: LogFile, limits: Limits, map: &UserMap) -> Result<Opened> {
    // Of a file, before its head is read: one that grows meanwhile is another one from then on. Of an
    // object, after: every read is on condition of what the first one saw.
    let before = log.stored.identity()?;
    match log.container {
        Container::Parquet => {
            let head = ParquetHead::open(&log.stored, limits)?;
            let fields = head.fields.clone();
            let metadata = head.metadata_keys.clone();
            let (dialect, alignment) = match metadata.contains_key("schema_version") {
                true => (Dialect::Canonical, AlignmentRule::Exact),
                false => {
                    let dialect = Dialect::detect(&fields);
                    (dialect, alignment_rule(dialect, dialect.alignment()))
                }
            };
            let source = Source::Parquet(Box::new(head));
            let identity = if log.stored.is_far() { log.stored.identity()? } else { before };
            Ok(Opened { log, source, fields, dialect, alignment, metadata, identity, limits })
        }
        Container::Json => {
            let annotations = log.annotations.as_ref();
            let rows = JsonBatches::open(&log.stored, annotations, BATCH_TOKENS, limits, map)?;
            let (fields, dialect) = (rows.fields().to_vec(), rows.dialect());
            // What was reshaped on the way in is aligned already.
            let reshaped = rows.alignment() != dialect.alignment();
            let alignment = match reshaped {
                true => AlignmentRule::Exact,
                false => alignment_rule(dialect, rows.alignment()),
            };
            let metadata = BTreeMap::new();
            let identity = if log.stored.is_far() { log.stored.identity()? } else { before };
            Ok(Opened { log, source: Source::Json, fields, dialect, alignment, metadata, identity, limits })
        }
    }
}

/// Canonical names alone do not promise canonical alignment.
fn alignment_rule(dialect: Dialect, alignment: Option<ListAlignment>) -> AlignmentRule {
    match alignment {
        Some(alignment) if dialect != Dialect::Canonical => AlignmentRule::Given(alignment),
        _ => AlignmentRule::Auto,
    }
}
