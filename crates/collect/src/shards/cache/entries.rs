//! Which entries can be used for a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::cache_use::CacheUse;
use super::covered::{changed_since, numbers_of};
use crate::gathered::Gathered;
use crate::plan::Plan;
use stapo_base::error::{Error, Result};
use stapo_ingest::{Renumber, UnitTable};
use stapo_store::parts::{CoveredFile, PartHeader, PartReader};

/// An entry that is used.
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// The numbers of its files in this run.
    pub files: Vec<usize>,
    /// What it holds.
    pub gathered: Gathered,
    /// Marks of files of the run that bounded what it holds.
    pub beside: BTreeSet<u64>,
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
    let marks: BTreeSet<u64> = wanted.files.iter().map(CoveredFile::mark).collect();
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
        } else if reader.header.beside.is_subset(&marks)
            && let Some(files) = numbers_of(&reader.header.files, &wanted.files)
        {
            let covered = reader.header.files.iter().map(|file| file.units).sum();
            candidates.push((covered, files, reader));
        }
    }
    candidates.sort_by_key(|(covered, files, _)| (*covered, files.len()));
    // Where one cannot be read, others that cover its files may be.
    loop {
        let mut taken = found.covered.clone();
        let mut chosen = Vec::new();
        let mut others = Vec::new();
        while let Some((covered, files, reader)) = candidates.pop() {
            match files.iter().any(|file| taken[*file]) {
                false => {
                    files.iter().for_each(|file| taken[*file] = true);
                    chosen.push((files, reader));
                }
                true => others.push((covered, files, reader)),
            }
        }
        if chosen.is_empty() {
            return found;
        }
        others.reverse();
        candidates = others;
        let read = chosen.into_par_iter().map(|(files, reader)| read(files, reader, plan, units));
        for outcome in read.collect::<Vec<_>>() {
            match outcome {
                Ok(entry) => {
                    entry.files.iter().for_each(|file| found.covered[*file] = true);
                    found.entries.push(entry);
                }
                Err(Unread::Damaged(path, error)) => used.drop_entry(&path, &error),
                Err(Unread::OfAnotherOrder) => {}
            }
        }
    }
}

/// Why an entry is not used.
enum Unread {
    Damaged(PathBuf, Box<Error>),
    /// A log without ids, in which files moved: it is good for the run that it was made for.
    OfAnotherOrder,
}

fn read(
    files: Vec<usize>,
    mut reader: PartReader,
    plan: &Plan,
    units: &UnitTable,
) -> std::result::Result<Entry, Unread> {
    let old = reader.header.files.iter().map(|file| (file.number, file.first_unit));
    let numbers = Renumber::new(old.zip(files.iter().copied()), units);
    let moved = !numbers.is_identity();
    let path = reader.path().to_owned();
    match Gathered::read(&mut reader, plan, Some(numbers)).and_then(|g| reader.end().map(|()| g)) {
        Ok(gathered) if gathered.is_of(files.iter().flat_map(|file| units.of_file(*file))) => {
            let beside = std::mem::take(&mut reader.header.beside);
            Ok(Entry { path, files, gathered, beside })
        }
        Err(_) if moved && verify(&path).is_ok() => Err(Unread::OfAnotherOrder),
        Ok(_) => Err(Unread::Damaged(path, reader.damaged("units").into())),
        Err(error) => Err(Unread::Damaged(path, error.into())),
    }
}

fn verify(path: &Path) -> Result<()> {
    PartReader::open(path)?.verify()
}
