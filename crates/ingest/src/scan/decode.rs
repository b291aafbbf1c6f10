//! How a unit is decoded: rows in, responses out, those at its borders marked.

use crate::files::opened::Source;
use crate::files::run::{Run, RunFile};
use crate::json::JsonBatches;
use crate::normalise::ends;
use crate::normalise::long;
use crate::normalise::long::Assembler;
use crate::normalise::nested;
use crate::normalise::quality::Quality;
use crate::normalise::{sanitize, token_rewards, tokens};
use crate::parquet::reader::ParquetHead;
use crate::scan::selection::Selection;
use crate::scan::units::Unit;
use crate::scan::watch::{BytesRead, Watch};
use crate::schema::mapping::Layout;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::BATCH_TOKENS;
use stapo_batch::batch::{Origin, TokenBatch};
use stapo_batch::columns::Column;

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

/// Where a unit is decoded: its file, what of it is read, and who watches.
struct Decoder<'a> {
    run: &'a Run,
    file: &'a RunFile,
    unit: &'a Unit,
    selection: &'a Selection,
    watch: &'a Watch<'a>,
    origin: Origin,
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
    let origin = Origin { file: unit.file as u32, unit: number as u32, first_response: 0 };
    file.stored.require_same(&file.identity)?;
    let decoder = Decoder { run, file, unit, selection, watch, origin };
    match &file.source {
        Source::Elsewhere { .. } => {
            Err(Error::Internal { message: format!("{} was not opened", file.context.path.display()) })
        }
        Source::Json => decoder.json(quality, emit),
        Source::Parquet(head) => match selection.mapping.layout {
            Layout::Nested => decoder.nested(head, quality, emit),
            Layout::Long => decoder.long(head, quality, emit),
        },
    }
}

impl Decoder<'_> {
    /// Passes a batch of whole responses on; whether the reading is to end.
    fn pass_on(
        &mut self,
        mut batch: TokenBatch,
        quality: &mut Quality,
        emit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<bool> {
        self.origin.first_response += batch.len() as u64;
        quality.saw(&batch, &self.selection.mapping, self.run.settings.scope());
        batch.derive_new_logprob();
        emit(Piece::Whole(batch))?;
        Ok(self.watch.is_stopped())
    }

    fn json(mut self, quality: &mut Quality, emit: &mut dyn FnMut(Piece) -> Result<()>) -> Result<u64> {
        let Self { run, file, selection, watch, .. } = self;
        let (context, mapping) = (&file.context, &selection.mapping);
        let mut read = 0;
        let (limits, map) = (run.settings.limits, &run.settings.map);
        let annotations = file.annotations.as_ref();
        let mut batches = JsonBatches::open(&file.stored, annotations, BATCH_TOKENS, limits, map)?;
        while let Some(rows) = batches.next() {
            let rows = rows?;
            let late = batches.take_late();
            if !late.is_empty() {
                selection.refuse_late(&late, &batches.fields_so_far(), map, context)?;
            }
            watch.bytes(rows.bytes_read.saturating_sub(read));
            read = rows.bytes_read;
            let batch =
                nested::normalise(&rows.batch, mapping, context, self.origin, rows.first_row, quality)?;
            if self.pass_on(batch, quality, emit)? {
                break;
            }
        }
        Ok(self.origin.first_response)
    }

    fn nested(
        mut self,
        head: &ParquetHead,
        quality: &mut Quality,
        emit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<u64> {
        let Self { run, file, unit, selection, watch, .. } = self;
        let (context, mapping) = (&file.context, &selection.mapping);
        let (columns, window) = (selection.projection(), run.settings.limits.window());
        let (mut row, mut read) = (unit.first_row, BytesRead::new(watch, unit));
        for rows in head.batches(&file.stored, unit.row_groups.clone(), &columns, unit.batch_rows, window)? {
            let rows = rows?;
            let batch = nested::normalise(&rows, mapping, context, self.origin, row, quality)?;
            row += rows.num_rows() as u64;
            read.up_to(row);
            if self.pass_on(batch, quality, emit)? {
                break;
            }
        }
        read.all();
        Ok(self.origin.first_response)
    }

    fn long(
        self,
        head: &ParquetHead,
        quality: &mut Quality,
        emit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<u64> {
        let Self { run, file, unit, selection, watch, origin } = self;
        let (context, mapping) = (&file.context, &selection.mapping);
        let (columns, window) = (selection.projection(), run.settings.limits.window());
        let (mut row, mut read) = (unit.first_row, BytesRead::new(watch, unit));
        let mut assembler = Assembler::default();
        let mut began = false;
        let joined = head.may_join(unit.row_groups.clone(), &columns.all, unit.batch_rows);
        let size = if joined { unit.row_groups.len().max(1) } else { 1 };
        'unit: for first in unit.row_groups.clone().step_by(size) {
            let groups = first..(first + size).min(unit.row_groups.end);
            for rows in head.batches(&file.stored, groups, &columns, unit.batch_rows, window)? {
                let rows = rows?;
                let mut batch = long::normalise(&rows, mapping, context, origin, row, quality)?;
                row += rows.num_rows() as u64;
                read.up_to(row);
                quality.saw(&batch, mapping, run.settings.scope());
                batch.derive_new_logprob();
                let mut pass = |batch| split_first(run, batch, &mut began, quality, emit);
                assembler.push(batch, &mut pass)?;
                assembler.open().map_or(Ok(()), |open| run.require_size(open))?;
                if watch.is_stopped() {
                    break 'unit;
                }
            }
        }
        read.all();
        let (last, responses) = assembler.finish();
        match last {
            Some(last) if began => emit(Piece::Last(last))?,
            Some(only) => emit(Piece::Only(only))?,
            None => {}
        }
        Ok(responses)
    }
}

/// Completes responses of a long file, of which the first was seen in pieces and is whole now: it is
/// counted and judged, and prompts and padding are cut.
pub fn complete(run: &Run, batch: &mut TokenBatch, quality: &mut Quality) {
    let Some(file) = run.files.get(batch.origin.file as usize).filter(|_| !batch.is_empty()) else { return };
    let mapping = run.mapping_of(file);
    let scope = run.settings.scope();
    quality.began(batch, scope);
    let cut = ends::cut(batch, file.context.alignment, mapping.has(Column::PromptIds));
    if let Some(mask) = batch.tokens.flags.take(Column::Mask) {
        let asked = file.context.asked(&batch.responses);
        let asked = asked.map(|asked| tokens::spread(&asked, &batch.offsets));
        batch.tokens.flags.set(Column::Mask, tokens::settle_mask(mask, asked.as_deref(), quality));
    }
    // What was cut off may have hidden that the rest is a placeholder.
    for response in 0..if cut { batch.len() } else { 1 } {
        let asked = scope.contains(&batch.responses, response);
        sanitize::judge_whole(batch, response, !mapping.has(Column::LogprobNew), asked, quality);
    }
    batch.derive_policy_version();
    token_rewards::sum(batch, mapping, &file.context, quality);
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
