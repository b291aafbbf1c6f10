//! Which entries can be used for a run.

use std::path::{Path, PathBuf};

use super::CacheUse;
use super::covered::{changed_since, numbers_of};
use crate::analyze::plan::Plan;
use crate::analyze::shards::gathered::Gathered;
use crate::error::Result;
use crate::ingest::{Renumber, UnitTable};
use crate::parts::{PartHeader, PartReader};

/// An entry that is used.
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// The numbers of its files in this run.
    pub files: Vec<usize>,
    /// What it holds.
    pub gathered: Gathered,
}

/// What was found.
#[derive(Default)]
pub struct Entries {
    /// Entries that have no file in common, those that cover most first.
    pub entries: Vec<Entry>,
    /// Whether they cover a file, for each of the run.
    pub covered: Vec<bool>,
    /// Files of the run that are not what an entry knows.
    pub changed: Vec<usize>,
    /// Entries that know these: the files will not become again what they were.
    pub unusable: Vec<PathBuf>,
}

/// Looks through the entries of a plan.
pub fn find(
    paths: Vec<PathBuf>,
    wanted: &PartHeader,
    plan: &Plan,
    units: &UnitTable,
    used: &mut CacheUse,
) -> Entries {
    let mut found = Entries { covered: vec![false; wanted.files.len()], ..Entries::default() };
    let mut candidates: Vec<(u32, Vec<usize>, PartReader)> = Vec::new();
    for path in paths {
        let opened = PartReader::open(&path).and_then(|reader| {
            reader.header.require(&path, wanted)?;
            Ok(reader)
        });
        let reader = match opened {
            Ok(reader) => reader,
            Err(error) => {
                used.drop_entry(&path, &error);
                continue;
            }
        };
        let changed = changed_since(&reader.header.files, &wanted.files);
        if !changed.is_empty() {
            found.changed.extend(changed);
            found.unusable.push(path);
        } else if let Some(files) = numbers_of(&reader.header.files, &wanted.files) {
            let covered = reader.header.files.iter().map(|file| file.units).sum();
            candidates.push((covered, files, reader));
        }
    }
    candidates.sort_by_key(|(covered, files, _)| (*covered, files.len()));
    while let Some((_, files, reader)) = candidates.pop() {
        if files.iter().any(|file| found.covered[*file]) {
            continue;
        }
        if let Some(entry) = read(files, reader, plan, units, used) {
            entry.files.iter().for_each(|file| found.covered[*file] = true);
            found.entries.push(entry);
        }
    }
    found
}

fn read(
    files: Vec<usize>,
    mut reader: PartReader,
    plan: &Plan,
    units: &UnitTable,
    used: &mut CacheUse,
) -> Option<Entry> {
    let old = reader.header.files.iter().map(|file| (file.number, file.first_unit));
    let numbers = Renumber::new(old.zip(files.iter().copied()), units);
    let moved = !numbers.is_identity();
    let path = reader.path().to_owned();
    match Gathered::read(&mut reader, plan, Some(numbers)).and_then(|g| reader.end().map(|()| g)) {
        Ok(gathered) if gathered.is_of(files.iter().flat_map(|file| units.of_file(*file))) => {
            return Some(Entry { path, files, gathered });
        }
        // A log without ids, in which files moved: it is good for the run that it was made for.
        Err(_) if moved && verify(&path).is_ok() => {}
        Ok(_) => used.drop_entry(&path, &reader.damaged("units")),
        Err(error) => used.drop_entry(&path, &error),
    }
    None
}

fn verify(path: &Path) -> Result<()> {
    PartReader::open(path)?.verify()
}
