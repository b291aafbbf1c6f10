//! What takes the batches of a scan.

use crate::batch::TokenBatch;
use crate::held_out::HeldOut;
use stapo_base::error::Result;

/// Takes batches; each worker has one of its own.
pub trait Sink: Send {
    /// Takes the next batch. Batches of a unit follow each other; units come in no particular order.
    fn accept(&mut self, batch: &TokenBatch) -> Result<()>;

    /// Takes a response that lay across the border of units, or a batch that another worker parted with: they may come at
    /// any time.
    fn accept_joined(&mut self, batch: &TokenBatch) -> Result<()> {
        self.accept(batch)
    }

    /// Takes responses of evaluation (`split`), where a run is read for what it trains on: no batch holds them. Each
    /// comes once, to whichever worker, at any time and however many at once: what is kept of them has to add up in any
    /// order, as parts of a run and entries of a cache do.
    fn held_out(&mut self, _responses: &HeldOut) -> Result<()> {
        Ok(())
    }

    /// Whether a batch may go to another worker that has nothing left to read, and is accepted there as a joined
    /// response is: at any time, without the rest of its unit.
    fn may_part_with(&self, _batch: &TokenBatch) -> bool {
        false
    }
}
