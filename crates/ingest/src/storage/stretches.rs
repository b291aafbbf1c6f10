//! Some stretches of an object, each read forward, all side by side: the column chunks of a unit.
//!
//! The first blocks of all stretches are fetched together, neighbours in one request; from then on
//! every stretch is a block ahead of its reader.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use super::ranges::{Ranges, keep};
use stapo_base::error::{Error, Result};
use stapo_store::{Fetch, Object};

/// Stretches that are not further apart are fetched in one request: a request costs about as much as
/// this many bytes.
const NEIGHBOURS: u64 = 1 << 20;
/// A block is not smaller, however many stretches there are.
const LEAST_BLOCK: u64 = 64 << 10;
/// A reader may step back by a page's header.
const STEP_BACK: u64 = 64 << 10;

/// Some stretches of an object.
pub struct Stretches {
    object: Arc<Object>,
    block: u64,
    /// By their start.
    lanes: Vec<Mutex<Lane>>,
    ranges: Vec<Range<u64>>,
    failure: Mutex<Option<Error>>,
}

/// One stretch, and how far it was fetched.
struct Lane {
    /// Blocks that were asked for and may be needed still, one after another.
    blocks: VecDeque<Block>,
    /// Where the next block begins, and where the stretch ends.
    next: u64,
    end: u64,
}

struct Block {
    range: Range<u64>,
    fetch: Arc<Fetch>,
}

impl Stretches {
    /// Begins to fetch the first block of each stretch; at most about `window` bytes are ahead of the
    /// reader at any time.
    pub fn begin(object: &Arc<Object>, stretches: &[Range<u64>], window: u64) -> Result<Self> {
        let inside = |r: &Range<u64>| r.start.min(object.size())..r.end.min(object.size());
        let mut ranges: Vec<Range<u64>> = stretches.iter().map(inside).filter(|r| !r.is_empty()).collect();
        ranges.sort_by_key(|r| (r.start, r.end));
        let all: u64 = ranges.iter().map(|r| r.end - r.start).sum();
        // Two blocks of each stretch are in memory, unless all fits at once.
        let block = match all <= window {
            true => all.max(1),
            false => (window / (2 * ranges.len().max(1) as u64)).max(LEAST_BLOCK),
        };
        let firsts: Vec<Range<u64>> = ranges.iter().map(|r| r.start..r.end.min(r.start + block)).collect();
        let mut lanes = Vec::with_capacity(ranges.len());
        for together in neighbours(&firsts) {
            let of = &firsts[together.clone()];
            let end = of.iter().map(|r| r.end).max().unwrap_or_default();
            let fetch = Arc::new(object.begin(of[0].start..end)?);
            for (first, whole) in of.iter().zip(&ranges[together]) {
                let block = Block { range: first.clone(), fetch: fetch.clone() };
                lanes.push(Mutex::new(Lane { blocks: [block].into(), next: first.end, end: whole.end }));
            }
        }
        Ok(Self { object: object.clone(), block, lanes, ranges, failure: Mutex::default() })
    }

    /// Whether these are the stretches that were begun.
    pub fn are(&self, stretches: &[Range<u64>]) -> bool {
        let mut sorted = stretches.to_vec();
        sorted.sort_by_key(|r| (r.start, r.end));
        sorted == self.ranges
    }

    fn read(&self, wanted: Range<u64>) -> Result<Bytes> {
        let after = self.ranges.partition_point(|r| r.start <= wanted.start);
        let lane = after.checked_sub(1).filter(|at| wanted.end <= self.ranges[*at].end);
        let Some(lane) = lane.map(|at| &self.lanes[at]) else {
            return self.object.read(wanted);
        };
        let mut lane = lane.lock().unwrap_or_else(|e| e.into_inner());
        let kept = wanted.start.saturating_sub(STEP_BACK);
        while lane.blocks.front().is_some_and(|block| block.range.end <= kept) {
            lane.blocks.pop_front();
        }
        if lane.blocks.front().is_some_and(|block| block.range.start > wanted.start) {
            return self.object.read(wanted);
        }
        // What is needed now in one request, and the block after it.
        if lane.next < wanted.end {
            self.fetch(&mut lane, wanted.end)?;
        }
        let last = lane.blocks.back().map_or(0, |block| block.range.start);
        if wanted.end > last {
            let ahead = lane.next.saturating_add(self.block);
            self.fetch(&mut lane, ahead)?;
        }
        collect(&lane.blocks, wanted)
    }

    /// Asks for the bytes of a lane up to `end`.
    fn fetch(&self, lane: &mut Lane, end: u64) -> Result<()> {
        let range = lane.next..end.min(lane.end);
        if range.is_empty() {
            return Ok(());
        }
        lane.next = range.end;
        let fetch = Arc::new(self.object.begin(range.clone())?);
        lane.blocks.push_back(Block { range, fetch });
        Ok(())
    }
}

/// Joins the parts that several blocks have.
fn collect(blocks: &VecDeque<Block>, wanted: Range<u64>) -> Result<Bytes> {
    let failed_before = || Error::Internal { message: "a block that failed before".into() };
    let mut joined = BytesMut::new();
    for block in blocks.iter().filter(|b| b.range.start < wanted.end && wanted.start < b.range.end) {
        let part = block.range.start.max(wanted.start)..block.range.end.min(wanted.end);
        let whole = part == wanted;
        let bytes = block.fetch.part(part)?.ok_or_else(failed_before)?;
        if whole {
            return Ok(bytes);
        }
        joined.extend_from_slice(&bytes);
    }
    Ok(joined.freeze())
}

/// Cuts sorted ranges where the next one is far.
fn neighbours(ranges: &[Range<u64>]) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for (at, range) in ranges.iter().enumerate() {
        let near = |open: &Range<usize>| {
            let end = ranges[open.clone()].iter().map(|r| r.end).max().unwrap_or_default();
            range.start <= end.saturating_add(NEIGHBOURS)
        };
        match cuts.last_mut().filter(|open| near(open)) {
            Some(open) => open.end = at + 1,
            None => cuts.push(at..at + 1),
        }
    }
    cuts
}

impl Ranges for Stretches {
    fn get(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let beyond = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let end =
            start.checked_add(length as u64).filter(|end| *end <= self.object.size()).ok_or_else(beyond)?;
        self.read(start..end).map_err(|e| keep(&self.failure, e))
    }

    fn failure(&self) -> Option<Error> {
        self.failure.lock().ok()?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_request() {
        let mib = 1 << 20;
        let ranges = [0..10, 10..20, 20 + mib..30 + mib, 40 + 3 * mib..50 + 3 * mib];
        assert_eq!(neighbours(&ranges), [0..3, 3..4]);
        assert!(neighbours(&[]).is_empty());
    }
}
