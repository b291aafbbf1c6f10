//! The parallel scan: workers decode units side by side, each feeds a sink of its own.

use std::ops::Range;

use crate::files::run::Run;
use crate::normalise::quality::Quality;
use crate::scan::decode::{Piece, complete};
use crate::scan::handover::Handover;
use crate::scan::passed::{Passed, accept_whole};
use crate::scan::scan_part::ScanPart;
use crate::scan::shared::{Scanned, Shared};
use crate::scan::stitch::{Ends, Whole};
use crate::scan::unit_table::{ALL_UNITS, UnitTable};
use crate::scan::units::Unit;
use crate::scan::wanted::Wanted;
use crate::schema::mapping::Layout;
use stapo_base::error::Result;
use stapo_base::guard::{internal, internal_error};
use stapo_batch::batch::TokenBatch;
use stapo_batch::progress::Progress;
use stapo_batch::sink::Sink;

/// What a scan of some units gives.
pub struct PartlyScanned<S> {
    /// The sinks of all workers.
    pub sinks: Vec<S>,
    /// What it leaves beside them.
    pub part: ScanPart,
    /// The units of the run.
    pub units: UnitTable,
}

/// Scans the whole run; every worker fills a sink of its own, made by `make`.
pub fn scan<'w, S: Sink>(
    run: &Run,
    wanted: impl Into<Wanted<'w>>,
    progress: &dyn Progress,
    make: impl Fn() -> S + Sync,
) -> Result<Scanned<S>> {
    let PartlyScanned { mut sinks, part, units } = scan_units(run, wanted, progress, ALL_UNITS, make)?;
    let mut give = |passed: Passed| sinks.first_mut().map_or(Ok(()), |sink| accept_whole(sink, passed));
    let (quality, rows) = internal(|| part.close(run, &units, &mut give))?;
    Ok(Scanned { sinks, quality, rows })
}

/// Scans some units of the run; responses at their borders stay open.
pub fn scan_units<'w, S: Sink>(
    run: &Run,
    wanted: impl Into<Wanted<'w>>,
    progress: &dyn Progress,
    units: &[Range<usize>],
    make: impl Fn() -> S + Sync,
) -> Result<PartlyScanned<S>> {
    let shared = Shared::new(run, wanted.into(), progress, units);
    let workers = shared.workers();
    let handover = Handover::new(workers);
    let joined: Vec<_> = std::thread::scope(|scope| {
        let worker = || {
            let decodes = handover.decodes();
            let mut sink = make();
            let mut quality = Quality::default();
            while let Some((number, unit)) = shared.take() {
                let done = internal(|| one_unit(&shared, &handover, number, unit, &mut sink, &mut quality));
                if let Err(error) = done {
                    shared.fail(number, error);
                }
            }
            drop(decodes);
            while let Some(batch) = handover.take() {
                let unit = batch.origin.unit as usize;
                let give = || shared.steps.pass(batch, &mut |passed| passed.give_joined(&mut sink));
                if let Err(error) = internal(give) {
                    shared.fail(unit, error);
                }
            }
            (sink, quality)
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        handles.into_iter().map(|handle| handle.join()).collect()
    });
    // A worker that is gone takes its tokens with it: what the others have is not a result.
    let results: Vec<(S, Quality)> = joined
        .into_iter()
        .map(|worker| worker.map_err(|payload| internal_error(payload.as_ref())))
        .collect::<Result<_>>()?;
    let mut quality = Quality::default();
    for (_, part) in &results {
        quality.merge(part);
    }
    let (part, units) = shared.finish(quality)?;
    Ok(PartlyScanned { sinks: results.into_iter().map(|(sink, _)| sink).collect(), part, units })
}

fn one_unit<S: Sink>(
    shared: &Shared<'_>,
    handover: &Handover<TokenBatch>,
    number: usize,
    unit: &Unit,
    sink: &mut S,
    quality: &mut Quality,
) -> Result<()> {
    let mut first = None;
    let mut ends = Ends::Nothing;
    shared.decode(number, unit, quality, &mut |piece| {
        match piece {
            Piece::Whole(batch) => {
                // Large ones are held one at a time.
                let may_part = !unit.large && sink.may_part_with(&batch);
                let mine = if may_part { handover.offer(batch) } else { Some(batch) };
                let mut give = |passed: Passed| passed.give(sink);
                return mine.map_or(Ok(()), |batch| shared.steps.pass(batch, &mut give));
            }
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
    // A unit of a long file that has no rows still lies between its neighbours.
    let file = &shared.run.files[unit.file];
    if matches!(ends, Ends::Nothing) && shared.run.mapping_of(file).layout == Layout::Nested {
        return Ok(());
    }
    let same_file = |a: usize, b: usize| shared.same_file(a, b);
    let require_size = |batch: &TokenBatch| shared.run.require_size(batch);
    let whole = Whole { same_file: &same_file, require_size: &require_size };
    let mut stitcher = shared.stitcher.lock().unwrap_or_else(|e| e.into_inner());
    let mut give = |passed: Passed| accept_whole(sink, passed);
    stitcher.add(number, ends, &whole, &mut |mut batch| {
        complete(shared.run, &mut batch, quality);
        shared.steps.pass(batch, &mut give)
    })
}
