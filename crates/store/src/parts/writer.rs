//! Writing parts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::container::{BLOCK, END, MAGIC};
use super::hash::Fingerprint;
use super::header::{FORMAT, PartHeader};
use super::place;
use crate::is_url;
use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;

/// Fast: parts are read about as often as they are written.
const LEVEL: i32 = 1;

/// Writes a part; it appears under its name only when it is complete.
pub struct PartWriter {
    path: PathBuf,
    file: Target,
}

/// Where a part is written to.
enum Target {
    Disk(AtomicFile),
    /// Put into a bucket when it is complete.
    Bucket(Vec<u8>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.write(bytes),
            Self::Bucket(all) => all.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Disk(file) => file.flush(),
            Self::Bucket(_) => Ok(()),
        }
    }
}

impl PartWriter {
    /// Begins a part.
    pub fn create(path: &Path, header: &PartHeader) -> Result<Self> {
        let mut file = match is_url(path) {
            true => Target::Bucket(Vec::new()),
            false => Target::Disk(AtomicFile::create(path)?),
        };
        let fail = |e: io::Error| Error::write(path, e);
        let json = serde_json::to_vec(header).map_err(|e| Error::write(path, e))?;
        file.write_all(MAGIC).map_err(fail)?;
        file.write_all(&FORMAT.to_le_bytes()).map_err(fail)?;
        file.write_all(&(json.len() as u32).to_le_bytes()).map_err(fail)?;
        file.write_all(&json).map_err(fail)?;
        file.write_all(&Fingerprint::of(&json).short().to_le_bytes()).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes a section.
    pub fn section(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let written = self.write_section(name, |out| write(out));
        written.map_err(|e| Error::write(&self.path, e))
    }

    fn write_section(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Packing<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.write_all(&[name.len() as u8])?;
        self.file.write_all(name.as_bytes())?;
        let blocks = Blocks { file: &mut self.file, open: Vec::with_capacity(BLOCK) };
        let mut encoder = zstd::Encoder::new(blocks, LEVEL)?;
        encoder.include_checksum(true)?;
        {
            let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut encoder);
            write(&mut buffered)?;
            buffered.flush()?;
        }
        encoder.finish()?.finish()
    }

    /// Writes small state as a section.
    pub fn state<T: Serialize>(&mut self, name: &str, state: &T) -> Result<()> {
        // Byte by byte: a writer that the compiler does not know would take several times as long.
        let put =
            |out: &mut Packing<'_, '_>| postcard::to_io(state, out).map(|_| ()).map_err(io::Error::other);
        self.write_section(name, put).map_err(|e| Error::write(&self.path, e))
    }

    /// Ends the part and gives it its name.
    pub fn commit(mut self) -> Result<()> {
        let end = self.file.write_all(&[0]).and_then(|()| self.file.write_all(END));
        end.map_err(|e| Error::write(&self.path, e))?;
        match self.file {
            Target::Disk(file) => file.commit(),
            Target::Bucket(bytes) => place::write(&self.path, &bytes),
        }
    }
}

/// What packs a section.
type Packing<'a, 'b> = io::BufWriter<&'a mut zstd::Encoder<'static, Blocks<'b>>>;

/// Cuts a stream into blocks with a length before and a checksum after each.
struct Blocks<'a> {
    file: &'a mut Target,
    open: Vec<u8>,
}

impl Blocks<'_> {
    fn put(&mut self) -> io::Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        self.file.write_all(&(self.open.len() as u32).to_le_bytes())?;
        self.file.write_all(&self.open)?;
        self.file.write_all(&Fingerprint::of(&self.open).short().to_le_bytes())?;
        self.open.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.put()?;
        self.file.write_all(&0_u32.to_le_bytes())
    }
}

impl Write for Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = BLOCK - self.open.len();
        let taken = bytes.len().min(room);
        self.open.extend_from_slice(&bytes[..taken]);
        if self.open.len() == BLOCK {
            self.put()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
