//! Reads files of annotations.

use serde::Deserialize;

use super::annotations::{Annotations, AnnotationsWriter};
use super::lines::Lines;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_base::non_finite;
use stapo_batch::limits::Limits;

/// Reads the lines of some files.
pub fn read_annotations(files: &[Stored], limits: Limits) -> Result<Annotations> {
    let mut copy = AnnotationsWriter::new()?;
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
                Ok(Some(trace)) => copy.add(trace, line)?,
                Ok(None) => {}
                Err(message) => torn = Some(lines.corrupt(message)),
            }
        }
    }
    copy.finish(limits)
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
