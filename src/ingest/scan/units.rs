//! Scan units: stretches of a file that one worker decodes, and how they are decoded.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::ingest::batch::BATCH_TOKENS;
use crate::ingest::batch::{Origin, TokenBatch};
use crate::ingest::files::opened::Source;
use crate::ingest::files::run::Run;
use crate::ingest::json::{JsonBatches, LateField};
use crate::ingest::limits::Limits;
use crate::ingest::normalise::ends;
use crate::ingest::normalise::long::{self, Assembler};
use crate::ingest::normalise::nested;
use crate::ingest::normalise::quality::Quality;
use crate::ingest::normalise::sanitize;
use crate::ingest::parquet::reader::{Projection, RowGroup};
use crate::ingest::scan::wanted::Wanted;
use crate::ingest::scan::watch::Watch;
use crate::ingest::schema::columns::{Column, Level};
use crate::ingest::schema::context::FileContext;
use crate::ingest::schema::dialect::RawField;
use crate::ingest::schema::mapping::{Layout, Mapped, Mapping};
use crate::ingest::schema::resolve::resolve;
use crate::ingest::schema::user_map::UserMap;

/// Fewer tokens than this are not worth a unit of their own.
const UNIT_TOKENS: u64 = 128 * 1024;
/// Bytes of a token in JSON, about: only shares of work depend on it.
const JSON_BYTES: u64 = 24;
/// More rows than this in a batch gain nothing.
const MAX_BATCH_ROWS: u64 = 8192;

/// A stretch of a file.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Index of the file in the run.
    pub file: usize,
    /// Row groups of a Parquet file; empty for JSON lines, which are read as a whole.
    pub row_groups: Range<usize>,
    /// First row in the file.
    pub first_row: u64,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// Compressed bytes, for the progress.
    pub bytes: u64,
    /// Tokens, about.
    pub tokens: u64,
    /// Whether its responses are so long that only one worker at a time may hold one.
    pub large: bool,
}

/// Cuts a file into units.
pub fn units_of(run: &Run, index: usize) -> Vec<Unit> {
    let file = &run.files[index];
    let mapping = run.mapping_of(file);
    let least = match run.settings.unit_tokens {
        0 => UNIT_TOKENS,
        tokens => tokens,
    };
    let head = match &file.source {
        Source::Parquet(head) => head,
        Source::Json => {
            let (bytes, tokens) = (file.bytes, file.bytes / JSON_BYTES);
            let (row_groups, first_row, batch_rows) = (0..0, 0, 0);
            return vec![Unit {
                file: index,
                row_groups,
                first_row,
                batch_rows,
                bytes,
                tokens,
                large: false,
            }];
        }
        Source::Elsewhere { .. } => return Vec::new(),
    };
    let mut units: Vec<Unit> = Vec::new();
    let (mut row, mut content) = (0, Content::default());
    for (at, group) in head.row_groups().enumerate() {
        let open = units.last_mut().filter(|_| content.tokens > 0 && content.tokens < least);
        match open {
            Some(unit) => {
                content.add(&group);
                unit.row_groups.end = at + 1;
                unit.bytes += group.bytes;
                unit.batch_rows = content.batch_rows(mapping.layout);
                unit.tokens = content.tokens;
                unit.large = content.is_large(mapping.layout);
            }
            None => {
                content = Content::default();
                content.add(&group);
                units.push(Unit {
                    file: index,
                    row_groups: at..at + 1,
                    first_row: row,
                    batch_rows: content.batch_rows(mapping.layout),
                    bytes: group.bytes,
                    tokens: content.tokens,
                    large: content.is_large(mapping.layout),
                });
            }
        }
        row += group.rows;
    }
    units
}

/// What some row groups hold.
#[derive(Default)]
struct Content {
    tokens: u64,
    rows: u64,
    unpacked: u64,
}

impl Content {
    fn add(&mut self, group: &RowGroup) {
        self.tokens += group.tokens;
        self.rows += group.rows;
        self.unpacked = self.unpacked.saturating_add(group.unpacked);
    }

    /// Rows that hold about [`BATCH_TOKENS`] tokens, and no more than a worker's share of memory: an
    /// answer of one word may have a prompt of many pages.
    fn batch_rows(&self, layout: Layout) -> usize {
        let mean = |all: u64| (all / self.rows.max(1)).max(1);
        let rows = match layout {
            Layout::Long => BATCH_TOKENS as u64,
            Layout::Nested => (BATCH_TOKENS as u64 / mean(self.tokens)).min(MAX_BATCH_ROWS),
        };
        rows.min(Limits::SHARE / mean(self.unpacked)).max(1) as usize
    }

    /// Whether responses have more tokens than a worker's share of memory holds, on the whole.
    fn is_large(&self, layout: Layout) -> bool {
        layout == Layout::Nested && self.tokens / self.rows.max(1) > Limits::SHARED_TOKENS
    }
}

/// Columns that are needed to tell responses apart and align their values.
const STRUCTURE: &[Column] = &[
    Column::Step,
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::RunId,
    Column::PromptLen,
    Column::ResponseLen,
    Column::PromptIds,
    Column::Position,
    Column::TokenId,
    Column::Mask,
];

/// The part of a mapping that a consumer wants.
pub struct Selection {
    /// The mapping.
    pub mapping: Mapping,
    /// The columns that were asked for.
    wanted: Vec<Column>,
    /// Whether prompts are read once for the responses of a group that follow each other.
    prompts_by_group: bool,
}

impl Selection {
    /// The part of `mapping` that is wanted.
    pub fn new(mapping: &Mapping, wanted: Wanted<'_>) -> Self {
        let mut projected = mapping.clone();
        let wants = |column: Column| wanted.columns.contains(&column);
        let from_ratio = wants(Column::LogprobNew) && !mapping.has(Column::LogprobNew);
        let by_token = wants(Column::PolicyVersion) && !mapping.has(Column::PolicyVersion);
        let needed = |c: Column| match c {
            Column::Ratio => from_ratio,
            Column::TokenVersion if by_token => true,
            c => wants(c) || STRUCTURE.contains(&c),
        };
        projected.columns.retain(|m| needed(m.column));
        if !wants(Column::Reward) {
            projected.reward_parts.clear();
        }
        // Prompts are long: read only where asked for, or where they tell prompt from response.
        let tells = projected.layout == Layout::Nested && mapping.has(Column::Mask);
        if !wants(Column::PromptIds) && !tells {
            projected.columns.retain(|m| m.column != Column::PromptIds);
        }
        let is_value = |m: &Mapped| m.column.level() == Level::Token && m.column != Column::Mask;
        if !projected.columns.iter().any(is_value)
            && let Some(first) = mapping.columns.iter().find(|m| m.column.level() == Level::Token)
        {
            projected.columns.push(first.clone());
        }
        let prompts_by_group = wanted.prompts_by_group;
        Self { mapping: projected, wanted: wanted.columns.to_vec(), prompts_by_group }
    }

    /// Fails where a column that is wanted has its first value after the columns were settled: the
    /// rows before it would be read as if no row had it, and those after it too.
    fn refuse_late(
        &self,
        late: &[LateField],
        fields: &[RawField],
        map: &UserMap,
        context: &FileContext,
    ) -> Result<()> {
        let Some(mapping) = resolve(fields, self.mapping.dialect, map) else { return Ok(()) };
        let wanted = Wanted { columns: &self.wanted, prompts_by_group: self.prompts_by_group };
        let now = Self::new(&mapping, wanted).mapping;
        for field in late {
            let is_late = |m: &&Mapped| m.sources.iter().any(|s| s.name == field.name);
            let column = now.columns.iter().find(is_late).map(|m| m.column.name().to_owned());
            let part = now.reward_parts.iter().find(|(raw, _)| *raw == field.name);
            if let Some(canonical) = column.or_else(|| part.map(|(_, name)| format!("reward/{name}"))) {
                let (path, column) = (context.path.clone(), field.name.clone());
                return Err(Error::LateColumn { path, line: field.line, column, canonical });
            }
        }
        Ok(())
    }

    /// What is read of a Parquet file.
    fn projection(&self) -> Projection<'_> {
        fn names(mapped: &Mapped) -> impl Iterator<Item = &str> {
            mapped.sources.iter().map(|s| s.name.as_str())
        }
        let mapping = &self.mapping;
        let parts = mapping.reward_parts.iter().map(|(raw, _)| raw.as_str());
        // In the long layout, what belongs to a response stands on each of its tokens.
        let of_responses = mapping.columns.iter().filter(|m| m.column.level() == Level::Response);
        let columns = |c: Column| mapping.get(c).into_iter().flat_map(names);
        let is_nested = mapping.layout == Layout::Nested;
        let by_group = self.prompts_by_group && is_nested && mapping.has(Column::GroupId);
        Projection {
            layout: mapping.layout,
            all: mapping.columns.iter().flat_map(names).chain(parts.clone()).collect(),
            repeating: match mapping.layout {
                Layout::Long => of_responses.flat_map(names).chain(parts).collect(),
                Layout::Nested => Vec::new(),
            },
            sparse: columns(Column::PromptIds).filter(|_| by_group).collect(),
            sparse_keys: columns(Column::Step).chain(columns(Column::GroupId)).collect(),
        }
    }
}

/// What a unit gives, in order.
#[derive(Debug)]
pub enum Piece {
    /// Complete responses.
    Whole(TokenBatch),
    /// The unit's first response: it may be the rest of one that began in the unit before.
    First(TokenBatch),
    /// The unit's last response: it may go on in the next unit.
    Last(TokenBatch),
    /// A unit that lies inside of one response, or has only one.
    Only(TokenBatch),
}

impl Piece {
    /// The responses.
    pub fn batch(&self) -> &TokenBatch {
        match self {
            Self::Whole(b) | Self::First(b) | Self::Last(b) | Self::Only(b) => b,
        }
    }
}

/// Begins to fetch what a unit needs, where that is far away.
pub fn begin(run: &Run, unit: &Unit, selection: &Selection) {
    let file = &run.files[unit.file];
    if !file.stored.is_far() {
        return;
    }
    let window = run.settings.limits.window();
    match &file.source {
        Source::Elsewhere { .. } => {}
        Source::Json => file.stored.begin(None, window),
        Source::Parquet(head) => {
            let columns = selection.projection();
            file.stored.begin(Some(&head.stretches(unit.row_groups.clone(), &columns.all)), window);
        }
    }
}

/// Decodes a unit piece by piece; returns how many responses it has, those at its borders included.
pub fn decode(
    run: &Run,
    number: usize,
    unit: &Unit,
    selection: &Selection,
    quality: &mut Quality,
    watch: &Watch<'_>,
    emit: &mut dyn FnMut(Piece) -> Result<()>,
) -> Result<u64> {
    let file = &run.files[unit.file];
    let mut origin = Origin { file: unit.file as u32, unit: number as u32, first_response: 0 };
    let (context, mapping) = (&file.context, &selection.mapping);
    file.stored.require_same(&file.identity)?;
    match &file.source {
        Source::Elsewhere { .. } => {
            Err(Error::Internal { message: format!("{} was not opened", context.path.display()) })
        }
        Source::Json => {
            let mut read = 0;
            let (limits, map) = (run.settings.limits, &run.settings.map);
            let mut batches = JsonBatches::open_mapped(&file.stored, BATCH_TOKENS, limits, map)?;
            while let Some(rows) = batches.next() {
                let rows = rows?;
                let late = batches.take_late();
                if !late.is_empty() {
                    selection.refuse_late(&late, &batches.fields_so_far(), map, context)?;
                }
                watch.bytes(rows.bytes_read.saturating_sub(read));
                read = rows.bytes_read;
                let mut batch =
                    nested::normalise(&rows.batch, mapping, context, origin, rows.first_row, quality)?;
                origin.first_response += batch.len() as u64;
                quality.saw(&batch, mapping, run.settings.steps);
                batch.derive_new_logprob();
                emit(Piece::Whole(batch))?;
                if watch.is_stopped() {
                    break;
                }
            }
            Ok(origin.first_response)
        }
        Source::Parquet(head) => {
            let columns = selection.projection();
            let window = run.settings.limits.window();
            let batches =
                |groups: Range<usize>| head.batches(&file.stored, groups, &columns, unit.batch_rows, window);
            let responses = match mapping.layout {
                Layout::Nested => {
                    let mut row = unit.first_row;
                    for rows in batches(unit.row_groups.clone())? {
                        let rows = rows?;
                        let mut batch = nested::normalise(&rows, mapping, context, origin, row, quality)?;
                        row += rows.num_rows() as u64;
                        origin.first_response += batch.len() as u64;
                        quality.saw(&batch, mapping, run.settings.steps);
                        batch.derive_new_logprob();
                        emit(Piece::Whole(batch))?;
                        if watch.is_stopped() {
                            break;
                        }
                    }
                    origin.first_response
                }
                Layout::Long => {
                    let mut row = unit.first_row;
                    let mut assembler = Assembler::default();
                    let mut began = false;
                    let joined = head.may_join(unit.row_groups.clone(), &columns.all, unit.batch_rows);
                    let size = if joined { unit.row_groups.len().max(1) } else { 1 };
                    'unit: for first in unit.row_groups.clone().step_by(size) {
                        for rows in batches(first..(first + size).min(unit.row_groups.end))? {
                            let rows = rows?;
                            let mut batch = long::normalise(&rows, mapping, context, origin, row, quality)?;
                            row += rows.num_rows() as u64;
                            quality.saw(&batch, mapping, run.settings.steps);
                            batch.derive_new_logprob();
                            let mut pass = |batch| split_first(run, batch, &mut began, quality, emit);
                            assembler.push(batch, &mut pass)?;
                            assembler.open().map_or(Ok(()), |open| run.require_size(open))?;
                            if watch.is_stopped() {
                                break 'unit;
                            }
                        }
                    }
                    let (last, responses) = assembler.finish();
                    match last {
                        Some(last) if began => emit(Piece::Last(last))?,
                        Some(only) => emit(Piece::Only(only))?,
                        None => {}
                    }
                    responses
                }
            };
            watch.bytes(unit.bytes);
            Ok(responses)
        }
    }
}

/// Completes responses of a long file, of which the first was seen in pieces and is whole now: it is
/// counted and judged, and prompts and padding are cut.
pub fn complete(run: &Run, batch: &mut TokenBatch, quality: &mut Quality) {
    let Some(file) = run.files.get(batch.origin.file as usize).filter(|_| !batch.is_empty()) else { return };
    let mapping = run.mapping_of(file);
    let steps = run.settings.steps;
    quality.began(batch, steps);
    let cut = ends::cut(batch, file.context.alignment, mapping.has(Column::PromptIds));
    // What was cut off may have hidden that the rest is a placeholder.
    for response in 0..if cut { batch.len() } else { 1 } {
        let asked = steps.is_none_or(|steps| steps.contains(batch.responses.step[response]));
        sanitize::judge_whole(batch, response, !mapping.has(Column::LogprobNew), asked, quality);
    }
}

fn split_first(
    run: &Run,
    mut batch: TokenBatch,
    began: &mut bool,
    quality: &mut Quality,
    emit: &mut dyn FnMut(Piece) -> Result<()>,
) -> Result<()> {
    if !std::mem::replace(began, true) {
        emit(Piece::First(batch.slice(0..1).detached()))?;
        if batch.len() == 1 {
            return Ok(());
        }
        batch = batch.slice(1..batch.len());
    }
    complete(run, &mut batch, quality);
    batch.drop_plain_positions();
    emit(Piece::Whole(batch))
}
