//! What is complete of a file that may still be written: a run that goes on is read as far as it is.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::container::Container;
use super::discover::{LogFile, Skipped};
use super::opened::{Opened, open};
use crate::schema::user_map::UserMap;
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

/// Bytes that are looked at first for the end of the last line.
const STEP_BACK: u64 = 64 << 10;

/// Opens what is complete of a file; `Err` inside says why there is nothing.
pub fn open_complete(log: LogFile, limits: Limits, map: &UserMap) -> Result<Result<Opened, Skipped>> {
    let path = log.path().to_owned();
    let not_yet = |why: &str| {
        Ok(Err(Skipped { path: path.display().to_string(), reason: format!("not complete yet ({why})") }))
    };
    // An object of a bucket is there as a whole or not at all.
    let growing = log.container == Container::Json && !log.stored.is_far();
    let log = match growing.then(|| complete_lines(&path, limits)).transpose()? {
        Some(Lines::None(why)) => return not_yet(why),
        Some(Lines::Bytes(bytes)) => LogFile { stored: log.stored.first(bytes), ..log },
        Some(Lines::Packed) | None => log,
    };
    match open(log, limits, map) {
        Ok(opened) => Ok(Ok(opened)),
        Err(Error::Empty { .. }) => not_yet("no rows"),
        Err(Error::Corrupt { place, .. }) if place == "footer" => not_yet("no footer"),
        Err(error) => Err(error),
    }
}

/// A file up to the end of its last whole line; all of it where that cannot be told.
pub fn whole_lines(log: LogFile, limits: Limits) -> Result<LogFile> {
    if log.container != Container::Json || log.stored.is_far() {
        return Ok(log);
    }
    Ok(match complete_lines(log.path(), limits)? {
        Lines::Bytes(bytes) => LogFile { stored: log.stored.first(bytes), ..log },
        Lines::Packed | Lines::None(_) => log,
    })
}

/// What is complete of a file of lines.
enum Lines {
    /// Its first bytes.
    Bytes(u64),
    /// All of it, compressed.
    Packed,
    /// Nothing, and why.
    None(&'static str),
}

/// A line is complete with its end, or as an object that is closed: no part of one is.
fn complete_lines(path: &Path, limits: Limits) -> Result<Lines> {
    let failed = |e| Error::read(path, e);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut start = [0; 4];
    let known = file.read(&mut start).map_err(failed)?;
    let packed = start[..known].starts_with(b"\x1f\x8b") || start == *b"\x28\xb5\x2f\xfd";
    if packed {
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        return Ok(if unpacks(file, start[0] == 0x1f) {
            Lines::Packed
        } else {
            Lines::None("it does not unpack")
        });
    }
    let mut tail = Vec::new();
    let mut back = STEP_BACK;
    loop {
        let from = length.saturating_sub(back);
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        tail.clear();
        file.by_ref().take(length - from).read_to_end(&mut tail).map_err(failed)?;
        let end = tail.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let last = &tail[end.unwrap_or(0)..];
        if (end.is_some() || from == 0) && is_row(last) {
            return Ok(Lines::Bytes(length));
        }
        match end {
            Some(end) => return Ok(Lines::Bytes(from + end as u64)),
            None if from == 0 => return Ok(Lines::None("no line has an end")),
            None if back >= limits.piece() => return Ok(Lines::None("its last line is too long")),
            None => back *= 4,
        }
    }
}

/// Whether this is a whole row: what is blank is, too.
fn is_row(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || (line.ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok())
}

fn unpacks(file: File, gzip: bool) -> bool {
    let file = BufReader::new(file);
    let mut nowhere = std::io::sink();
    let unpacked = match gzip {
        true => std::io::copy(&mut MultiGzDecoder::new(file), &mut nowhere),
        false => zstd::Decoder::with_buffer(file).and_then(|mut d| std::io::copy(&mut d, &mut nowhere)),
    };
    unpacked.is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn complete(content: &[u8]) -> Option<u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        std::fs::write(&path, content).unwrap();
        match complete_lines(&path, Limits::default()).unwrap() {
            Lines::Bytes(bytes) => Some(bytes),
            Lines::Packed => Some(content.len() as u64),
            Lines::None(_) => None,
        }
    }

    #[test]
    fn a_line_counts_when_it_is_whole() {
        let rows = b"{\"a\":1}\n{\"b\":[2,3]}";
        assert_eq!(complete(rows), Some(rows.len() as u64));
        for cut in 9..rows.len() {
            assert_eq!(complete(&rows[..cut]), Some(8), "{cut}");
        }
        for cut in 1..7 {
            assert_eq!(complete(&rows[..cut]), None, "{cut}");
        }
        // Longer than what is looked at first.
        let long =
            [b"{\"a\":\"", "x".repeat(300_000).as_bytes(), b"\"}\n{\"a\":\"", "y".repeat(200_000).as_bytes()]
                .concat();
        assert_eq!(complete(&long), Some(300_009));
        let packed = zstd::encode_all(&rows[..], 1).unwrap();
        assert_eq!(complete(&packed), Some(packed.len() as u64));
        assert_eq!(complete(&packed[..packed.len() - 2]), None);
    }
}
