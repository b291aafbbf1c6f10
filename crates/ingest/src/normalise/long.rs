//! The long layout: a row is a token. Rows of a response follow each other; a response may go on
//! in the next batch of rows, so batches are cut at responses and the open end is carried over.
//!
//! A response without tokens is one row without a position.

use arrow_array::{Array, ArrayRef, RecordBatch};

use crate::file_context::FileContext;
use crate::normalise::quality::Quality;
use crate::normalise::responses;
use crate::normalise::tokens;
use crate::normalise::tokens::{Owners, TokenSource};
use crate::schema::mapping::{Mapped, Mapping};
use crate::values::arrays::WrongType;
use crate::values::boundaries;
use stapo_base::error::Result;
use stapo_batch::batch::{Origin, TokenBatch};
use stapo_batch::columns::{Column, Level};

/// Brings a batch of token rows into canonical form. The first and the last response may be
/// fragments of longer ones.
pub fn normalise(
    batch: &RecordBatch,
    mapping: &Mapping,
    context: &FileContext,
    origin: Origin,
    first_row: u64,
    quality: &mut Quality,
) -> Result<TokenBatch> {
    let positions = mapping.get(Column::Position).and_then(|m| source_array(batch, m));
    let keys = [Column::SampleId, Column::GroupId, Column::Step, Column::Update];
    let keys = keys.iter().filter_map(|c| source_array(batch, mapping.get(*c)?)).collect::<Vec<_>>();
    let wrong = |WrongType(found)| context.type_error("position", Column::Position, found);
    let starts = boundaries::starts(batch.num_rows(), positions, &keys).map_err(wrong)?;
    let (offsets, pick) = match positions.filter(|p| p.null_count() > 0) {
        None => {
            let ends = starts.iter().skip(1).copied().chain([batch.num_rows()]);
            (std::iter::once(0).chain(ends).collect(), None)
        }
        Some(positions) => without_empty_rows(&starts, positions),
    };
    let row_of = |i: usize| first_row + starts[i] as u64;
    let responses = responses::read(batch, mapping, context, (&starts, &row_of), true, quality)?;
    let offsets: Vec<usize> = if starts.is_empty() { vec![0] } else { offsets };
    let mut sources = Vec::new();
    let mut masks = Vec::new();
    for mapped in mapping.columns.iter().filter(|m| m.column.level() == Level::Token) {
        for source in &mapped.sources {
            let Some(array) = batch.column_by_name(&source.name) else { continue };
            let of_column = TokenSource {
                column: mapped.column,
                raw: &source.name,
                transform: source.transform,
                values: array.clone(),
                pick: pick.clone(),
            };
            if mapped.column == Column::Mask {
                masks.push(of_column.flags(context)?);
            } else {
                sources.push(of_column);
            }
        }
    }
    let asked = context.asked(&responses).map(|asked| tokens::spread(&asked, &offsets));
    // What it leaves open is settled once responses are whole and their ends are cut.
    let mask = tokens::merge_masks(masks.into_iter());
    // The first may have begun before, the last may go on: they are judged when they are put together.
    let whole = 1..(offsets.len() - 1).saturating_sub(1);
    let owners = Owners { offsets: &offsets, rows: &row_of, whole, asked: asked.as_deref() };
    let tokens = tokens::read(&sources, mask, context, owners, quality)?;
    Ok(TokenBatch { origin, offsets, responses, tokens })
}

fn source_array<'a>(batch: &'a RecordBatch, mapped: &Mapped) -> Option<&'a ArrayRef> {
    batch.column_by_name(&mapped.sources.first()?.name)
}

/// Offsets and token rows without the rows that stand for responses of no tokens.
fn without_empty_rows(starts: &[usize], positions: &ArrayRef) -> (Vec<usize>, Option<Vec<usize>>) {
    let mut offsets = vec![0];
    let mut pick = Vec::with_capacity(positions.len());
    let ends = starts.iter().skip(1).copied().chain([positions.len()]);
    for (start, end) in starts.iter().zip(ends) {
        pick.extend((*start..end).filter(|row| positions.is_valid(*row)));
        offsets.push(pick.len());
    }
    (offsets, Some(pick))
}

/// Carries a response that is not known to be complete from one batch of rows to the next.
#[derive(Default)]
pub struct Assembler {
    open: Option<TokenBatch>,
    responses: u64,
}

impl Assembler {
    /// Takes the next rows; passes on what is complete.
    pub fn push(
        &mut self,
        mut batch: TokenBatch,
        emit: &mut dyn FnMut(TokenBatch) -> Result<()>,
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let mut from = 0;
        if let Some(mut open) = self.open.take() {
            if continues(&open, &batch) {
                open.extend_last(&batch.slice(0..1));
                from = 1;
            }
            if from == batch.len() {
                self.open = Some(open);
                return Ok(());
            }
            emit(open)?;
        }
        let last = batch.len() - 1;
        batch.origin.first_response = self.responses - from as u64;
        self.responses += (batch.len() - from) as u64;
        if from < last {
            emit(batch.slice(from..last))?;
        }
        self.open = Some(batch.slice(last..last + 1).detached());
        Ok(())
    }

    /// The response that may go on.
    pub fn open(&self) -> Option<&TokenBatch> {
        self.open.as_ref()
    }

    /// The last response, which the next rows of the file may continue; and how many started here.
    pub fn finish(self) -> (Option<TokenBatch>, u64) {
        (self.open, self.responses)
    }
}

/// Whether the first response of `next` is the rest of the last one of `before`.
pub fn continues(before: &TokenBatch, next: &TokenBatch) -> bool {
    let Some(last) = before.len().checked_sub(1) else { return false };
    if next.is_empty() || before.range(last).is_empty() || next.range(0).is_empty() {
        return false;
    }
    let same_id = |c: Column| match (before.ids(c), next.ids(c)) {
        (Some(a), Some(b)) => a[last] == b[0],
        _ => true,
    };
    let update = |b: &TokenBatch, i: usize| b.responses.ints.get(Column::Update).map(|v| v[i]);
    let onward = match (before.tokens.ints.get(Column::Position), next.tokens.ints.get(Column::Position)) {
        (Some(a), Some(b)) => a.last() < b.first(),
        _ => true,
    };
    before.responses.step[last] == next.responses.step[0]
        && update(before, last) == update(next, 0)
        && same_id(Column::GroupId)
        && same_id(Column::SampleId)
        && onward
}
