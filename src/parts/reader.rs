//! Reading parts, whatever is in them.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::container::{BLOCK, END, MAGIC};
use super::hash::Fingerprint;
use super::header::{FORMAT, PartHeader};
use super::place;
use crate::error::{Error, PartFault, Result};
use crate::store::is_url;

/// Bytes of a header at most.
const LARGEST_HEADER: usize = 64 << 20;
/// Bytes that one section of small state may unpack to.
const LARGEST_STATE: u64 = 4 << 30;
/// Bytes that may stay in memory where nothing else is said.
const MEMORY: usize = 64 << 20;

type Origin = BufReader<Box<dyn Read + Send>>;

/// Reads a part, section after section.
pub struct PartReader {
    path: PathBuf,
    file: Origin,
    /// The header.
    pub header: PartHeader,
    /// Bytes of state that is read item by item that may stay in memory.
    pub memory: usize,
    /// The number that a scan unit of the part has in the present run.
    pub unit: Box<dyn Fn(u32) -> u32>,
}

impl PartReader {
    /// Opens a part and reads its header.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes: Box<dyn Read + Send> = match is_url(path) {
            true => Box::new(io::Cursor::new(place::read(path)?)),
            false => Box::new(File::open(path).map_err(|e| Error::read(path, e))?),
        };
        let mut file = BufReader::with_capacity(1 << 18, bytes);
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
                Ok(Self { path, file, header, memory: MEMORY, unit: Box::new(|unit| unit) })
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
        let mut source = Source { file: &mut self.file, open: Vec::new(), at: 0, ended: false };
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
        let bytes = self.section(name, |from| {
            let mut bytes = Vec::new();
            from.take(LARGEST_STATE).read_to_end(&mut bytes)?;
            Ok(bytes)
        })?;
        match postcard::take_from_bytes(&bytes) {
            Ok((value, [])) => Ok(value),
            _ => Err(self.damaged(name)),
        }
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
        while let Some(name) = self.next_name()? {
            let mut source = Source { file: &mut self.file, open: Vec::new(), at: 0, ended: false };
            let read = io::copy(&mut source, &mut io::sink());
            read.map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => read_error(&self.path, e),
                _ => self.damaged(&name),
            })?;
        }
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

fn take<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_error(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Part { path: path.to_owned(), fault: PartFault::Truncated },
        _ => Error::read(path, error),
    }
}

/// Puts the blocks of a section together again.
struct Source<'a> {
    file: &'a mut Origin,
    open: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Source<'_> {
    fn next_block(&mut self) -> io::Result<()> {
        let length = u32::from_le_bytes(take(self.file)?) as usize;
        if length > BLOCK {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.ended = length == 0;
        self.open.resize(length, 0);
        self.at = 0;
        if length > 0 {
            self.file.read_exact(&mut self.open)?;
            if u64::from_le_bytes(take(self.file)?) != Fingerprint::of(&self.open).short() {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.open.len() && !self.ended {
            self.next_block()?;
        }
        let taken = into.len().min(self.open.len() - self.at);
        into[..taken].copy_from_slice(&self.open[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}
