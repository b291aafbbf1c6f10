//! What was gathered of some units of a run.

use std::ops::Range;
use std::sync::Arc;

use crate::collect::{Collected, Collector, Gates, State};
use crate::part::Part;
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_base::guard::internal;
use stapo_batch::progress::Progress;
use stapo_ingest::{
    Passed, Quality, Renumber, RowIndex, Run, ScanPart, UnitTable, Wanted, accept_whole, scan, scan_units,
};
use stapo_store::parts::{PartReader, PartWriter};

/// What was gathered of some units of a run: the collectors' state, and the scan's.
pub struct Gathered {
    state: State,
    scan: ScanPart,
}

impl Gathered {
    /// Reads some units of a run.
    pub fn scan(run: &Run, plan: &Plan, units: &[Range<usize>], progress: &dyn Progress) -> Result<Self> {
        Self::scan_through(&Gates::new(plan), run, plan, units, progress)
    }

    /// Reads units of a run of which others are `known`: what these show to be too much is not kept. What
    /// is read is good beside them, and not alone.
    pub fn scan_beside(
        known: &Self,
        run: &Run,
        plan: &Plan,
        units: &[Range<usize>],
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::scan_through(&known.state.gates_beside(plan), run, plan, units, progress)
    }

    /// Reads a whole run. What joining completes goes to one of the workers: alone it would be a state of its own that
    /// has to be merged.
    pub fn scan_whole(
        run: &Run,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<(Collected, Quality, RowIndex)> {
        let gates = Gates::new(plan);
        let workers = run.settings.worker_count();
        let scanned = scan(run, wanted(plan), progress, || Collector::new(plan, &gates, workers));
        let scanned = scanned.map_err(|error| error.in_file(&run.file_name(0)))?;
        let collected = State::gather(scanned.sinks, &gates, plan).finish(plan);
        Ok((collected, scanned.quality, scanned.rows))
    }

    fn scan_through(
        gates: &Gates,
        run: &Run,
        plan: &Plan,
        units: &[Range<usize>],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let workers = run.settings.worker_count();
        let scanned = scan_units(run, wanted(plan), progress, units, || Collector::new(plan, gates, workers));
        let scanned = scanned.map_err(|error| error.in_file(&run.file_name(0)))?;
        Ok(Self { state: State::gather(scanned.sinks, gates, plan), scan: scanned.part })
    }

    /// Whether it is of these units, given in order, and of no others.
    pub fn is_of(&self, units: impl Iterator<Item = usize>) -> bool {
        self.scan.covers(units)
    }

    /// Puts what may come in any order into one: before it is written.
    pub fn settle(&mut self) {
        self.state.settle();
    }

    /// Writes it; it has to be settled.
    pub fn write(&self, out: &mut PartWriter) -> Result<()> {
        self.scan.write(out)?;
        self.state.write("", out)
    }

    /// Reads what was written for this plan; files and units get the numbers that `numbers` gives
    /// them.
    pub fn read(input: &mut PartReader, plan: &Plan, numbers: Option<Renumber>) -> Result<Self> {
        let mut scan = ScanPart::read(input)?;
        input.memory = plan.limits.candidate_bytes;
        let moves = numbers.as_ref().is_some_and(|numbers| !numbers.is_identity());
        if let Some(numbers) = numbers {
            scan.renumber(&numbers);
            input.unit = Arc::new(move |unit| numbers.unit(unit));
        }
        let state = State::read("", input)?;
        if !state.fits(plan) || (moves && state.is_placed()) {
            return Err(input.damaged("contents"));
        }
        Ok(Self { state, scan })
    }

    /// Adds what was gathered of other units of the same run.
    pub fn join(&mut self, other: Self, run: &Run, units: &UnitTable, plan: &Plan) -> Result<()> {
        let Self { state, scan } = other;
        self.state.merge(state)?;
        let mine = &mut self.scan;
        let joined = collect_joined(plan, |emit| mine.join(scan, run, units, emit))?;
        joined.1.map_or(Ok(()), |state| self.state.merge(state))
    }

    /// What was collected, once all units are in.
    pub fn finish(self, run: &Run, units: &UnitTable, plan: &Plan) -> Result<(Collected, Quality, RowIndex)> {
        let Self { mut state, scan } = self;
        let ((quality, rows), joined) = collect_joined(plan, |emit| scan.close(run, units, emit))?;
        joined.map_or(Ok(()), |joined| state.merge(joined))?;
        Ok((state.finish(plan), quality, rows))
    }
}

/// Sums by group need each group's prompt once.
fn wanted(plan: &Plan) -> Wanted<'_> {
    Wanted { columns: &plan.columns, others: &plan.others, prompts_by_group: true }
}

/// Collects the responses that joining completes.
fn collect_joined<T>(
    plan: &Plan,
    join: impl FnOnce(&mut dyn FnMut(Passed) -> Result<()>) -> Result<T>,
) -> Result<(T, Option<State>)> {
    let gates = Gates::new(plan);
    let mut collector: Option<Collector<'_>> = None;
    let done = internal(|| {
        join(&mut |passed| {
            accept_whole(collector.get_or_insert_with(|| Collector::new(plan, &gates, 1)), passed)
        })
    })?;
    Ok((done, collector.map(|collector| State::gather(vec![collector], &gates, plan))))
}
