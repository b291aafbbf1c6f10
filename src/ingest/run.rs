//! A run: its log files, opened and understood, ready to be scanned.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;

use super::columns::{Column, Kind};
use super::context::{AlignmentRule, FileContext};
use super::dialect::{Alignment, Dialect, RawField, Shape};
use super::discover::{Container, LogFile, Skipped, discover};
use super::guard::guarded;
use super::json::JsonBatches;
use super::mapping::{self, Layout, Mapping, UserMap};
use super::parquet::ParquetHead;
use crate::error::{Error, Result};

/// What the user can say about reading a log.
#[derive(Clone, Debug, Default)]
pub struct IngestSettings {
    /// `--map canonical=column`.
    pub map: UserMap,
    /// `--align`, where the convention should not be recognised.
    pub alignment: Option<Alignment>,
    /// Entropies are logged in bits.
    pub entropy_in_bits: bool,
    /// Go on with more than 20 % of values missing.
    pub allow_missing: bool,
    /// Worker threads; 0 is one a core.
    pub threads: usize,
}

impl IngestSettings {
    /// The number of worker threads to use.
    pub fn worker_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        }
    }
}

/// How the rows of a file are had.
#[derive(Clone)]
pub enum Source {
    /// From a Parquet file with this footer.
    Parquet(Box<ParquetHead>),
    /// From JSON lines.
    Json,
}

/// An opened log file.
#[derive(Clone)]
pub struct RunFile {
    /// What the normalisers need to know of it.
    pub context: FileContext,
    /// How its rows are had.
    pub source: Source,
    /// Index of its mapping in [`Run::mappings`].
    pub mapping: usize,
    /// Size on disk.
    pub bytes: u64,
}

/// A run of one or more log files.
#[derive(Clone)]
pub struct Run {
    /// The files, in the order they were given.
    pub files: Vec<RunFile>,
    /// The mappings in use, one for each different schema.
    pub mappings: Vec<Mapping>,
    /// What was not read, and why.
    pub skipped: Vec<Skipped>,
    /// Key-value metadata that all files agree on.
    pub metadata: BTreeMap<String, String>,
    /// Guesses and gaps that the user should know of.
    pub notes: Vec<String>,
    /// The settings it was opened with.
    pub settings: IngestSettings,
}

struct Opened {
    log: LogFile,
    source: Source,
    fields: Vec<RawField>,
    dialect: Dialect,
    alignment: AlignmentRule,
    metadata: BTreeMap<String, String>,
    bytes: u64,
}

impl Run {
    /// Finds and opens all log files behind the arguments.
    pub fn open(arguments: &[PathBuf], settings: &IngestSettings) -> Result<Self> {
        let found = discover(arguments)?;
        let opened: Vec<Opened> = found.files.into_par_iter().map(open_guarded).collect::<Result<_>>()?;
        refuse_conflicts(&opened, &settings.map)?;
        require_named(&settings.map, &opened)?;
        let mut run = Run {
            files: Vec::with_capacity(opened.len()),
            mappings: Vec::new(),
            skipped: found.skipped,
            metadata: common_metadata(&opened),
            notes: Vec::new(),
            settings: settings.clone(),
        };
        run.map_columns(&opened)?;
        run.note_missing_step(&opened);
        Ok(run)
    }

    /// The mapping of a file.
    pub fn mapping_of(&self, file: &RunFile) -> &Mapping {
        &self.mappings[file.mapping]
    }

    /// Whether any file has `column`, or what it is derived from.
    pub fn has(&self, column: Column) -> bool {
        let derived =
            |m: &Mapping| column == Column::LogprobNew && m.has(Column::Ratio) && m.has(Column::Logprob);
        self.mappings.iter().any(|m| m.has(column) || derived(m))
    }

    /// Fails where `column` is in none of the files.
    pub fn require(&self, column: Column) -> Result<()> {
        let Some((file, mapping)) = self.files.first().map(|f| (f, self.mapping_of(f))) else {
            return Ok(());
        };
        if self.has(column) {
            return Ok(());
        }
        Err(Error::MissingColumn {
            path: file.context.path.clone(),
            column: column.name(),
            found: mapping
                .columns
                .iter()
                .map(mapping::source_names)
                .chain(mapping.unused.iter().cloned())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// The file's name, for messages.
    pub fn file_name(&self, file: u32) -> String {
        self.files.get(file as usize).map_or(String::new(), |f| f.context.path.display().to_string())
    }

    fn map_columns(&mut self, opened: &[Opened]) -> Result<()> {
        let mut known: Vec<(&[RawField], Dialect)> = Vec::new();
        for (index, file) in opened.iter().enumerate() {
            let schema = (&file.fields[..], file.dialect);
            let mapping = match known.iter().position(|k| *k == schema) {
                Some(at) => at,
                None => {
                    let mapping = mapping::resolve(&file.fields, file.dialect, &self.settings.map);
                    let mut mapping = mapping.ok_or_else(|| no_token_columns(file))?;
                    require_response_key(&mapping, file)?;
                    forget_placeholders(&mut mapping, opened, schema);
                    known.push(schema);
                    self.mappings.push(mapping);
                    known.len() - 1
                }
            };
            let alignment = self.settings.alignment.map_or(file.alignment, AlignmentRule::Given);
            self.files.push(RunFile {
                context: FileContext {
                    path: file.log.path.clone(),
                    file: index as u32,
                    step: file.log.step,
                    alignment,
                    entropy_in_bits: self.settings.entropy_in_bits,
                },
                source: file.source.clone(),
                mapping,
                bytes: file.bytes,
            });
        }
        let notes = self.mappings.iter().flat_map(|m| m.notes.iter().cloned());
        for note in notes.collect::<Vec<_>>() {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(())
    }

    fn note_missing_step(&mut self, opened: &[Opened]) {
        let without = |f: &&RunFile| f.context.step.is_none() && !self.mapping_of(f).has(Column::Step);
        let count = self.files.iter().filter(without).count();
        if count > 0 && !opened.is_empty() {
            self.notes.push(format!(
                "{count} of {} files name no step (column, folder or file name): their tokens count as step 0",
                opened.len()
            ));
        }
    }
}

fn open_guarded(log: LogFile) -> Result<Opened> {
    let path = log.path.clone();
    guarded(&path, || "footer".into(), || open_one(log))
}

fn open_one(log: LogFile) -> Result<Opened> {
    let bytes = std::fs::metadata(&log.path).map_err(|e| Error::read(&log.path, e))?.len();
    match log.container {
        Container::Parquet => {
            let head = ParquetHead::open(&log.path)?;
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
            Ok(Opened { log, source, fields, dialect, alignment, metadata, bytes })
        }
        Container::Json => {
            let rows = JsonBatches::open(&log.path, super::scan::BATCH_TOKENS)?;
            let (fields, dialect) = (rows.fields().to_vec(), rows.dialect());
            // What was reshaped on the way in is aligned already.
            let reshaped = rows.alignment() != dialect.alignment();
            let alignment = match reshaped {
                true => AlignmentRule::Exact,
                false => alignment_rule(dialect, rows.alignment()),
            };
            let metadata = BTreeMap::new();
            Ok(Opened { log, source: Source::Json, fields, dialect, alignment, metadata, bytes })
        }
    }
}

/// Canonical names alone do not promise canonical alignment.
fn alignment_rule(dialect: Dialect, alignment: Option<Alignment>) -> AlignmentRule {
    match alignment {
        Some(alignment) if dialect != Dialect::Canonical => AlignmentRule::Given(alignment),
        _ => AlignmentRule::Auto,
    }
}

fn no_token_columns(file: &Opened) -> Error {
    let has = |name: Column| {
        file.fields.iter().any(|f| name.aliases().contains(&super::columns::fold_name(&f.name).as_str()))
    };
    let needed = [Column::TokenId, Column::Logprob, Column::Entropy, Column::Advantage];
    let missing: Vec<&str> = needed.iter().filter(|c| !has(**c)).map(|c| c.name()).collect();
    match file.dialect.text_only() {
        Some(how) => Error::TextOnly {
            path: file.log.path.clone(),
            framework: file.dialect.name(),
            missing: missing.join(", "),
            how,
        },
        None => Error::MissingColumn {
            path: file.log.path.clone(),
            column: Column::Logprob.name(),
            found: file.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
        },
    }
}

/// Without a sample id or a position, rows of the long layout cannot be told apart.
fn require_response_key(mapping: &Mapping, file: &Opened) -> Result<()> {
    let told_apart = mapping.has(Column::SampleId) || mapping.has(Column::Position);
    if mapping.layout == Layout::Nested || told_apart {
        return Ok(());
    }
    Err(Error::MissingColumn {
        path: file.log.path.clone(),
        column: Column::SampleId.name(),
        found: file.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// A log-probability column that is zero everywhere was not computed.
fn forget_placeholders(mapping: &mut Mapping, opened: &[Opened], schema: (&[RawField], Dialect)) {
    let same = |o: &&Opened| (&o.fields[..], o.dialect) == schema;
    let logprobs: Vec<Column> = mapping.columns.iter().map(|m| m.column).filter(|c| c.is_logprob()).collect();
    for column in logprobs {
        let Some(source) = mapping.get(column).and_then(|m| m.sources.first()).cloned() else { continue };
        let zero = |o: &Opened| match &o.source {
            Source::Parquet(head) => head.is_all_zero(&source.name),
            Source::Json => json_is_all_zero(&o.log.path, &source.name),
        };
        if opened.iter().filter(same).all(zero) {
            mapping.forget(column, &format!("(`{}`) is zero everywhere", source.name));
        }
    }
    mapping.fall_back_to_other_logprob();
}

/// Looks at the first rows only: a framework that skips a column skips it in the whole run.
fn json_is_all_zero(path: &std::path::Path, name: &str) -> bool {
    let Ok(mut rows) = JsonBatches::open(path, super::scan::BATCH_TOKENS) else { return false };
    let Some(Ok(first)) = rows.next() else { return false };
    let Some(array) = first.batch.column_by_name(name) else { return false };
    let Ok(lists) = super::arrays::Lists::of(array) else { return false };
    let Ok(values) = super::arrays::to_f64(&lists.values) else { return false };
    values.len() >= 8 && values.iter().all(|v| *v == 0.0 || v.is_nan())
}

/// Two files of one run must agree on what a column is, where the column is of use.
fn refuse_conflicts(opened: &[Opened], map: &UserMap) -> Result<()> {
    let of_use = |name: &str| {
        let folded = super::columns::fold_name(name);
        let known = |c: &Column| {
            c.kind() != Kind::Text && (c.name() == name || c.aliases().contains(&folded.as_str()))
        };
        map.named().any(|(_, raw)| raw == name) || Column::ALL.iter().any(known)
    };
    let mut seen: BTreeMap<&str, (&Opened, Shape)> = BTreeMap::new();
    for file in opened {
        for field in file.fields.iter().filter(|f| of_use(&f.name)) {
            let (first, shape) = *seen.entry(&field.name).or_insert((file, field.shape));
            if !compatible(shape, field.shape) {
                return Err(Error::ConflictingTypes {
                    column: field.name.clone(),
                    first: first.log.path.clone(),
                    first_type: describe(shape),
                    second: file.log.path.clone(),
                    second_type: describe(field.shape),
                });
            }
        }
    }
    Ok(())
}

fn compatible(a: Shape, b: Shape) -> bool {
    use super::dialect::Primitive::{Bool, Float, Int, Other};
    let number = |p| matches!(p, Int | Float | Bool);
    match (a, b) {
        (Shape::Scalar(x), Shape::Scalar(y)) | (Shape::List(x), Shape::List(y)) => {
            x == y || x == Other || y == Other || (number(x) && number(y))
        }
        // A column of nulls has no type yet.
        (Shape::Scalar(Other), _) | (_, Shape::Scalar(Other)) => true,
        (Shape::List(_), Shape::ListOfLists(_)) | (Shape::ListOfLists(_), Shape::List(_)) => false,
        _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

fn describe(shape: Shape) -> String {
    let name = |p| format!("{p:?}").to_lowercase();
    match shape {
        Shape::Scalar(p) => format!("one {} a row", name(p)),
        Shape::List(p) => format!("a list of {} a row", name(p)),
        Shape::ListOfLists(p) => format!("a list of lists of {} a row", name(p)),
        Shape::Struct => "a struct".into(),
    }
}

fn require_named(map: &UserMap, opened: &[Opened]) -> Result<()> {
    for (column, raw) in map.named() {
        if !opened.iter().any(|o| o.fields.iter().any(|f| f.name == raw)) {
            let names = opened.first().map(|o| o.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>());
            return Err(Error::Map {
                argument: format!("{column}={raw}"),
                message: format!("no file has a column `{raw}`"),
                hint: format!("columns found: {}", names.unwrap_or_default().join(", ")),
            });
        }
    }
    Ok(())
}

fn common_metadata(opened: &[Opened]) -> BTreeMap<String, String> {
    let mut common: Option<BTreeMap<String, String>> = None;
    for file in opened {
        match &mut common {
            None => common = Some(file.metadata.clone()),
            Some(common) => common.retain(|k, v| file.metadata.get(k) == Some(v)),
        }
    }
    common.unwrap_or_default()
}
