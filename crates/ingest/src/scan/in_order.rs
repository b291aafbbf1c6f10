//! The ordered scan: workers decode ahead, one consumer gets the batches as the files have them.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::files::run::Run;
use crate::normalise::quality::Quality;
use crate::scan::decode::{Piece, complete};
use crate::scan::passed::Passed;
use crate::scan::shared::{Scanned, Shared};
use crate::scan::stitch::goes_on;
use crate::scan::unit_table::ALL_UNITS;
use crate::scan::units::Unit;
use stapo_base::error::Result;
use stapo_base::guard::internal;
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;

/// Batches that may wait for the consumer, a worker.
const WAITING_BATCHES: usize = 4;

/// Scans the whole run in order: one consumer gets the batches as the files have them, while
/// workers decode ahead. Responses of evaluation are no part of it, where a run is read for what it trains on.
pub fn scan_in_order(
    run: &Run,
    wanted: &[Column],
    progress: &dyn Progress,
    consume: &mut dyn FnMut(TokenBatch) -> Result<()>,
) -> Result<Scanned<()>> {
    let shared = Shared::new(run, wanted.into(), progress, ALL_UNITS);
    let (senders, receivers): (Vec<_>, Vec<_>) =
        shared.units.iter().map(|_| sync_channel::<Piece>(WAITING_BATCHES)).unzip();
    let senders: Vec<Mutex<Option<SyncSender<Piece>>>> =
        senders.into_iter().map(|s| Mutex::new(Some(s))).collect();
    let workers = shared.workers();
    let merged = Mutex::new(Quality::default());
    let (consumed, continued) = std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut quality = Quality::default();
                while let Some((number, unit)) = shared.take() {
                    let sender = senders[number].lock().ok().and_then(|mut s| s.take());
                    if let Some(sender) = sender
                        && let Err(error) = send_unit(&shared, number, unit, &sender, &mut quality)
                    {
                        shared.fail(number, error);
                    }
                }
                for sender in &senders {
                    if shared.watch.is_stopped()
                        && let Ok(mut sender) = sender.lock()
                    {
                        sender.take();
                    }
                }
                if let Ok(mut all) = merged.lock() {
                    all.merge(&quality);
                }
            });
        }
        let mut continued = Vec::new();
        let mut joined = Quality::default();
        let consumed = internal(|| receive(&shared, receivers, &mut continued, &mut joined, consume));
        if let Ok(mut all) = merged.lock() {
            all.merge(&joined);
        }
        if consumed.is_err() {
            shared.watch.stop();
        }
        (consumed, continued)
    });
    let (part, table) = shared.finish(merged.into_inner().unwrap_or_default())?;
    consumed?;
    part.require_steps(run)?;
    let (quality, rows) = part.rows(&table, &continued);
    Ok(Scanned { sinks: Vec::new(), quality, rows })
}

fn send_unit(
    shared: &Shared<'_>,
    number: usize,
    unit: &Unit,
    sender: &SyncSender<Piece>,
    quality: &mut Quality,
) -> Result<()> {
    // A consumer that is gone has an error of its own to report.
    let mut send = |piece| {
        if sender.send(piece).is_err() {
            shared.watch.stop();
        }
        Ok(())
    };
    internal(|| shared.decode(number, unit, quality, &mut send))
}

/// Takes the units one after another and joins responses across their borders.
fn receive(
    shared: &Shared<'_>,
    receivers: Vec<Receiver<Piece>>,
    continued: &mut Vec<usize>,
    quality: &mut Quality,
    consume: &mut dyn FnMut(TokenBatch) -> Result<()>,
) -> Result<()> {
    let mut give = |passed: Passed| match passed {
        Passed::Asked(batch) => consume(*batch),
        Passed::HeldOut(_) => Ok(()),
    };
    let mut consume = |batch: TokenBatch| shared.steps.pass(batch, &mut give);
    let mut pass = |mut batch: TokenBatch, consume: &mut dyn FnMut(TokenBatch) -> Result<()>| {
        complete(shared.run, &mut batch, quality);
        batch.drop_plain_positions();
        consume(batch)
    };
    // The last response so far with the unit it ends in.
    let mut open: Option<(usize, TokenBatch)> = None;
    for (number, receiver) in receivers.into_iter().enumerate() {
        for piece in receiver {
            let ends_here = matches!(piece, Piece::First(_));
            match piece {
                Piece::Whole(batch) => {
                    // Nested files have no open ends; whatever is open is complete.
                    open.take().map_or(Ok(()), |(_, batch)| pass(batch, &mut consume))?;
                    consume(batch)?;
                }
                Piece::Last(batch) => {
                    open.take().map_or(Ok(()), |(_, batch)| pass(batch, &mut consume))?;
                    open = Some((number, batch));
                }
                Piece::First(batch) | Piece::Only(batch) => {
                    let next = match open.take() {
                        Some((unit, mut before))
                            if goes_on(&before, &batch, shared.same_file(unit, number)) =>
                        {
                            before.extend_last(&batch);
                            shared.run.require_size(&before)?;
                            continued.push(number);
                            before
                        }
                        before => {
                            before.map_or(Ok(()), |(_, batch)| pass(batch, &mut consume))?;
                            batch
                        }
                    };
                    if ends_here { pass(next, &mut consume)? } else { open = Some((number, next)) }
                }
            }
        }
    }
    open.map_or(Ok(()), |(_, batch)| pass(batch, &mut consume))
}
