//! A file read forward through a small window, so that headers and pages cost few system calls.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::reused_memory::{KEPT, ReusedMemory};
use crate::storage::ranges::Ranges;

/// Bytes read at once. A worker has a window for each column.
const WINDOW: u64 = 256 << 10;
/// A header is never longer, whatever statistics are in it.
const HEADER: u64 = 64 << 10;

thread_local! {
    /// For large pages, which are unpacked one at a time and let go.
    static LARGE: RefCell<ReusedMemory> = RefCell::default();
}

/// A part of a file, seen through a window.
pub struct Window {
    file: Arc<dyn Ranges>,
    end: u64,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    start: u64,
    bytes: ReusedMemory,
}

impl Window {
    /// The bytes of the file before `end`, seen through `memory`.
    pub fn new(file: Arc<dyn Ranges>, end: u64, memory: ReusedMemory) -> Self {
        let mut seen = Seen { start: 0, bytes: memory };
        seen.bytes.emptied(0);
        Self { file, end, seen: Mutex::new(seen) }
    }

    /// Leaves the memory to the next window.
    pub fn leave_memory(&self) -> ReusedMemory {
        std::mem::take(&mut *self.seen()).bytes
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The bytes from `start` on: at least `least`, or all there are.
    fn from(&self, start: u64, least: u64) -> Result<Bytes> {
        let left = self.end.checked_sub(start).ok_or_else(beyond)?;
        let mut seen = self.seen();
        let passed = start.checked_sub(seen.start).and_then(|passed| usize::try_from(passed).ok());
        let passed = passed.filter(|passed| *passed <= seen.bytes.len());
        if let Some(passed) = passed.filter(|passed| (seen.bytes.len() - passed) as u64 >= least.min(left)) {
            return Ok(seen.bytes.look().slice(passed..));
        }
        let length = usize::try_from(left.min(least.max(WINDOW))).map_err(|_| beyond())?;
        seen.start = start;
        let bytes = seen.bytes.without(passed.unwrap_or(usize::MAX));
        let more = length - bytes.len();
        self.file.append(start + bytes.len() as u64, more, bytes).inspect_err(|_| bytes.clear())?;
        Ok(seen.bytes.look())
    }

    /// Opens the window upon a page and its header. The decoder looks at the one while it asks for the other, and
    /// memory that somebody looks at cannot be filled again.
    pub fn open(&self, page: Range<u64>) -> Result<()> {
        let length = page.end.saturating_sub(page.start);
        if length <= WINDOW {
            self.from(page.start, length)?;
        }
        Ok(())
    }

    /// A page that is larger than the window, which no window keeps: a worker has as many as there are columns.
    fn large(&self, start: u64, length: usize) -> Result<Bytes> {
        let seen = self.from(start, 0)?;
        let fill = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&seen[..length.min(seen.len())]);
            self.file.append(start + bytes.len() as u64, length - bytes.len(), bytes)
        };
        if length > KEPT {
            let mut bytes = Vec::with_capacity(length);
            fill(&mut bytes)?;
            return Ok(bytes.into());
        }
        LARGE.with_borrow_mut(|memory| {
            fill(memory.emptied(length))?;
            Ok(memory.look())
        })
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for Window {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.from(start, HEADER)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if self.end.checked_sub(start).is_none_or(|left| left < length as u64) {
            return Err(beyond());
        }
        if length as u64 > WINDOW {
            return self.large(start, length);
        }
        Ok(self.from(start, length as u64)?.slice(..length))
    }
}

fn beyond() -> ParquetError {
    ParquetError::EOF("a column that ends beyond its file".into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]
        #[test]
        fn a_window_shows_what_the_file_has(
            pages in prop::collection::vec((1_u64..200, prop_oneof![0..90_000_u64, 200_000..900_000_u64]), 1..12),
            looked_at in any::<bool>(),
        ) {
            let length: u64 = pages.iter().map(|(header, page)| header + page).sum();
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let window = Window::new(Arc::new(file), length, ReusedMemory::default());
            let (mut at, mut looks) = (0, Vec::new());
            for (header, page) in pages {
                let (start, end) = (at + header, at + header + page);
                window.open(at..end).unwrap();
                let read = window.get_read(at).unwrap();
                prop_assert!(read.get_ref().len() as u64 >= HEADER.min(length - at));
                let expected = &bytes[at as usize..];
                prop_assert!(expected.starts_with(read.get_ref()));
                let found = window.get_bytes(start, page as usize).unwrap();
                prop_assert!(found == bytes[start as usize..end as usize]);
                looks.extend(looked_at.then_some((found, start as usize..end as usize)));
                at = end;
            }
            // Who looks at a page sees it as long as he looks.
            prop_assert!(looks.iter().all(|(found, place)| *found == bytes[place.clone()]));
            prop_assert!(window.get_bytes(length, 1).is_err() && window.get_read(length + 1).is_err());
        }
    }
}
