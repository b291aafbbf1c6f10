//! Training curves of any trainer. [`read_bytes`] and [`read_files`] read what trainers and trackers write without
//! being patched: `trainer_state.json`, JSON lines, a JSON array of rows, CSV, exports of Weights & Biases, the
//! consoles of verl and TRL. [`judge`] says how a run went, from its curves alone: errors come from the scatter
//! between neighbouring rows.

mod categories;
mod curves;
mod join;
mod judge;
mod math;
mod names;
mod number;
mod read;
mod run;
mod table;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use stapo_base::error::{Error, Result};

pub use self::curves::{CurveRun, Curves, Series, whole};
pub use self::judge::critical::greatest_t;
pub use self::judge::judge;
pub use self::judge::verdict::{Cause, CauseCode, CurveGain, CurveVerdict, Event, Sign};
pub use self::names::{CanonicalName, Names};
pub use self::read::ReadOptions;
pub use stapo_result::RunState;

/// The runs in the contents of a file; its name says whether it is CSV, and stands in errors.
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Curves> {
    join_bytes(&[(name, bytes)], options)
}

/// The runs in several files that belong together: one metric a file, or a run that was taken up again.
pub fn join_bytes(files: &[(&str, &[u8])], options: &ReadOptions) -> Result<Curves> {
    let mut joined: Option<table::Table<'_>> = None;
    for (name, bytes) in files {
        let table = read::table(name, bytes, options)?;
        match &mut joined {
            Some(joined) => join::append(joined, &table)?,
            None => joined = Some(table),
        }
    }
    let runs: Vec<CurveRun> = joined.iter().flat_map(run::runs).collect();
    match (files, &runs[..]) {
        // Final values of many runs, as trackers export them.
        ([(name, _), ..], [_, _, ..]) if runs.iter().all(|run| run.steps.len() == 1) => Err(Error::Usage {
            message: format!("{name}: one row for each of {} runs, and no curve", runs.len()),
            hint: "give the history of a run: a row a step".into(),
        }),
        _ => Ok(Curves { runs }),
    }
}

/// Whether a JSON file that begins like this holds curves: rows of scalars, not of responses or tokens.
#[must_use]
pub fn is_json_of_curves(head: &[u8]) -> bool {
    read::json::holds_curves(head)
}

/// The runs in files that belong together.
pub fn read_files(paths: &[PathBuf], options: &ReadOptions) -> Result<Curves> {
    let contents = paths.iter().map(|path| contents(path, options)).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(contents.iter().map(Vec::as_slice)).collect();
    join_bytes(&files, options)
}

fn contents(path: &Path, options: &ReadOptions) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path).map_err(|e| Error::read(path, e))?;
    let mut bytes = Vec::new();
    // One byte more than allowed: the reader then says that it is too large.
    file.take(options.memory.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
    Ok(bytes)
}
