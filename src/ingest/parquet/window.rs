//! A file read forward through a small window, so that headers and pages cost few system calls.

use std::sync::{Arc, Mutex};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::ingest::files::ranges::Ranges;

/// Bytes read at once. A worker has a window for each column.
const WINDOW: u64 = 256 << 10;
/// A header is never longer, whatever statistics are in it.
const HEADER: u64 = 64 << 10;

/// A part of a file, seen through a window.
pub struct Window {
    file: Arc<dyn Ranges>,
    end: u64,
    seen: Mutex<(u64, Bytes)>,
}

impl Window {
    /// The bytes of the file before `end`.
    pub fn new(file: Arc<dyn Ranges>, end: u64) -> Self {
        Self { file, end, seen: Mutex::default() }
    }

    /// The bytes from `start` on: at least `least`, or all there are.
    fn from(&self, start: u64, least: u64) -> Result<Bytes> {
        let left = self.end.checked_sub(start).ok_or_else(beyond)?;
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        let inside = start.checked_sub(seen.0).and_then(|skip| usize::try_from(skip).ok());
        if let Some(skip) = inside.filter(|skip| *skip <= seen.1.len()) {
            let rest = seen.1.slice(skip..);
            if rest.len() as u64 >= least.min(left) {
                return Ok(rest);
            }
        }
        // With the header behind a page that is read as a whole.
        let length = left.min((least + HEADER).max(WINDOW));
        let bytes = self.file.get(start, usize::try_from(length).map_err(|_| beyond())?)?;
        *seen = (start, bytes.clone());
        Ok(bytes)
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
        let bytes = self.from(start, length as u64)?;
        if bytes.len() < length {
            return Err(beyond());
        }
        if length as u64 > WINDOW {
            // A large page is its reader's alone, who unpacks it and lets it go: of it and the header behind it, the
            // header is kept. A worker has as many windows as there are columns.
            let behind = (start + length as u64, Bytes::copy_from_slice(&bytes[length..]));
            *self.seen.lock().unwrap_or_else(|e| e.into_inner()) = behind;
        }
        Ok(bytes.slice(..length))
    }
}

fn beyond() -> ParquetError {
    ParquetError::EOF("a column that ends beyond its file".into())
}
