//! Reading parts, whatever is in them.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::blocks::{Blocks, Origin, buffered, pass_unchecked, take};
use super::container::{END, MAGIC};
use super::hash::Fingerprint;
use super::header::{FORMAT, PartHeader};
use super::place;
use crate::is_url;
use stapo_base::error::{Error, PartFault, Result};

/// Bytes of a header at most.
const LARGEST_HEADER: usize = 64 << 20;
/// Bytes that one section of small state may unpack to.
const LARGEST_STATE: u64 = 4 << 30;
/// Bytes that may stay in memory where nothing else is said.
const MEMORY: usize = 64 << 20;
/// Compressed bytes that are held for several readers at most.
const BESIDE: u64 = 16 << 20;

/// Reads a part, section after section.
pub struct PartReader {
    path: PathBuf,
    file: Origin,
    /// The header.
    pub header: PartHeader,
    /// Bytes of state that is read item by item that may stay in memory.
    pub memory: usize,
    /// The number that a scan unit of the part has in the present run.
    pub unit: Arc<dyn Fn(u32) -> u32 + Send + Sync>,
    /// Room for a section, used again.
    room: Vec<u8>,
}

impl PartReader {
    /// Opens a part and reads its header.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes: Box<dyn Read + Send> = match is_url(path) {
            true => Box::new(Cursor::new(place::read(path)?)),
            false => Box::new(File::open(path).map_err(|e| Error::read(path, e))?),
        };
        let mut file = buffered(bytes);
        let fault = |fault| Error::Part { path: path.to_owned(), fault };
        let mut magic = [0; 8];
        let known = file.read_exact(&mut magic).is_ok() && &magic == MAGIC;
        if !known {
            return Err(fault(PartFault::NotAPart));
        }
        let cut = |e: io::Error| read_error(path, e);
        let format = u32::from_le_bytes(take(&mut file).map_err(cut)?);
        if format != FORMAT {
            return Err(fault(PartFault::OtherFormat { found: format, expected: FORMAT }));
        }
        let length = u32::from_le_bytes(take(&mut file).map_err(cut)?) as usize;
        if length > LARGEST_HEADER {
            return Err(fault(PartFault::Damaged { place: "header".into() }));
        }
        let mut json = Vec::new();
        (&mut file).take(length as u64).read_to_end(&mut json).map_err(cut)?;
        if json.len() < length {
            return Err(fault(PartFault::Truncated));
        }
        let sum = u64::from_le_bytes(take(&mut file).map_err(cut)?);
        let header = serde_json::from_slice(&json).ok();
        match header.filter(|_| sum == Fingerprint::of(&json).short()) {
            Some(header) => {
                let path = path.to_owned();
                Ok(Self { path, file, header, memory: MEMORY, unit: Arc::new(|unit| unit), room: Vec::new() })
            }
            None => Err(fault(PartFault::Damaged { place: "header".into() })),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of this part.
    #[must_use]
    pub fn damaged(&self, place: &str) -> Error {
        Error::Part { path: self.path.clone(), fault: PartFault::Damaged { place: place.to_owned() } }
    }

    /// A reader for each of these numbers of sections that follow, so that they can be unpacked side by side; this
    /// one is then behind them. None where the rest of the part is too much to be held.
    pub fn beside<const N: usize>(&mut self, sections: [usize; N]) -> Result<Option<[Self; N]>> {
        self.beside_within(sections, BESIDE)
    }

    fn beside_within<const N: usize>(
        &mut self,
        sections: [usize; N],
        bytes: u64,
    ) -> Result<Option<[Self; N]>> {
        let mut rest = Vec::new();
        let read = (&mut self.file).take(bytes + 1).read_to_end(&mut rest);
        read.map_err(|e| read_error(&self.path, e))?;
        if rest.len() as u64 > bytes {
            let after = std::mem::replace(&mut self.file, buffered(Box::new(io::empty())));
            self.file = buffered(Box::new(Cursor::new(rest).chain(after)));
            return Ok(None);
        }
        let mut left = rest.as_slice();
        let cut = sections.map(|sections| {
            let held = left;
            (0..sections).try_for_each(|_| pass_unchecked(&mut left))?;
            io::Result::Ok(held[..held.len() - left.len()].to_vec())
        });
        self.file = buffered(Box::new(Cursor::new(left.to_vec())));
        let mut readers = Vec::with_capacity(N);
        for held in cut {
            let held = held.map_err(|e| read_error(&self.path, e))?;
            readers.push(Self {
                path: self.path.clone(),
                file: buffered(Box::new(Cursor::new(held))),
                header: self.header.clone(),
                memory: self.memory,
                unit: self.unit.clone(),
                room: Vec::new(),
            });
        }
        Ok(readers.try_into().ok())
    }

    /// Reads over the next section and checks its blocks; gives its name, `None` at the end.
    fn pass_over(&mut self) -> Result<Option<String>> {
        let Some(name) = self.next_name()? else { return Ok(None) };
        let mut source = Blocks::of(&mut self.file);
        let read = io::copy(&mut source, &mut io::sink());
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => read_error(&self.path, e),
            _ => self.damaged(&name),
        })?;
        Ok(Some(name))
    }

    /// Reads the next section, which has to be of this name.
    pub fn section<T>(&mut self, name: &str, read: impl FnOnce(&mut dyn Read) -> io::Result<T>) -> Result<T> {
        if self.next_name()?.as_deref() != Some(name) {
            return Err(self.damaged(name));
        }
        let path = self.path.clone();
        let damaged = |e: io::Error| match e.kind() {
            io::ErrorKind::UnexpectedEof => read_error(&path, e),
            _ => Error::Part { path: path.clone(), fault: PartFault::Damaged { place: name.to_owned() } },
        };
        let mut source = Blocks::of(&mut self.file);
        let value = {
            let decoder = zstd::Decoder::new(&mut source).map_err(damaged)?;
            let mut decoder = BufReader::with_capacity(1 << 16, decoder);
            let value = read(&mut decoder).map_err(damaged)?;
            // What was not asked for is checked, too.
            io::copy(&mut decoder, &mut io::sink()).map_err(damaged)?;
            value
        };
        io::copy(&mut source, &mut io::sink()).map_err(damaged)?;
        Ok(value)
    }

    /// Reads a section of small state.
    pub fn state<T: DeserializeOwned>(&mut self, name: &str) -> Result<T> {
        let mut bytes = std::mem::take(&mut self.room);
        bytes.clear();
        self.section(name, |from| from.take(LARGEST_STATE).read_to_end(&mut bytes))?;
        let value = match postcard::take_from_bytes(&bytes) {
            Ok((value, [])) => Ok(value),
            _ => Err(self.damaged(name)),
        };
        self.room = bytes;
        value
    }

    /// Fails where the part does not end here.
    pub fn end(&mut self) -> Result<()> {
        if self.next_name()?.is_some() {
            return Err(self.damaged("end"));
        }
        let mut end = [0; 8];
        self.file.read_exact(&mut end).map_err(|e| read_error(&self.path, e))?;
        let more = self.file.read(&mut [0]).map_err(|e| Error::read(&self.path, e))?;
        if &end == END && more == 0 { Ok(()) } else { Err(self.damaged("end")) }
    }

    /// Reads to the end and checks every block: whether a part is whole.
    pub fn verify(mut self) -> Result<()> {
        while self.pass_over()?.is_some() {}
        let mut end = [0; 8];
        self.file.read_exact(&mut end).map_err(|e| read_error(&self.path, e))?;
        if &end == END { Ok(()) } else { Err(self.damaged("end")) }
    }

    fn next_name(&mut self) -> Result<Option<String>> {
        let cut = |e: io::Error| read_error(&self.path, e);
        let [length] = take(&mut self.file).map_err(cut)?;
        if length == 0 {
            return Ok(None);
        }
        let mut name = vec![0; usize::from(length)];
        self.file.read_exact(&mut name).map_err(cut)?;
        String::from_utf8(name).map(Some).map_err(|_| self.damaged("name of a section"))
    }
}

fn read_error(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Part { path: path.to_owned(), fault: PartFault::Truncated },
        _ => Error::read(path, error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::parts::{PartWriter, Producer};

    /// Whether the rest of a part is held or not, every section is read once and in order.
    #[test]
    fn several_readers_read_what_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.part");
        let nobody = || Producer { program: "p".into(), target: "t".into(), kernel: "k".into() };
        let header = PartHeader {
            kind: "state".into(),
            producer: nobody(),
            plan: "plan".into(),
            units: Vec::new(),
            files: Vec::new(),
            beside: Default::default(),
            document: None,
        };
        let mut out = PartWriter::create(&path, &header).unwrap();
        let numbers: Vec<u64> = (0..9_000).map(|i| i * i).collect();
        out.state("first", &7_u32).unwrap();
        out.state("numbers", &numbers).unwrap();
        out.state("last", &9_u32).unwrap();
        out.commit().unwrap();
        for room in [0, 100, BESIDE] {
            let mut reader = PartReader::open(&path).unwrap();
            match reader.beside_within([1, 2], room).unwrap() {
                Some([mut first, mut others]) => {
                    assert_eq!(room, BESIDE);
                    assert_eq!(others.state::<Vec<u64>>("numbers").unwrap(), numbers);
                    assert_eq!(others.state::<u32>("last").unwrap(), 9);
                    assert!(others.state::<u32>("more").is_err());
                    assert!(first.state::<u32>("another").is_err(), "another section comes next");
                }
                None => {
                    assert_ne!(room, BESIDE);
                    assert_eq!(reader.state::<u32>("first").unwrap(), 7);
                    assert_eq!(reader.state::<Vec<u64>>("numbers").unwrap(), numbers);
                    assert_eq!(reader.state::<u32>("last").unwrap(), 9);
                }
            }
            reader.end().unwrap();
        }
        // There are three sections.
        assert!(PartReader::open(&path).unwrap().beside([2, 2]).is_err());
        // What is held is checked when it is read.
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let [mut first, mut others] = PartReader::open(&path).unwrap().beside([1, 2]).unwrap().unwrap();
        assert_eq!(first.state::<u32>("first").unwrap(), 7);
        assert!(others.state::<Vec<u64>>("numbers").is_err());
    }
}
