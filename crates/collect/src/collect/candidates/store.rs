//! Sorted runs of candidates and their merge.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::Candidate;
use super::encoding::{RecordReader, RecordWriter};
use stapo_base::error::{Error, Result};

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
    runs: Vec<SortedRun>,
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
        self.runs.push(SortedRun::of(&self.memory)?);
        self.memory.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// Sorted candidates in a temporary file.
#[derive(Debug)]
struct SortedRun {
    file: File,
    candidates: usize,
}

impl SortedRun {
    fn of(candidates: &[Candidate]) -> io::Result<Self> {
        let mut run = SortedRunWriter::new()?;
        candidates.iter().try_for_each(|candidate| run.push(candidate))?;
        run.end()
    }

    fn reader(&self) -> io::Result<RecordReader<BufReader<&File>>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(RecordReader::new(BufReader::with_capacity(1 << 18, file)))
    }
}

/// A sorted run in the making.
struct SortedRunWriter {
    out: RecordWriter<BufWriter<File>>,
    candidates: usize,
}

impl SortedRunWriter {
    fn new() -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
        Ok(Self { out: RecordWriter::new(file), candidates: 0 })
    }

    fn push(&mut self, candidate: &Candidate) -> io::Result<()> {
        self.candidates += 1;
        self.out.write(candidate)
    }

    fn end(self) -> io::Result<SortedRun> {
        let file = self.out.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(SortedRun { file, candidates: self.candidates })
    }
}

/// All candidates of a run, or of a part of it, in order.
#[derive(Debug, Default)]
pub struct CandidateStore {
    memory: Vec<Candidate>,
    bytes: usize,
    limit: usize,
    runs: Vec<SortedRun>,
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
            self.runs.push(SortedRun::of(&self.memory).map_err(spill_error)?);
            self.memory = Vec::new();
            self.bytes = 0;
        }
        if self.runs.len() > MOST_RUNS { self.join_small_runs() } else { Ok(()) }
    }

    /// Makes one run of the smaller half: each candidate is then copied a few times at most, however many
    /// parts come.
    fn join_small_runs(&mut self) -> Result<()> {
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.candidates));
        let small = Self { runs: self.runs.split_off(MOST_RUNS / 2), ..Self::default() };
        let mut joined = SortedRunWriter::new().map_err(spill_error)?;
        small.for_each(|candidate| joined.push(candidate).map_err(spill_error))?;
        self.runs.push(joined.end().map_err(spill_error)?);
        Ok(())
    }

    /// Writes all candidates, in order.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = RecordWriter::new(out);
        self.for_each(|candidate| out.write(candidate).map_err(spill_error)).map_err(io::Error::other)
    }

    /// Reads what was written; units get the numbers that `unit` gives them.
    pub fn read(input: &mut dyn Read, limit: usize, unit: impl Fn(u32) -> u32) -> io::Result<Self> {
        let mut input = RecordReader::new(input);
        let mut read = Self { limit, ..Self::default() };
        let mut candidate = Candidate::default();
        let in_order = |last: &Candidate, candidate: &mut Candidate| {
            candidate.place.0 = unit(candidate.place.0);
            match last.order(candidate).is_gt() {
                true => Err(io::Error::from(io::ErrorKind::InvalidData)),
                false => Ok(()),
            }
        };
        while read.bytes <= limit {
            if !input.read_into(&mut candidate)? {
                return Ok(read);
            }
            match read.memory.last() {
                Some(last) => in_order(last, &mut candidate)?,
                None => candidate.place.0 = unit(candidate.place.0),
            }
            read.bytes += candidate.bytes();
            read.memory.push(candidate.clone());
        }
        let mut run = SortedRunWriter::new()?;
        read.memory.iter().try_for_each(|candidate| run.push(candidate))?;
        (read.memory, read.bytes) = (Vec::new(), 0);
        let mut last = candidate.clone();
        while input.read_into(&mut candidate)? {
            in_order(&last, &mut candidate)?;
            run.push(&candidate)?;
            std::mem::swap(&mut last, &mut candidate);
        }
        read.runs.push(run.end()?);
        Ok(read)
    }

    /// Calls `visit` with every candidate, in order.
    pub fn for_each(&self, mut visit: impl FnMut(&Candidate) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            return self.memory.iter().try_for_each(visit);
        }
        let mut sources = BinaryHeap::new();
        if !self.memory.is_empty() {
            sources.push(Source::Memory(&self.memory));
        }
        for run in &self.runs {
            let mut file = run.reader().map_err(spill_error)?;
            let mut candidate = Box::<Candidate>::default();
            if file.read_into(&mut candidate).map_err(spill_error)? {
                sources.push(Source::File { file: Box::new(file), candidate });
            }
        }
        while let Some(mut source) = sources.peek_mut() {
            visit(source.candidate())?;
            if !source.advance().map_err(spill_error)? {
                PeekMut::pop(source);
            }
        }
        Ok(())
    }
}

/// What is left of a sorted run, which is not empty; the one whose first candidate is the smallest is the
/// greatest of the heap.
enum Source<'a> {
    Memory(&'a [Candidate]),
    File { file: Box<RecordReader<BufReader<&'a File>>>, candidate: Box<Candidate> },
}

impl Source<'_> {
    fn candidate(&self) -> &Candidate {
        match self {
            Self::Memory(rest) => &rest[0],
            Self::File { candidate, .. } => candidate,
        }
    }

    /// Goes to the next candidate; says whether there is one.
    fn advance(&mut self) -> io::Result<bool> {
        match self {
            Self::Memory(rest) => {
                *rest = &rest[1..];
                Ok(!rest.is_empty())
            }
            Self::File { file, candidate } => file.read_into(candidate),
        }
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Source<'_> {}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.candidate().order(self.candidate())
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
            assert_eq!(
                many.runs.iter().map(|run| run.candidates).sum::<usize>() + many.memory.len(),
                100 * 200
            );
            let all = collect(&many);
            assert!(all.is_sorted_by(|a, b| a.order(b).is_le()) && all.len() == 100 * 200);
        }
        for cut in [bytes.len() - 1, bytes.len() / 2 + 3, 9] {
            assert!(CandidateStore::read(&mut &bytes[..cut], 1_500, |unit| unit).is_err());
        }
    }
}
