//! What one entry holds, or several that lie beside each other.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use super::entries::Entry;
use crate::gathered::Gathered;
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_batch::progress::Progress;
use stapo_ingest::{Run, UnitTable};
use stapo_store::parts::{CoveredFile, PartHeader};

/// Entries of settled files that lie beside each other before they become one. Each takes time whenever the run is
/// looked at; to write all of them as one takes about as much as to read four that hold a file each.
const BESIDE_EACH_OTHER: usize = 4;

/// A run, and the way its files are read.
pub struct Reading<'a> {
    pub run: &'a Run,
    pub plan: &'a Plan,
    pub units: &'a UnitTable,
    /// What an entry for the whole run says of itself.
    pub header: &'a PartHeader,
    pub progress: &'a dyn Progress,
}

/// What was gathered of some files.
#[derive(Default)]
pub struct Layer {
    pub files: Vec<usize>,
    pub gathered: Option<Gathered>,
    /// The entries that it was read from.
    pub known: Vec<PathBuf>,
    /// Whether something of it was read from the log.
    pub fresh: bool,
    /// Marks of files that bounded what was kept of these.
    pub beside: BTreeSet<u64>,
}

impl Layer {
    /// Adds an entry.
    pub fn add(&mut self, entry: Entry, reading: &Reading<'_>) -> Result<()> {
        let Entry { path, files, gathered, beside } = entry;
        let known = vec![path];
        self.join(Self { files, gathered: Some(gathered), known, fresh: false, beside }, reading)
    }

    /// Reads files of the run that this layer does not have, as a layer of its own, which is good beside this
    /// one.
    pub fn read_beside(&self, files: Vec<usize>, reading: &Reading<'_>) -> Result<Self> {
        if files.is_empty() {
            return Ok(Self::default());
        }
        let Reading { run, plan, units, header, progress } = *reading;
        let ranges: Vec<Range<usize>> = files.iter().map(|file| units.of_file(*file)).collect();
        let mut layer = Self { files, fresh: true, ..Self::default() };
        layer.gathered = Some(match &self.gathered {
            Some(known) => {
                layer.beside.clone_from(&self.beside);
                layer.beside.extend(self.files.iter().map(|file| header.files[*file].mark()));
                Gathered::scan_beside(known, run, plan, &ranges, progress)?
            }
            None => Gathered::scan(run, plan, &ranges, progress)?,
        });
        Ok(layer)
    }

    /// Whether files that were read anew get an entry of their own beside those of this layer.
    pub fn has_room(&self) -> bool {
        (1..BESIDE_EACH_OTHER).contains(&self.known.len())
    }

    /// Whether it is to be written as one entry.
    pub fn is_new(&self) -> bool {
        self.fresh || self.known.len() > BESIDE_EACH_OTHER
    }

    /// Adds another layer.
    pub fn join(&mut self, other: Self, reading: &Reading<'_>) -> Result<()> {
        let Self { files, gathered, known, fresh, beside } = other;
        self.files.extend(files);
        self.known.extend(known);
        self.fresh |= fresh;
        self.beside.extend(beside);
        match (&mut self.gathered, gathered) {
            (Some(all), Some(gathered)) => all.join(gathered, reading.run, reading.units, reading.plan),
            (into, Some(gathered)) => {
                *into = Some(gathered);
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    /// What an entry of it says of itself.
    pub fn header(&mut self, run: &PartHeader) -> PartHeader {
        self.files.sort_unstable();
        let files: Vec<_> = self.files.iter().map(|file| run.files[*file].clone()).collect();
        let own: BTreeSet<u64> = files.iter().map(CoveredFile::mark).collect();
        let beside = self.beside.difference(&own).copied().collect();
        PartHeader { files, beside, ..run.clone() }
    }
}
