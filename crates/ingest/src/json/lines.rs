//! The lines of a plain, gzip or zstd file, one at a time and never longer than a limit.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::memory_turns::wait_for_memory;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

/// Blank lines in a row that a log may have.
const MAX_BLANK: u64 = 1 << 20;
/// A line buffer above this is given back after use.
const KEEP_BUFFER: usize = 16 << 20;
const READ_BUFFER: usize = 256 << 10;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Counts the bytes taken from the file, before decompression.
struct Counted {
    file: Box<dyn Read + Send>,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Lines of a file that are not blank.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    bytes: Arc<AtomicU64>,
    line: u64,
    buffer: Vec<u8>,
    limit: usize,
}

impl Lines {
    /// Opens `path`; what it is compressed with is told by its first bytes.
    pub(super) fn open(stored: &Stored, limits: Limits) -> Result<Self> {
        let limit = usize::try_from(limits.piece()).unwrap_or(usize::MAX);
        Self::with_limit(stored, limit, limits.window())
    }

    fn with_limit(stored: &Stored, limit: usize, window: u64) -> Result<Self> {
        let path = stored.path();
        let file = stored.stream(window)?;
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, bytes: Arc::clone(&bytes) };
        let mut plain = BufReader::with_capacity(READ_BUFFER, counted);
        let start = plain.fill_buf().map_err(|e| failed(path, e))?;
        if start.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let reader: Box<dyn BufRead + Send> = if start.starts_with(b"\x1f\x8b") {
            Box::new(BufReader::with_capacity(READ_BUFFER, MultiGzDecoder::new(plain)))
        } else if start.starts_with(b"\x28\xb5\x2f\xfd") {
            let decoder = zstd::Decoder::with_buffer(plain).map_err(|e| Error::read(path, e))?;
            Box::new(BufReader::with_capacity(READ_BUFFER, decoder))
        } else {
            Box::new(plain)
        };
        Ok(Self { path: path.to_owned(), reader, bytes, line: 0, buffer: Vec::new(), limit })
    }

    /// Where the file is, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file taken so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of the line read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.line
    }

    /// An error at the line read last.
    pub(super) fn corrupt(&self, message: impl Into<String>) -> Error {
        Error::Corrupt {
            path: self.path.clone(),
            place: format!("line {}", self.line),
            message: message.into(),
        }
    }

    /// The next line that is not blank, without its end.
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>> {
        let before = self.line;
        loop {
            self.buffer.clear();
            self.buffer.shrink_to(KEEP_BUFFER);
            if !self.fill_line()? {
                return Ok(None);
            }
            self.line += 1;
            if self.line == 1 && self.buffer.starts_with(BOM) {
                self.buffer.drain(..BOM.len());
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
            if self.line - before > MAX_BLANK {
                return Err(self.corrupt("a million blank lines in a row"));
            }
        }
        Ok(Some(self.buffer.trim_ascii()))
    }

    /// All that is left after the line read last, together with that line.
    pub(super) fn rest(&mut self) -> Result<&[u8]> {
        self.buffer.push(b'\n');
        wait_for_memory();
        let room = self.limit.saturating_sub(self.buffer.len());
        let read = self.reader.by_ref().take(room as u64 + 1).read_to_end(&mut self.buffer);
        match read {
            Ok(n) if n > room => Err(self.too_long("document")),
            Ok(_) => Ok(self.buffer.trim_ascii()),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// Appends the next line to the buffer; false at the end of the file.
    fn fill_line(&mut self) -> Result<bool> {
        let mut read = self.read_up_to(Limits::SHARED_LINE.min(self.limit as u64));
        if let Ok(n) = read
            && n as u64 > Limits::SHARED_LINE
            && self.buffer.last() != Some(&b'\n')
        {
            // What follows is more than the share of a worker.
            wait_for_memory();
            read = self.read_up_to(self.limit as u64 - n as u64).map(|more| n + more);
        }
        match read {
            Ok(0) => Ok(false),
            Ok(n) if n > self.limit => {
                self.line += 1;
                Err(self.too_long("line"))
            }
            Ok(_) => Ok(true),
            Err(e) => {
                self.line += 1;
                Err(self.failed(e))
            }
        }
    }

    /// Appends what is left of the line, at most one byte more than `most`.
    fn read_up_to(&mut self, most: u64) -> io::Result<usize> {
        self.reader.by_ref().take(most + 1).read_until(b'\n', &mut self.buffer)
    }

    fn too_long(&self, what: &str) -> Error {
        Error::TooLarge {
            path: self.path.clone(),
            place: format!("line {}", self.line),
            message: format!("a {what} of more than {} MB", self.limit / 1_000_000),
        }
    }

    /// A failure of the system, or of the decompressor, which speaks without an OS code.
    fn failed(&self, error: io::Error) -> Error {
        match failed(&self.path, error) {
            Error::Read { source, .. } if source.raw_os_error().is_none() => {
                self.corrupt(format!("cannot decompress: {source}"))
            }
            error => error,
        }
    }
}

/// What an error of reading is: far files bring one of ours along.
fn failed(path: &Path, error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::read(path, error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gz(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(data: &[u8]) -> Vec<u8> {
        zstd::encode_all(data, 3).unwrap()
    }

    fn all(content: &[u8], limit: usize) -> Result<Vec<(u64, String)>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        std::fs::write(&path, content).unwrap();
        let mut lines = Lines::with_limit(&Stored::on_disk(&path), limit, 1 << 20)?;
        let mut out = Vec::new();
        while let Some(line) = lines.next_line()? {
            let line = String::from_utf8_lossy(line).into_owned();
            out.push((lines.number(), line));
        }
        assert_eq!(lines.bytes_read(), content.len() as u64);
        Ok(out)
    }

    #[test]
    fn blank_lines_ends_and_marks_are_dropped() {
        let lines = all(b"\xef\xbb\xbfa\r\n\n  \r\nb\n\nc", 100).unwrap();
        assert_eq!(lines, [(1, "a".into()), (4, "b".into()), (6, "c".into())]);
    }

    #[test]
    fn compressed_files_may_have_several_parts() {
        let expected = [(1, "a".to_owned()), (2, "b".to_owned())];
        assert_eq!(all(&[gz(b"a\n"), gz(b"b\n")].concat(), 100).unwrap(), expected);
        assert_eq!(all(&[zst(b"a\n"), zst(b"b\n")].concat(), 100).unwrap(), expected);
    }

    #[test]
    fn truncated_compression_is_corrupt() {
        let text = "some line\n".repeat(1000);
        for packed in [gz(text.as_bytes()), zst(text.as_bytes())] {
            let error = all(&packed[..packed.len() - 6], 100).unwrap_err();
            assert!(matches!(&error, Error::Corrupt { place, .. } if place.starts_with("line ")), "{error}");
        }
    }

    #[test]
    fn long_lines_and_empty_files_are_refused() {
        assert!(matches!(all(b"", 10), Err(Error::Empty { .. })));
        let error = all(b"ok\n01234567890\n", 10).unwrap_err();
        assert!(matches!(&error, Error::TooLarge { place, .. } if place == "line 2"), "{error}");
        assert_eq!(all(b"012345678\n0123456789", 10).unwrap().len(), 2);
        // A megabyte of nothing is a kilobyte of gzip.
        let error = all(&gz(&vec![b'\n'; 1 << 21]), 100).unwrap_err();
        assert!(error.to_string().contains("blank lines"), "{error}");
    }
}
