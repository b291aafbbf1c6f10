//! Verdicts on labelled runs.

use crate::labels::{KINDS, LABELS, Label};
use crate::reading::{Reading, Told};
use crate::tables::{Count, head, row};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// A labelled run that is at hand.
pub struct Labelled {
    pub label: &'static Label,
    pub path: PathBuf,
    pub reading: Reading,
}

impl Labelled {
    /// Healthy and without a likely cause, or with the cause among the first two.
    pub fn is_right(&self) -> bool {
        right(self.label, &self.reading.told)
    }
}

/// Whether this is the truth.
pub fn right(label: &Label, told: &Told) -> bool {
    match label.is_healthy() {
        true => told.state == "healthy" && told.likely == 0,
        false => told.names(label.causes),
    }
}

/// Reads all that are at hand: of the folder of data, else of this repository.
pub fn read(data: Option<&Path>) -> Vec<Labelled> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders: Vec<PathBuf> = data
        .map(Path::to_owned)
        .into_iter()
        .chain([here.join("notebooks-data"), here.join("tests/data")])
        .collect();
    let at_hand = |label: &'static Label| {
        let file = format!("{}.parquet", label.log);
        let path = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file())?;
        let reading = Reading::of(&path);
        Some(Labelled { label, path, reading })
    };
    LABELS.par_iter().filter_map(at_hand).collect()
}

/// A row of each sick log, one for the healthy of each kind.
pub fn table(runs: &[Labelled]) -> String {
    let mut table = head(&["log", "what was made wrong", "state", "first causes", "right"]);
    for (kind, (folder, what)) in KINDS.iter().enumerate() {
        let of_kind: Vec<&Labelled> = runs.iter().filter(|run| kind_of(run.label.log) == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        table += &row(&[format!("**{what}**"), String::new(), String::new(), String::new(), String::new()]);
        let name =
            |run: &Labelled| format!("`{}`", run.label.log.strip_prefix(folder).unwrap_or(run.label.log));
        let (calm, others): (Vec<&Labelled>, Vec<&Labelled>) =
            of_kind.into_iter().partition(|run| run.label.is_healthy() && run.is_right());
        if !calm.is_empty() {
            let names: Vec<String> = calm.iter().map(|run| name(run)).collect();
            let right = format!("{0} of {0}", calm.len());
            table += &row(&[names.join(", "), "nothing".into(), "healthy".into(), "–".into(), right]);
        }
        for run in others {
            let wrong = if run.label.is_healthy() { "nothing" } else { run.label.wrong };
            let right = if run.is_right() { "yes" } else { "**no**" };
            let told = &run.reading.told;
            table += &row(&[name(run), wrong.into(), told.state.into(), causes(told), right.into()]);
        }
    }
    table
}

/// The first two; those that are only possible in brackets.
pub fn causes(told: &Told) -> String {
    let shown = |(at, code): (usize, &String)| match at < told.likely {
        true => format!("`{code}`"),
        false => format!("(`{code}`)"),
    };
    match told.causes.is_empty() {
        true => "–".into(),
        false => told.causes.iter().enumerate().take(2).map(shown).collect::<Vec<_>>().join(", "),
    }
}

/// Of [`KINDS`]: the longest folder that a log is in.
fn kind_of(log: &str) -> usize {
    let fits = |kind: &usize| log.starts_with(KINDS[*kind].0);
    (0..KINDS.len()).filter(fits).max_by_key(|kind| KINDS[*kind].0.len()).unwrap()
}

/// Right of all, of the healthy or of the sick.
pub fn count(runs: &[Labelled], healthy: bool) -> Count {
    let mut count = Count::default();
    runs.iter().filter(|run| run.label.is_healthy() == healthy).for_each(|run| count.add(run.is_right()));
    count
}
