//! What was gathered of files that have not changed since: a run that grew by a step is read from
//! there on.
//!
//! An entry holds what was gathered of some whole files. It is named after everything else that
//! decides what is collected (program, settings, columns, vocabulary), and lists its files as they
//! were. It is used where all of these are still there as they were, in the same order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::gathered::Gathered;
use super::producer::producer;
use crate::analyze::plan::{Plan, largest_ids};
use crate::error::{Error, Result};
use crate::ingest::{Progress, Renumber, Run, UnitTable};
use crate::parts::{CoveredFile, Fingerprint, PartHeader, PartReader, PartWriter, place};
use crate::store::Shelf;

const KIND: &str = "cache";
const ENDING: &str = ".part";
/// The largest token ids of files.
const IDS: &str = "token-ids.json";
/// Files whose largest ids are remembered.
const MOST_IDS: usize = 1 << 16;

/// A folder with what was gathered in earlier runs. Several programs may use it at once, and it may
/// be deleted at any time.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache was good for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheUse {
    /// Files that were not read.
    pub reused: usize,
    /// Files that were read.
    pub read: usize,
    /// What could not be used, and why.
    pub notes: Vec<String>,
}

impl Cache {
    /// A cache in this folder, which is made where needed.
    pub fn open(folder: &Path) -> Result<Self> {
        // Fails now rather than after the scan.
        Shelf::open(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Gathers a whole run; reads only the files that no entry covers.
    pub(in crate::analyze) fn gather(
        &self,
        run: &Run,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<(Gathered, CacheUse)> {
        run.refuse_annotated("--cache")?;
        let (units, _) = UnitTable::new(run, &[]);
        let header = header(run, plan, &units)?;
        let mut used = CacheUse::default();
        let found = self.best_entry(&header, plan, &units, &mut used);
        let mut covered = vec![false; run.files.len()];
        let mut gathered = None;
        if let Some((files, entry)) = found {
            for file in &files {
                covered[*file] = true;
                progress.advance(0, run.files[*file].bytes);
            }
            used.reused = files.len();
            gathered = Some(entry);
        }
        let missing: Vec<Range<usize>> =
            (0..run.files.len()).filter(|file| !covered[*file]).map(|file| units.of_file(file)).collect();
        used.read = missing.len();
        if missing.is_empty()
            && let Some(gathered) = gathered
        {
            used.tell(progress);
            return Ok((gathered, used));
        }
        let fresh = Gathered::scan(run, plan, &missing, progress)?;
        let mut all = match gathered {
            Some(mut gathered) => {
                gathered.join(fresh, run, &units, plan)?;
                gathered
            }
            None => fresh,
        };
        all.settle();
        if let Err(error) = self.write(&header, &all) {
            used.notes.push(format!("the cache was not written: {error}"));
        }
        used.tell(progress);
        Ok((all, used))
    }

    /// The usable entry that covers most units, with the numbers of its files in this run.
    fn best_entry(
        &self,
        wanted: &PartHeader,
        plan: &Plan,
        units: &UnitTable,
        used: &mut CacheUse,
    ) -> Option<(Vec<usize>, Gathered)> {
        let mut entries: Vec<(u32, Vec<usize>, PartReader)> = Vec::new();
        for path in self.entries(wanted) {
            let opened = PartReader::open(&path).and_then(|reader| {
                reader.header.require(&path, wanted)?;
                Ok(reader)
            });
            match opened {
                Ok(reader) => {
                    if let Some(files) = numbers_of(&reader.header.files, &wanted.files) {
                        let covered = reader.header.files.iter().map(|file| file.units).sum();
                        entries.push((covered, files, reader));
                    }
                }
                Err(error) => used.drop_entry(&path, &error),
            }
        }
        entries.sort_by_key(|(covered, files, _)| (*covered, files.len()));
        while let Some((_, files, mut reader)) = entries.pop() {
            let numbers = Renumber::new(files.iter().copied(), units);
            let moved = !numbers.is_identity();
            match Gathered::read(&mut reader, plan, Some(numbers)).and_then(|g| reader.end().map(|()| g)) {
                Ok(gathered) if gathered.is_of(files.iter().flat_map(|file| units.of_file(*file))) => {
                    return Some((files, gathered));
                }
                // A log without ids, in which files moved: it is good for the run that it was made for.
                Err(_) if moved && verify(reader.path()).is_ok() => {}
                Ok(_) => used.drop_entry(reader.path(), &reader.damaged("units")),
                Err(error) => used.drop_entry(reader.path(), &error),
            }
        }
        None
    }

    /// The entries of a plan.
    fn entries(&self, header: &PartHeader) -> Vec<PathBuf> {
        place::list(&self.folder, &format!("{}-", header.plan), ENDING).unwrap_or_default()
    }

    fn write(&self, header: &PartHeader, gathered: &Gathered) -> Result<()> {
        let files = serde_json::to_vec(&header.files).map_err(|e| Error::write(&self.folder, e))?;
        let name = format!("{}-{:016x}{ENDING}", header.plan, Fingerprint::of(&files).short());
        let path = self.folder.join(name);
        let mut out = PartWriter::create(&path, header)?;
        gathered.write(&mut out)?;
        out.commit()?;
        self.prune(header, &path);
        Ok(())
    }

    /// Drops entries that newer ones make useless: of those that cover a beginning of the same run, each
    /// that is left covers at most half of the next. One that a later run may fall back to stays.
    fn prune(&self, header: &PartHeader, written: &Path) {
        let mut older: Vec<(usize, PathBuf)> = Vec::new();
        for path in self.entries(header).into_iter().filter(|path| path != written) {
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
                // Gone or in use elsewhere: then it stays for later.
                let _ = place::remove(&path);
            } else {
                room = covered / 2;
            }
        }
    }

    /// The largest token id of a run; reads only files that it is not known of.
    pub(in crate::analyze) fn largest_id(&self, run: &Run) -> Result<u32> {
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

/// The largest ids by the state of files.
#[derive(Default, Serialize, Deserialize)]
struct LargestIds(BTreeMap<String, u32>);

fn verify(path: &Path) -> Result<()> {
    PartReader::open(path)?.verify()
}

impl CacheUse {
    fn tell(&self, progress: &dyn Progress) {
        self.notes.iter().for_each(|note| progress.note(note));
    }

    /// Notes that an entry cannot be used, and deletes it: what it held is read again.
    fn drop_entry(&mut self, path: &Path, error: &Error) {
        self.notes.push(format!("{error}: read again"));
        let _ = place::remove(path);
    }
}

/// The place of each file of an entry among those of the run; `None` where one is not there as it was
/// or the order is another.
fn numbers_of(entry: &[CoveredFile], run: &[CoveredFile]) -> Option<Vec<usize>> {
    let mut rest = run.iter().enumerate();
    let numbers: Option<Vec<usize>> =
        entry.iter().map(|file| rest.find(|(_, known)| *known == file).map(|(number, _)| number)).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

/// What an entry for the whole run says of itself.
fn header(run: &Run, plan: &Plan, units: &UnitTable) -> Result<PartHeader> {
    let file = |number: usize| {
        Ok(CoveredFile {
            path: absolute(&run.files[number].context.path),
            state: state_of(run, number)?.to_string(),
            units: units.of_file(number).len() as u32,
        })
    };
    let mut key = Fingerprint::of(plan.describe().as_bytes());
    // Ids are only compared where there are several files.
    key.word(u64::from(run.files.len() > 1 && !run.settings.pool));
    key.word(run.settings.unit_tokens);
    // A program that was built anew may collect something else under the same version.
    if let Some(program) = std::env::current_exe().ok().and_then(|path| std::fs::metadata(path).ok()) {
        key.word(program.len());
        let modified = program.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        key.word(since.map_or(0, |since| since.as_nanos() as u64));
    }
    Ok(PartHeader {
        kind: KIND.into(),
        producer: producer(plan),
        plan: key.to_string(),
        units: Vec::new(),
        files: (0..run.files.len()).map(file).collect::<Result<_>>()?,
        document: None,
    })
}

/// Everything of a file that decides what is read of it.
fn state_of(run: &Run, number: usize) -> Result<Fingerprint> {
    let file = &run.files[number];
    let context = &file.context;
    let identity = serde_json::to_string(&file.identity).map_err(|e| Error::write(&context.path, e))?;
    let mut state = Fingerprint::of(absolute(&context.path).as_bytes());
    state.add(identity.as_bytes());
    let how =
        (context.step, context.alignment, context.entropy_in_bits, run.mapping_of(file), run.settings.steps);
    state.add(format!("{how:?}").as_bytes());
    Ok(state)
}

/// A path that means the same in every folder; what is in a bucket is left as it is.
fn absolute(path: &Path) -> String {
    let text = path.display().to_string();
    match text.contains("://") {
        true => text,
        false => std::path::absolute(path).map_or(text, |path| path.display().to_string()),
    }
}
