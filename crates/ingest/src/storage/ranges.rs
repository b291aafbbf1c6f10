//! Bytes of a file by ranges, wherever the file is kept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::file::reader::ChunkReader;

use stapo_base::error::Error;

/// A file whose bytes are had in any order.
pub trait Ranges: Send + Sync {
    /// `length` bytes from `start` on; fewer are an error.
    fn get(&self, start: u64, length: usize) -> io::Result<Bytes>;

    /// Appends them to `into`; whatever was appended where they are fewer.
    fn append(&self, start: u64, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
        into.extend_from_slice(&self.get(start, length)?);
        Ok(())
    }

    /// What went wrong with the file itself, once: a decoder in between keeps no more of an error than
    /// its words.
    fn failure(&self) -> Option<Error> {
        None
    }
}

impl Ranges for File {
    fn get(&self, start: u64, length: usize) -> io::Result<Bytes> {
        self.get_bytes(start, length).map_err(io::Error::other)
    }

    fn append(&self, start: u64, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        into.reserve(length);
        let read = file.take(length as u64).read_to_end(into)?;
        if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Keeps the typed error for whoever asks; the decoder gets words.
#[cfg(feature = "cloud")]
pub fn keep(failure: &std::sync::Mutex<Option<Error>>, error: Error) -> io::Error {
    let words = io::Error::other(error.to_string());
    if let Ok(mut kept) = failure.lock() {
        kept.get_or_insert(error);
    }
    words
}
