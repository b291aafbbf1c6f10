//! prime-rl's stream of traces (`monitors/file/traces`): what is known at arrival is in `stream.jsonl` or
//! `stream/NNNNN.jsonl`, what is noted later in `annotations/<producer>.jsonl` or
//! `annotations/<producer>/NNNNN.jsonl`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::complete::whole_lines;
use super::discover::{Discovered, LogFile, Skipped};
use super::opened::{Opened, open};
use super::settings::IngestSettings;
use crate::json::read_annotations;
use crate::schema::user_map::UserMap;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

const UNTRAINED: &str = "evaluations, and traces that were never shipped to the trainer, are left out";

/// Takes annotations for what they are: notes on the traces beside them, not logs of their own.
pub fn annotate(found: &mut Discovered, settings: &IngestSettings) -> Result<()> {
    let files = std::mem::take(&mut found.files);
    let (notes, logs): (Vec<LogFile>, Vec<LogFile>) =
        files.into_iter().partition(|file| annotated_folder(file.path()).is_some());
    found.files = logs;
    if notes.is_empty() {
        return Ok(());
    }
    let mut folders: BTreeMap<PathBuf, Vec<LogFile>> = BTreeMap::new();
    for file in notes {
        folders.entry(annotated_folder(file.path()).unwrap_or_default()).or_default().push(file);
    }
    for (traces, notes) in folders {
        if settings.growing {
            return Err(refused(&traces, "a run that goes on cannot be watched by it"));
        }
        let notes: Vec<Stored> =
            once(notes, &mut found.skipped).into_iter().map(|file| file.stored).collect();
        let notes = Arc::new(read_annotations(&notes, settings.limits)?);
        let (streams, others): (Vec<LogFile>, Vec<LogFile>) =
            std::mem::take(&mut found.files).into_iter().partition(|file| is_stream(file.path(), &traces));
        found.files = others;
        for stream in once(streams, &mut found.skipped) {
            let stream = whole_lines(stream, settings.limits)?;
            found.files.push(LogFile { annotations: Some(Arc::clone(&notes)), ..stream });
        }
        found.skipped.push(Skipped { path: traces.display().to_string(), reason: UNTRAINED.into() });
    }
    Ok(())
}

/// Opens a stream; `Err` inside where nothing of it was trained on: a chunk of evaluations, or one that
/// is not shipped yet.
pub fn open_trained(stream: LogFile, limits: Limits, map: &UserMap) -> Result<Result<Opened, Skipped>> {
    let path = stream.path().display().to_string();
    match open(stream, limits, map) {
        Err(Error::Empty { .. }) => Ok(Err(Skipped { path, reason: "nothing of it was trained on".into() })),
        opened => opened.map(Ok),
    }
}

/// What cannot be done with annotated traces, and what to do instead.
pub fn refused(traces: &Path, what: &str) -> Error {
    Error::Usage {
        message: format!("{} is a stream of traces with annotations beside it: {what}", traces.display()),
        hint: format!(
            "write it as one file first: stapo-analyze convert {} -o run.parquet",
            traces.display()
        ),
    }
}

/// The folder of traces that a file annotates.
fn annotated_folder(path: &Path) -> Option<PathBuf> {
    let annotations = path.ancestors().skip(1).find(|folder| is_named(folder, "annotations"))?;
    let traces = annotations.parent()?;
    is_named(traces, "traces").then(|| traces.to_owned())
}

fn is_stream(path: &Path, traces: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(traces) else { return false };
    let first = inside.iter().next().map(|name| name.to_string_lossy().into_owned());
    first.is_some_and(|name| name == "stream" || name.starts_with("stream."))
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|known| known == name)
}

/// Without indices, and a chunk that is there both plain and packed once: in the order of names.
fn once(mut files: Vec<LogFile>, skipped: &mut Vec<Skipped>) -> Vec<LogFile> {
    let name = |file: &LogFile| file.path().display().to_string();
    files.sort_by_key(name);
    let mut seen = BTreeSet::new();
    files.retain(|file| {
        let name = name(file);
        let plain = [".zst", ".gz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned();
        let reason = if plain.ends_with(".index.jsonl") {
            "an index"
        } else if !seen.insert(plain) {
            "the same chunk is there unpacked"
        } else {
            return true;
        };
        skipped.push(Skipped { path: name, reason: reason.into() });
        false
    });
    files
}
