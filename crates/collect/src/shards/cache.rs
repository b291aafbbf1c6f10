//! What was gathered of files that have not changed since: a run that grew by a step is read from
//! there on.
//!
//! An entry holds what was gathered of some whole files. It is named after everything else that
//! decides what is collected (program, settings, columns, vocabulary), and lists its files as they
//! were. It is used where all of these are still there as they were, in the same order.
//!
//! What was gathered cannot be taken apart again, so files that may still grow (the newest, and those
//! that an earlier entry knows in another state) are kept in an entry of their own.
//!
//! Of a run that grows, what is known already bounds what is kept of a new file: its entry is small, and good as
//! long as the files are there that bounded it. A few such entries lie beside the large one, which is not written
//! anew each time.

mod cache_use;
mod covered;
mod entries;
mod eviction;
mod layer;

pub use self::cache_use::CacheUse;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::covered::{changed_since, header, numbers_of, state_of};
use self::layer::{Layer, Reading};
use crate::gathered::Gathered;
use crate::plan::{Plan, largest_ids};
use stapo_base::error::{Error, Result};
use stapo_batch::progress::Progress;
use stapo_ingest::{Run, UnitTable};
use stapo_store::parts::{Fingerprint, PartHeader, PartReader, PartWriter, place};
use stapo_store::{Shelf, is_url};

/// Of entries alone: `.part` is what collected parts are called, and what others call half of a download.
const ENDING: &str = ".cache-part";
/// Hexadecimal digits of an entry's name: of the plan, and of its files.
const DIGITS: [usize; 2] = [32, 16];
/// The largest token ids of files.
const IDS: &str = "token-ids.json";
/// Files whose largest ids are remembered.
const MOST_IDS: usize = 1 << 16;

/// A folder with what was gathered in earlier runs. Several programs may use it at once, and it may
/// be deleted at any time.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// What entries of others may take.
    room: u64,
}

impl Cache {
    /// A cache in this folder, which is made where needed.
    pub fn open(folder: &Path) -> Result<Self> {
        // Fails now rather than after the scan.
        Shelf::open(folder)?;
        Ok(Self { folder: folder.to_owned(), room: eviction::ROOM })
    }

    /// Keeps at most so many bytes for other settings and runs than the one at hand, in a folder of this
    /// machine; 4 GiB unless told.
    #[must_use]
    pub fn with_room(self, bytes: u64) -> Self {
        Self { room: bytes, ..self }
    }

    /// Gathers a whole run; reads only the files that no entry covers.
    pub fn gather(&self, run: &Run, plan: &Plan, progress: &dyn Progress) -> Result<(Gathered, CacheUse)> {
        run.refuse_annotated("--cache")?;
        let (units, _) = UnitTable::new(run, &[]);
        let header = header(run, plan, &units)?;
        let mut used = CacheUse::default();
        let found = entries::find(self.entries(&header), &header, plan, &units, &mut used);
        let missing: Vec<usize> = (0..run.files.len()).filter(|file| !found.covered[*file]).collect();
        for file in (0..run.files.len()).filter(|file| found.covered[*file]) {
            progress.advance(0, run.files[file].bytes);
        }
        (used.reused, used.read) = (run.files.len() - missing.len(), missing.len());
        let grows = growing(run, &found.changed);
        let reading = Reading { run, plan, units: &units, header: &header, progress };
        let (mut rest, mut settled) = (Layer::default(), Layer::default());
        for entry in found.entries {
            eviction::note_use(&entry.path);
            let layer = if entry.files.iter().all(|file| grows[*file]) { &mut rest } else { &mut settled };
            layer.add(entry, &reading)?;
        }
        let (growing, others) = missing.iter().copied().partition(|file| grows[*file]);
        let mut apart = settled.read_beside(others, &reading)?;
        if !settled.has_room() {
            settled.join(std::mem::take(&mut apart), &reading)?;
        }
        rest.join(settled.read_beside(growing, &reading)?, &reading)?;
        used.tell(progress);
        if !missing.is_empty()
            && let Err(error) = self.keep(&header, &mut [&mut settled, &mut apart, &mut rest], found.unusable)
        {
            let said = format!("the cache was not written, the next analysis reads the log again: {error}");
            progress.warn(&said);
            used.notes.push(said);
        }
        settled.join(apart, &reading)?;
        settled.join(rest, &reading)?;
        let nothing = || Error::Internal { message: "nothing was gathered".into() };
        settled.gathered.map(|all| (all, used)).ok_or_else(nothing)
    }

    /// The entries of a plan.
    fn entries(&self, header: &PartHeader) -> Vec<PathBuf> {
        place::list(&self.folder, &format!("{}-", header.plan), ENDING).unwrap_or_default()
    }

    /// The entries of all plans. The folder may hold files of the user: nothing else is ever dropped.
    fn all_entries(&self) -> Vec<PathBuf> {
        let mut all = place::list(&self.folder, "", ENDING).unwrap_or_default();
        all.retain(|path| is_entry(path));
        all
    }

    /// Writes what is new, and drops what that makes useless.
    fn keep(&self, header: &PartHeader, layers: &mut [&mut Layer], unusable: Vec<PathBuf>) -> Result<()> {
        let entries = layers.par_iter_mut().map(|layer| match layer.is_new() {
            true => Ok(vec![self.write(header, layer)?]),
            false => Ok(std::mem::take(&mut layer.known)),
        });
        let kept = entries.collect::<Result<Vec<_>>>()?.concat();
        // Gone or in use elsewhere: then they stay for later.
        unusable.iter().for_each(|path| drop(place::remove(path)));
        self.prune(header, &kept);
        // In a bucket, either would take a request for each entry: its owner's rules hold there.
        if !is_url(&self.folder) {
            self.drop_outdated(header, &kept);
            self.make_room(&kept);
        }
        Ok(())
    }

    /// Drops entries of other settings, programs and runs that have been idle for too long or have no room.
    fn make_room(&self, kept: &[PathBuf]) {
        let mut others = self.all_entries();
        others.retain(|path| !kept.contains(path));
        eviction::surplus(others, self.room).iter().for_each(|path| drop(place::remove(path)));
    }

    /// Drops what was gathered with other settings, or by another program, of files of this run that
    /// have changed since.
    fn drop_outdated(&self, header: &PartHeader, kept: &[PathBuf]) {
        for path in self.all_entries().into_iter().filter(|path| !kept.contains(path)) {
            if let Ok(reader) = PartReader::open(&path)
                && !changed_since(&reader.header.files, &header.files).is_empty()
            {
                let _ = place::remove(&path);
            }
        }
    }

    fn write(&self, run: &PartHeader, layer: &mut Layer) -> Result<PathBuf> {
        let header = layer.header(run);
        let files = serde_json::to_vec(&header.files).map_err(|e| Error::write(&self.folder, e))?;
        let name = format!("{}-{:016x}{ENDING}", header.plan, Fingerprint::of(&files).short());
        let path = self.folder.join(name);
        let mut out = PartWriter::create(&path, &header)?;
        if let Some(gathered) = &mut layer.gathered {
            gathered.settle();
            gathered.write(&mut out)?;
        }
        out.commit()?;
        Ok(path)
    }

    /// Drops entries that those of this run make useless: of the others that cover files of it, each that
    /// is left covers at most half of the next. One that a later run may fall back to stays.
    fn prune(&self, header: &PartHeader, kept: &[PathBuf]) {
        let mut older: Vec<(usize, PathBuf)> = Vec::new();
        for path in self.entries(header).into_iter().filter(|path| !kept.contains(path)) {
            if let Ok(reader) = PartReader::open(&path)
                && numbers_of(&reader.header.files, &header.files).is_some()
            {
                older.push((reader.header.files.len(), path));
            }
        }
        older.sort();
        let mut room = header.files.len() / 2;
        while let Some((covered, path)) = older.pop() {
            if covered > room {
                let _ = place::remove(&path);
            } else {
                room = covered / 2;
            }
        }
    }

    /// The largest token id of a run; reads only files that it is not known of.
    pub fn largest_id(&self, run: &Run) -> Result<u32> {
        run.refuse_annotated("--cache")?;
        let path = self.folder.join(IDS);
        let known = place::read(&path).ok().and_then(|json| serde_json::from_slice(&json).ok());
        let mut known: LargestIds = known.unwrap_or_default();
        let (units, _) = UnitTable::new(run, &[]);
        let states: Vec<String> =
            (0..run.files.len()).map(|file| Ok(state_of(run, file)?.to_string())).collect::<Result<_>>()?;
        let missing: Vec<Range<usize>> = (0..run.files.len())
            .filter(|file| !known.0.contains_key(&states[*file]))
            .map(|file| units.of_file(file))
            .collect();
        if !missing.is_empty() {
            let found = largest_ids(run, &missing)?;
            for file in (0..run.files.len()).filter(|file| missing.contains(&units.of_file(*file))) {
                known.0.insert(states[file].clone(), found.get(&(file as u32)).copied().unwrap_or(0));
            }
            let mut kept = LargestIds(known.0.clone());
            while kept.0.len() > MOST_IDS {
                kept.0.pop_first();
            }
            // What cannot be kept is found again.
            let _ = serde_json::to_vec(&kept).map(|json| place::write(&path, &json));
        }
        Ok(states.iter().filter_map(|state| known.0.get(state)).copied().max().unwrap_or(0))
    }
}

/// Whether a file has the name of an entry.
fn is_entry(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_hex = |word: &str, digits: usize| {
        word.len() == digits && word.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
    };
    let words = name.strip_suffix(ENDING).and_then(|name| name.split_once('-'));
    words.is_some_and(|(plan, files)| is_hex(plan, DIGITS[0]) && is_hex(files, DIGITS[1]))
}

/// The largest ids by the state of files.
#[derive(Default, Serialize, Deserialize)]
struct LargestIds(BTreeMap<String, u32>);

/// Which files may still be written: the newest, and those that were another state of themselves before.
fn growing(run: &Run, changed: &[usize]) -> Vec<bool> {
    let newest = (0..run.files.len()).max_by_key(|file| run.files[*file].identity.modified());
    let mut grows = vec![false; run.files.len()];
    newest.iter().chain(changed).for_each(|file| grows[*file] = true);
    grows
}
