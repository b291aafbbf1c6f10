//! Sorted runs of candidates and their merge.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};

use super::{Candidate, encoding};
use crate::error::{Error, Result};

fn spill_error(source: io::Error) -> Error {
    Error::Read { path: std::env::temp_dir(), source }
}

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
        let mut file = BufWriter::new(tempfile::tempfile()?);
        for candidate in self.memory.drain(..) {
            encoding::write(&candidate, &mut file)?;
        }
        file.flush()?;
        self.runs.push(file.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.bytes = 0;
        Ok(())
    }
}

/// All candidates of a run, in order.
#[derive(Debug, Default)]
pub struct CandidateStore {
    memory: Vec<Candidate>,
    runs: Vec<File>,
}

impl CandidateStore {
    /// Merges the buffers of all workers.
    pub fn merge(buffers: impl IntoIterator<Item = CandidateBuffer>) -> Self {
        let (mut memory, mut runs) = (Vec::new(), Vec::new());
        for buffer in buffers {
            memory.extend(buffer.memory);
            runs.extend(buffer.runs);
        }
        memory.sort_by(Candidate::order);
        Self { memory, runs }
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
        let plain = CandidateStore::merge([plain]);
        let spilled = CandidateStore::merge([spilling]);
        assert_eq!(collect(&plain).len(), 200);
        assert_eq!(collect(&plain), collect(&spilled));
        assert_eq!(collect(&spilled), collect(&spilled));
    }
}
