//! The blocks of a section, as they stand in a part.

use std::io::{self, BufReader, Read};

use super::container::BLOCK;
use super::hash::Fingerprint;

/// Where a part is read from.
pub type Origin = BufReader<Box<dyn Read + Send>>;

/// What reads a part in large pieces.
pub fn buffered(bytes: Box<dyn Read + Send>) -> Origin {
    BufReader::with_capacity(1 << 18, bytes)
}

/// Goes over a section that is held. Its blocks are checked when they are read.
pub fn pass_unchecked(bytes: &mut &[u8]) -> io::Result<()> {
    fn skip(bytes: &mut &[u8], length: usize) -> io::Result<()> {
        *bytes = bytes.get(length..).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(())
    }
    let [name] = take(bytes)?;
    skip(bytes, usize::from(name))?;
    loop {
        match u32::from_le_bytes(take(bytes)?) as usize {
            0 => return Ok(()),
            length => skip(bytes, length + size_of::<u64>())?,
        }
    }
}

/// The next `N` bytes.
pub fn take<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Puts the blocks of a section together again.
pub struct Blocks<'a> {
    file: &'a mut Origin,
    open: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<'a> Blocks<'a> {
    /// The blocks from here on, to the end of the section.
    pub fn of(file: &'a mut Origin) -> Self {
        Self { file, open: Vec::new(), at: 0, ended: false }
    }

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

impl Read for Blocks<'_> {
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
