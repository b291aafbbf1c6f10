//! What orchestrator and trainer note of a trace after it was written: prime-rl's `annotations`, lines
//! that lie beside the stream of traces and name the trace they belong to.
//!
//! They are as large as the stream itself, and come in another order. So their lines are copied into
//! one temporary file, once; memory holds the id of a trace and 16 bytes for each of its lines, whatever
//! these hold.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::field::{Field, Object};
use super::parse::Parser;
use stapo_base::error::{Error, Result};
use stapo_base::output::Scratch;
use stapo_batch::limits::Limits;

/// Lines by the trace that they belong to.
pub struct Annotations {
    copy: Mutex<File>,
    path: PathBuf,
    stretches: HashMap<Box<str>, Vec<Stretch>>,
    limits: Limits,
    // Goes last: the copy lies in it.
    _folder: Scratch,
}

/// Where a line is in the copy.
#[derive(Clone, Copy)]
struct Stretch {
    offset: u64,
    bytes: u64,
}

impl std::fmt::Debug for Annotations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "annotations of {} traces", self.stretches.len())
    }
}

impl Annotations {
    /// The lines of a trace, in the order they were written.
    pub(super) fn of(&self, trace: &str) -> std::result::Result<Vec<Object>, String> {
        let stretches = self.stretches.get(trace).map_or(&[][..], Vec::as_slice);
        stretches.iter().map(|stretch| self.line(*stretch)).collect()
    }

    fn line(&self, stretch: Stretch) -> std::result::Result<Object, String> {
        let read = || {
            let mut line = Vec::new();
            let mut file = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(stretch.offset))?;
            Read::by_ref(&mut *file).take(stretch.bytes).read_to_end(&mut line)?;
            Ok(line)
        };
        let line = read().map_err(|e: std::io::Error| format!("{}: {e}", self.path.display()))?;
        match Parser::new(self.limits).parse(&line)? {
            Field::Object(object) => Ok(object),
            _ => Err("not an object".into()),
        }
    }
}

/// The copy while it is written.
pub(super) struct AnnotationsWriter {
    out: BufWriter<File>,
    offset: u64,
    path: PathBuf,
    stretches: HashMap<Box<str>, Vec<Stretch>>,
    folder: Scratch,
}

impl AnnotationsWriter {
    pub(super) fn new() -> Result<Self> {
        let folder = Scratch::new()?;
        let path = folder.path().join("annotations");
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let out = BufWriter::new(file.map_err(|e| Error::write(&path, e))?);
        Ok(Self { out, offset: 0, path, stretches: HashMap::new(), folder })
    }

    /// Adds a line of a trace; of the same trace, later ones count more.
    pub(super) fn add(&mut self, trace: Box<str>, line: &[u8]) -> Result<()> {
        let (offset, bytes) = (self.offset, line.len() as u64);
        self.out.write_all(line).map_err(|e| Error::write(&self.path, e))?;
        self.stretches.entry(trace).or_default().push(Stretch { offset, bytes });
        self.offset += bytes;
        Ok(())
    }

    pub(super) fn finish(self, limits: Limits) -> Result<Annotations> {
        let Self { out, path, stretches, folder, .. } = self;
        let file = out.into_inner().map_err(|e| Error::write(&path, e.into_error()))?;
        Ok(Annotations { copy: Mutex::new(file), path, stretches, limits, _folder: folder })
    }
}
