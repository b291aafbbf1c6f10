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

use serde::Deserialize;

use super::field::{Field, Object};
use super::lines::Lines;
use super::non_finite;
use super::parse::Parser;
use crate::error::{Error, Result};
use crate::ingest::files::stored::Stored;
use crate::ingest::limits::Limits;
use crate::output::Scratch;

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
    /// Reads the lines of some files; of the same trace, later ones count more.
    pub fn read(files: &[Stored], limits: Limits) -> Result<Self> {
        let folder = Scratch::new()?;
        let path = folder.path().join("annotations");
        let failed = |e| Error::write(&path, e);
        let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
        let mut out = BufWriter::new(file);
        let mut stretches: HashMap<Box<str>, Vec<Stretch>> = HashMap::new();
        let mut offset = 0;
        for file in files {
            let mut lines = match Lines::open(file, limits) {
                Err(Error::Empty { .. }) => continue,
                lines => lines?,
            };
            // The last line of a run that goes on may be torn; no other.
            let mut torn: Option<Error> = None;
            while let Some(line) = lines.next_line()? {
                if let Some(error) = torn.take() {
                    return Err(error);
                }
                match trace_of(line) {
                    Ok(Some(trace)) => {
                        let bytes = line.len() as u64;
                        out.write_all(line).map_err(failed)?;
                        stretches.entry(trace).or_default().push(Stretch { offset, bytes });
                        offset += bytes;
                    }
                    Ok(None) => {}
                    Err(message) => torn = Some(lines.corrupt(message)),
                }
            }
        }
        let file = out.into_inner().map_err(|e| Error::write(&path, e.into_error()))?;
        Ok(Self { copy: Mutex::new(file), path, stretches, limits, _folder: folder })
    }

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

/// The trace that a line belongs to.
fn trace_of(line: &[u8]) -> std::result::Result<Option<Box<str>>, String> {
    #[derive(Deserialize)]
    struct Named {
        trace_id: Option<Box<str>>,
    }
    let named = serde_json::from_slice::<Named>(line)
        .or_else(|_| serde_json::from_slice::<Named>(&non_finite::to_null(line)));
    named.map(|named| named.trace_id).map_err(|e| format!("not an annotation: {e}"))
}
