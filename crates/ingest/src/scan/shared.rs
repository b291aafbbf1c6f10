//! What all workers of a scan share: the units still to do, what went wrong, open ends of responses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::files::run::Run;
use crate::memory_turns::MemoryTurns;
use crate::normalise::quality::Quality;
use crate::scan::decode;
use crate::scan::decode::Piece;
use crate::scan::response_keys::ResponseKeys;
use crate::scan::row_index::RowIndex;
use crate::scan::scan_part::ScanPart;
use crate::scan::selection::Selection;
use crate::scan::step_filter::StepFilter;
use crate::scan::stitch::Stitcher;
use crate::scan::unit_table::UnitTable;
use crate::scan::units::Unit;
use crate::scan::wanted::Wanted;
use crate::scan::watch::Watch;
use crate::scope::Scope;
use stapo_base::error::{Error, Result};
use stapo_batch::progress::Progress;

/// What a scan leaves: its sinks, and what was seen of the log on the way.
pub struct Scanned<S> {
    /// The sinks of all workers.
    pub sinks: Vec<S>,
    /// Missing and bad values.
    pub quality: Quality,
    /// The row of each response in the run.
    pub rows: RowIndex,
}

/// What all workers of a scan share.
pub struct Shared<'a> {
    pub run: &'a Run,
    /// Where the units of each file begin.
    pub table: UnitTable,
    /// The units to read, with their numbers.
    pub units: Vec<(usize, Unit)>,
    pub selections: Vec<Selection>,
    next: AtomicUsize,
    pub watch: Watch<'a>,
    pub stitcher: Mutex<Stitcher>,
    pub steps: StepFilter,
    failed: Mutex<Option<(usize, Error)>>,
    counts: Mutex<BTreeMap<usize, u64>>,
    keys: Mutex<ResponseKeys>,
    turns: Arc<MemoryTurns>,
}

impl<'a> Shared<'a> {
    pub fn new(run: &'a Run, wanted: Wanted<'_>, progress: &'a dyn Progress, units: &[Range<usize>]) -> Self {
        let (table, units) = UnitTable::new(run, units);
        Self {
            counts: Mutex::default(),
            table,
            units,
            selections: run
                .mappings
                .iter()
                .map(|m| Selection::new(m, wanted, run.settings.training_only))
                .collect(),
            run,
            next: AtomicUsize::new(0),
            watch: Watch::new(progress),
            stitcher: Mutex::default(),
            steps: StepFilter::new(run.settings.scope()),
            failed: Mutex::new(None),
            keys: Mutex::default(),
            turns: Arc::default(),
        }
    }

    /// Workers that have something to do. Large units are read one after another, whoever reads them; were
    /// it many, the allocator would keep for each what a large unit takes.
    pub fn workers(&self) -> usize {
        let small = self.units.iter().filter(|(_, unit)| !unit.large).count();
        self.run.settings.worker_count().min(small + 1).min(self.units.len()).max(1)
    }

    pub fn take(&self) -> Option<(usize, &Unit)> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let unit = self.units.get(place).filter(|_| !self.watch.is_stopped());
        if unit.is_none() {
            self.turns.finish(place);
        }
        unit.map(|(number, unit)| (*number, unit))
    }

    pub fn decode(
        &self,
        number: usize,
        unit: &Unit,
        quality: &mut Quality,
        emit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        let selection = &self.selections[self.run.files[unit.file].mapping];
        let place = self.place(number);
        self.begin_ahead(place);
        let is_one_run = !self.run.settings.pool;
        let training = Scope { steps: None, ..self.run.settings.scope() };
        let mut pass = |piece: Piece| {
            // A response at the border of a file may have its rest in another.
            if let (true, Piece::Whole(batch)) = (is_one_run, &piece)
                && let Ok(mut keys) = self.keys.lock()
            {
                let several = self.run.files.len() > 1;
                // An evaluation may have the ids of what is trained on.
                match training.stretches(&batch.responses)[..] {
                    [ref all] if *all == (0..batch.len()) => keys.add(batch, several),
                    ref parts => parts.iter().for_each(|part| keys.add(&batch.slice(part.clone()), several)),
                }
            }
            self.watch.tokens(piece.batch().token_count() as u64);
            emit(piece)
        };
        let responses = self.turns.with(place, || {
            decode::decode(self.run, number, unit, selection, quality, &self.watch, &mut pass)
        })?;
        if let Ok(mut counts) = self.counts.lock() {
            counts.insert(number, responses);
        }
        Ok(())
    }

    /// The place of a unit among those to read.
    fn place(&self, number: usize) -> usize {
        self.units.partition_point(|(known, _)| *known < number)
    }

    /// Units are taken in order: the one that is a round of workers away is nobody's yet.
    fn begin_ahead(&self, place: usize) {
        if let Some((_, next)) = self.units.get(place + self.run.settings.worker_count()) {
            decode::begin(self.run, next, &self.selections[self.run.files[next.file].mapping]);
        }
    }

    /// Keeps the error of the earliest unit, so that the message does not depend on threads.
    pub fn fail(&self, number: usize, error: Error) {
        self.watch.stop();
        if let Ok(mut failed) = self.failed.lock()
            && failed.as_ref().is_none_or(|(first, _)| number < *first)
        {
            *failed = Some((number, error));
        }
    }

    pub fn same_file(&self, a: usize, b: usize) -> bool {
        self.table.same_file(a, b)
    }

    /// Ends the scan: what it leaves beside the sinks.
    pub fn finish(self, quality: Quality) -> Result<(ScanPart, UnitTable)> {
        if let Some((_, error)) = self.failed.into_inner().unwrap_or(None) {
            return Err(error);
        }
        let files: BTreeSet<usize> = self.units.iter().map(|(_, unit)| unit.file).collect();
        for file in files.iter().map(|file| &self.run.files[*file]) {
            file.stored.require_same(&file.identity)?;
        }
        let conventions = files.iter().map(|f| (*f, Arc::clone(&self.run.files[*f].context.conventions)));
        let mut stitcher = self.stitcher.into_inner().unwrap_or_else(|e| e.into_inner());
        stitcher.settle();
        let counts = self.counts.into_inner().unwrap_or_default();
        let keys = self.keys.into_inner().unwrap_or_default();
        let part = ScanPart::new(quality, counts, keys, stitcher, self.steps.seen(), conventions);
        part.require_sound(self.run)?;
        Ok((part, self.table))
    }
}
