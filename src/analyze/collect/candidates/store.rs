//! Sorted runs of candidates and their merge.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::{Candidate, encoding};
use crate::error::{Error, Result};

fn spill_error(source: io::Error) -> Error {
    Error::Read { path: std::env::temp_dir(), source }
}

/// Sorted files that are merged at once; more are put together first.
const MOST_RUNS: usize = 64;

/// The candidates of one worker.
#[derive(Debug)]
pub struct CandidateBuffer {
    memory: Vec<Candidate>,
    bytes: usize,
    limit: usize,
    runs: Vec<File>,
}

impl CandidateBuffer {
    /// A buffer that goes to a file beyond `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { memory: Vec::new(), bytes: 0, limit, runs: Vec::new() }
    }

    /// Adds a candidate.
    pub fn push(&mut self, candidate: Candidate) -> Result<()> {
        self.bytes += candidate.bytes();
        self.memory.push(candidate);
        if self.bytes > self.limit { self.spill().map_err(spill_error) } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.memory.sort_by(Candidate::order);
        self.runs.push(write_run(self.memory.drain(..).map(Ok))?);
        self.bytes = 0;
        Ok(())
    }
}

/// Writes sorted candidates to a temporary file.
fn write_run(candidates: impl Iterator<Item = io::Result<Candidate>>) -> io::Result<File> {
    let mut file = BufWriter::new(tempfile::tempfile()?);
    for candidate in candidates {
        encoding::write(&candidate?, &mut file)?;
    }
    file.flush()?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// All candidates of a run, or of a part of it, in order.
#[derive(Debug, Default)]
pub struct CandidateStore {
    memory: Vec<Candidate>,
    bytes: usize,
    limit: usize,
    runs: Vec<File>,
}

impl CandidateStore {
    /// Gathers the buffers of all workers; keeps `limit` bytes in memory.
    pub fn gather(buffers: impl IntoIterator<Item = CandidateBuffer>, limit: usize) -> Self {
        let mut all = Self { limit, ..Self::default() };
        for buffer in buffers {
            all.memory.extend(buffer.memory);
            all.bytes += buffer.bytes;
            all.runs.extend(buffer.runs);
        }
        all.memory.sort_by(Candidate::order);
        all
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        self.runs.extend(other.runs);
        self.memory.extend(other.memory);
        self.bytes += other.bytes;
        self.memory.sort_by(Candidate::order);
        if self.bytes > self.limit {
            let run = write_run(std::mem::take(&mut self.memory).into_iter().map(Ok)).map_err(spill_error)?;
            self.runs.push(run);
            self.bytes = 0;
        }
        if self.runs.len() > MOST_RUNS {
            let mut file = BufWriter::new(tempfile::tempfile().map_err(spill_error)?);
            self.for_each(|candidate| encoding::write(candidate, &mut file).map_err(spill_error))?;
            let run = file.into_inner().map_err(|e| spill_error(e.into_error()))?;
            *self = Self { runs: vec![run], limit: self.limit, ..Self::default() };
        }
        Ok(())
    }

    /// Writes all candidates, in order.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.for_each(|candidate| encoding::write(candidate, &mut *out).map_err(spill_error))
            .map_err(io::Error::other)
    }

    /// Reads what was written; units get the numbers that `unit` gives them.
    pub fn read(input: &mut dyn Read, limit: usize, unit: impl Fn(u32) -> u32) -> io::Result<Self> {
        let mut next = || {
            let candidate = encoding::read(&mut *input)?;
            Ok::<_, io::Error>(candidate.map(|mut c| {
                c.place.0 = unit(c.place.0);
                c
            }))
        };
        let mut read = Self { limit, ..Self::default() };
        while let Some(candidate) = next()? {
            if read.memory.last().is_some_and(|last| last.order(&candidate).is_gt()) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            read.bytes += candidate.bytes();
            read.memory.push(candidate);
            if read.bytes > limit {
                let memory = std::mem::take(&mut read.memory).into_iter().map(Ok);
                let rest = std::iter::from_fn(|| next().transpose());
                read.runs.push(write_run(memory.chain(rest))?);
                read.bytes = 0;
                break;
            }
        }
        Ok(read)
    }

    /// Calls `visit` with every candidate, in order.
    pub fn for_each(&self, mut visit: impl FnMut(&Candidate) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            return self.memory.iter().try_for_each(visit);
        }
        let mut sources: Vec<Source<'_>> = vec![Source::Memory(self.memory.iter())];
        for run in &self.runs {
            let mut file: &File = run;
            file.seek(SeekFrom::Start(0)).map_err(spill_error)?;
            sources.push(Source::File(BufReader::with_capacity(1 << 16, file)));
        }
        let mut heads = BinaryHeap::new();
        for (source, candidates) in sources.iter_mut().enumerate() {
            heads.extend(candidates.next()?.map(|candidate| Head { candidate, source }));
        }
        while let Some(Head { candidate, source }) = heads.pop() {
            visit(&candidate)?;
            heads.extend(sources[source].next()?.map(|candidate| Head { candidate, source }));
        }
        Ok(())
    }
}

enum Source<'a> {
    Memory(std::slice::Iter<'a, Candidate>),
    File(BufReader<&'a File>),
}

impl Source<'_> {
    fn next(&mut self) -> Result<Option<Candidate>> {
        match self {
            Self::Memory(rest) => Ok(rest.next().cloned()),
            Self::File(file) => encoding::read(file).map_err(spill_error),
        }
    }
}

/// The next candidate of a source; the smallest is the greatest of the heap.
struct Head {
    candidate: Candidate,
    source: usize,
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.candidate.order(&self.candidate)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::encoding::tests::candidate;
    use super::*;

    #[test]
    fn files_and_memory_merge_in_order() {
        let mut plain = CandidateBuffer::new(usize::MAX);
        let mut spilling = CandidateBuffer::new(1_500);
        for i in 0..200_i64 {
            let one = candidate((i * 37) % 11, i as i32);
            plain.push(one.clone()).unwrap();
            spilling.push(one).unwrap();
        }
        assert!(spilling.runs.len() > 10);
        let collect = |store: &CandidateStore| {
            let mut all = Vec::new();
            store
                .for_each(|c| {
                    all.push(c.clone());
                    Ok(())
                })
                .unwrap();
            all
        };
        let plain = CandidateStore::gather([plain], usize::MAX);
        let spilled = CandidateStore::gather([spilling], 1_500);
        assert_eq!(collect(&plain).len(), 200);
        assert_eq!(collect(&plain), collect(&spilled));
        assert_eq!(collect(&spilled), collect(&spilled));
        // Written, read and merged many times over, with little memory and with much.
        let mut bytes = Vec::new();
        plain.write(&mut bytes).unwrap();
        for limit in [1_500, usize::MAX] {
            let read = || CandidateStore::read(&mut &bytes[..], limit, |unit| unit).unwrap();
            assert_eq!(collect(&plain), collect(&read()));
            let mut many = read();
            (1..100).for_each(|_| many.merge(read()).unwrap());
            assert!(many.runs.len() <= MOST_RUNS);
            let all = collect(&many);
            assert!(all.is_sorted_by(|a, b| a.order(b).is_le()) && all.len() == 100 * 200);
        }
        for cut in [bytes.len() - 1, bytes.len() / 2 + 3, 9] {
            assert!(CandidateStore::read(&mut &bytes[..cut], 1_500, |unit| unit).is_err());
        }
    }
}
