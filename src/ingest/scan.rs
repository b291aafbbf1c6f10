//! The parallel scan: workers decode units side by side, each feeds a sink of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::batch::TokenBatch;
use super::columns::Column;
use super::guard::guarded;
use super::quality::Quality;
use super::row_index::RowIndex;
use super::run::Run;
use super::stitch::{Ends, Stitcher};
use super::units::{self, Piece, Selection, Unit};
use crate::error::{Error, Result};

/// Tokens of a batch, about: small enough for a cache, large enough to forget the overhead.
pub const BATCH_TOKENS: usize = 32 * 1024;

/// Takes batches; each worker has one of its own.
pub trait Sink: Send {
    /// Takes the next batch. Batches come in no particular order.
    fn accept(&mut self, batch: &TokenBatch) -> Result<()>;
}

/// Told how far a scan is.
pub trait Progress: Sync {
    /// Some tokens and compressed bytes are done.
    fn advance(&self, tokens: u64, bytes: u64);
}

/// No one looks.
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _: u64, _: u64) {}
}

/// Lets workers tell how far they are, and tells them to stop early.
pub struct Watch<'a> {
    stopped: AtomicBool,
    progress: &'a dyn Progress,
}

impl Watch<'_> {
    /// Whether to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Some compressed bytes are done.
    pub fn bytes(&self, bytes: u64) {
        self.progress.advance(0, bytes);
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// What a consumer of a scan wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// Whether prompts are only wanted on the first response of several in a row that are of one
    /// step and group: the others need not be decoded, and may have none.
    pub prompts_by_group: bool,
}

impl<'a> From<&'a [Column]> for Wanted<'a> {
    fn from(columns: &'a [Column]) -> Self {
        Self { columns, prompts_by_group: false }
    }
}

impl<'a, const N: usize> From<&'a [Column; N]> for Wanted<'a> {
    fn from(columns: &'a [Column; N]) -> Self {
        Self { columns, prompts_by_group: false }
    }
}

/// What a scan gives.
pub struct Scanned<S> {
    /// The sinks of all workers.
    pub sinks: Vec<S>,
    /// Missing and bad values.
    pub quality: Quality,
    /// Rows of responses.
    pub rows: RowIndex,
}

/// What all workers of a scan share.
pub(super) struct Shared<'a> {
    pub(super) run: &'a Run,
    pub(super) units: Vec<Unit>,
    pub(super) selections: Vec<Selection>,
    next: AtomicUsize,
    pub(super) watch: Watch<'a>,
    stitcher: Mutex<Stitcher>,
    failed: Mutex<Option<(usize, Error)>>,
    counts: Mutex<Vec<u64>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(run: &'a Run, wanted: Wanted<'_>, progress: &'a dyn Progress) -> Self {
        let units = units::units(run);
        Self {
            counts: Mutex::new(vec![0; units.len()]),
            units,
            selections: run.mappings.iter().map(|m| Selection::new(m, wanted)).collect(),
            run,
            next: AtomicUsize::new(0),
            watch: Watch { stopped: AtomicBool::new(false), progress },
            stitcher: Mutex::default(),
            failed: Mutex::new(None),
        }
    }

    pub(super) fn take(&self) -> Option<(usize, &Unit)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let unit = self.units.get(number).filter(|_| !self.watch.is_stopped())?;
        Some((number, unit))
    }

    pub(super) fn decode(
        &self,
        number: usize,
        unit: &Unit,
        quality: &mut Quality,
        emit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        let selection = &self.selections[self.run.files[unit.file].mapping];
        let path = &self.run.files[unit.file].context.path;
        let responses = guarded(
            path,
            || format!("row group {}", unit.row_groups.start),
            || {
                units::decode(self.run, number, unit, selection, quality, &self.watch, &mut |piece| {
                    self.watch.progress.advance(piece.batch().token_count() as u64, 0);
                    emit(piece)
                })
            },
        )?;
        if let Ok(mut counts) = self.counts.lock() {
            counts[number] = responses;
        }
        Ok(())
    }

    /// Keeps the error of the earliest unit, so that the message does not depend on threads.
    pub(super) fn fail(&self, number: usize, error: Error) {
        self.watch.stop();
        if let Ok(mut failed) = self.failed.lock()
            && failed.as_ref().is_none_or(|(first, _)| number < *first)
        {
            *failed = Some((number, error));
        }
    }

    fn same_file(&self, a: usize, b: usize) -> bool {
        self.units.get(a).zip(self.units.get(b)).is_some_and(|(a, b)| a.file == b.file)
    }

    pub(super) fn finish<S>(
        self,
        sinks: Vec<S>,
        quality: Quality,
        continued: &[usize],
    ) -> Result<Scanned<S>> {
        if let Some((_, error)) = self.failed.into_inner().unwrap_or(None) {
            return Err(error);
        }
        let counts = self.counts.into_inner().unwrap_or_default();
        Ok(Scanned { sinks, quality, rows: RowIndex::new(&counts, continued) })
    }
}

/// Scans the whole run; every worker fills a sink of its own, made by `make`.
pub fn scan<'w, S: Sink>(
    run: &Run,
    wanted: impl Into<Wanted<'w>>,
    progress: &dyn Progress,
    make: impl Fn() -> S + Sync,
) -> Result<Scanned<S>> {
    let shared = Shared::new(run, wanted.into(), progress);
    let workers = run.settings.worker_count().min(shared.units.len()).max(1);
    let mut results: Vec<(S, Quality)> = std::thread::scope(|scope| {
        let worker = || {
            let mut sink = make();
            let mut quality = Quality::default();
            while let Some((number, unit)) = shared.take() {
                if let Err(error) = one_unit(&shared, number, unit, &mut sink, &mut quality) {
                    shared.fail(number, error);
                }
            }
            (sink, quality)
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        handles.into_iter().filter_map(|h| h.join().ok()).collect()
    });
    let mut quality = Quality::default();
    for (_, part) in &results {
        quality.merge(part);
    }
    let stitcher = std::mem::take(&mut *shared.stitcher.lock().unwrap_or_else(|e| e.into_inner()));
    let mut continued = Vec::new();
    if !shared.watch.is_stopped()
        && let Some((sink, _)) = results.first_mut()
    {
        continued = stitcher.finish(&mut |batch| accept_whole(sink, batch))?;
    }
    shared.finish(results.into_iter().map(|(s, _)| s).collect(), quality, &continued)
}

fn accept_whole<S: Sink>(sink: &mut S, mut batch: TokenBatch) -> Result<()> {
    batch.drop_plain_positions();
    sink.accept(&batch)
}

fn one_unit<S: Sink>(
    shared: &Shared<'_>,
    number: usize,
    unit: &Unit,
    sink: &mut S,
    quality: &mut Quality,
) -> Result<()> {
    let mut first = None;
    let mut ends = Ends::Nothing;
    shared.decode(number, unit, quality, &mut |piece| {
        match piece {
            Piece::Whole(batch) => return sink.accept(&batch),
            Piece::First(batch) => first = Some(batch),
            Piece::Only(batch) => ends = Ends::One(Box::new(batch)),
            Piece::Last(last) => {
                ends = match first.take() {
                    Some(first) => Ends::Two(Box::new(first), Box::new(last)),
                    None => Ends::One(Box::new(last)),
                }
            }
        }
        Ok(())
    })?;
    if matches!(ends, Ends::Nothing) {
        return Ok(());
    }
    let same_file = |a: usize, b: usize| shared.same_file(a, b);
    let mut stitcher = shared.stitcher.lock().unwrap_or_else(|e| e.into_inner());
    stitcher.add(number, ends, &same_file, &mut |batch| accept_whole(sink, batch))
}
