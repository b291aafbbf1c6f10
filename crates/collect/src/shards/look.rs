//! Another look at the log in shards: merge says what to look for, every shard looks, merge goes on.

use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::parts_of_run::PartsOfRun;
use super::plan_file::ShardPlan;
use crate::finish::second_look::{Found, Look, LookAgain, Round, merge_found};
use crate::plan::Plan;
use stapo_base::error::{Error, PartFault, Result};
use stapo_base::guard::internal;
use stapo_batch::progress::Progress;
use stapo_ingest::{Passed, Run, ScanPart, UnitTable, accept_whole, scan_units};
use stapo_store::parts::{Fingerprint, PartHeader, PartReader, PartWriter, place};

/// What to look for in one round: `look-1.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LookFile {
    /// The plan's fingerprint.
    plan: String,
    number: u32,
    round: Round,
}

impl LookFile {
    /// Reads what merge wrote for this plan.
    pub fn read(path: &Path, plan: &ShardPlan) -> Result<Self> {
        let json = place::read(path)?;
        let fault = |fault| Error::Part { path: path.to_owned(), fault };
        let look: Option<Self> = serde_json::from_slice(&json).ok();
        let look = look.filter(|look| look.round.fits()).ok_or_else(|| fault(PartFault::NotALook))?;
        if look.plan != plan.hash() {
            let (found, expected) = (look.plan, plan.hash().to_owned());
            return Err(fault(PartFault::OtherPlan { found, expected }));
        }
        Ok(look)
    }

    fn hash(&self) -> String {
        Fingerprint::of(&serde_json::to_vec(self).unwrap_or_default()).to_string()
    }

    fn kind(&self) -> String {
        format!("look-{}", self.number)
    }

    pub(super) fn part_name(&self, shard: usize) -> String {
        format!("{}-{shard:05}.part", self.kind())
    }

    pub(super) fn header(&self, plan: &ShardPlan, units: Vec<(u32, u32)>) -> PartHeader {
        let of_plan = plan.header(units);
        PartHeader { kind: self.kind(), plan: format!("{}-{}", of_plan.plan, self.hash()), ..of_plan }
    }
}

/// What a look at some units found.
pub struct GatheredLook {
    found: Vec<Found>,
    scan: ScanPart,
}

/// Looks at some units.
pub fn gather_look(
    run: &Run,
    plan: &Plan,
    look: &LookFile,
    units: Range<usize>,
    progress: &dyn Progress,
) -> Result<GatheredLook> {
    let round = &look.round;
    let scanned = scan_units(run, Look::COLUMNS, progress, &[units], || Look::new(plan, round))?;
    let found = merge_found(scanned.sinks.into_iter().map(|sink| sink.found), round);
    Ok(GatheredLook { found, scan: scanned.part })
}

impl GatheredLook {
    /// Writes it.
    pub fn write(&self, out: &mut PartWriter) -> Result<()> {
        self.scan.write(out)?;
        out.state("found", &self.found)
    }

    fn read(input: &mut PartReader, round: &Round) -> Result<Self> {
        let scan = ScanPart::read(input)?;
        let found: Vec<Found> = input.state("found")?;
        input.end()?;
        if found.len() != round.batches() || !found.iter().all(Found::fits) {
            return Err(input.damaged("found"));
        }
        Ok(Self { found, scan })
    }
}

/// The looks of a run in shards, in the folder of its parts.
pub struct LooksInFolder<'a> {
    run: &'a Run,
    shards: &'a ShardPlan,
    folder: PathBuf,
    next: Cell<u32>,
}

impl<'a> LooksInFolder<'a> {
    /// In this folder.
    pub fn new(run: &'a Run, shards: &'a ShardPlan, folder: &Path) -> Self {
        Self { run, shards, folder: folder.to_owned(), next: Cell::new(1) }
    }

    /// Writes what to look for, and says so.
    fn ask(&self, look: &LookFile, path: &Path) -> Result<Vec<Found>> {
        let json = serde_json::to_vec(look).map_err(|e| Error::write(path, e))?;
        place::write(path, &json)?;
        Err(Error::AnotherLook { path: path.to_owned() })
    }
}

impl LookAgain for LooksInFolder<'_> {
    fn look(&self, plan: &Plan, round: &Round) -> Result<Vec<Found>> {
        let number = self.next.replace(self.next.get() + 1);
        let look = LookFile { plan: self.shards.hash().to_owned(), number, round: round.clone() };
        let path = self.folder.join(format!("{}.json", look.kind()));
        let asked = LookFile::read(&path, self.shards).is_ok_and(|known| known.hash() == look.hash());
        if !asked {
            return self.ask(&look, &path);
        }
        let wanted = look.header(self.shards, Vec::new());
        let parts = PartsOfRun::in_folder(&self.folder, &format!("{}-", look.kind()), &wanted, self.shards)?;
        if parts.is_empty() {
            return Err(Error::AnotherLook { path });
        }
        parts.require_all(self.shards, &self.folder)?;
        let (units, _) = UnitTable::new(self.run, &[]);
        let mut all: Option<GatheredLook> = None;
        let mut joined = Look::new(plan, round);
        let mut add = |passed: Passed| accept_whole(&mut joined, passed);
        for part in parts.into_paths() {
            let more = GatheredLook::read(&mut PartReader::open(&part)?, round)?;
            match &mut all {
                None => all = Some(more),
                Some(all) => {
                    all.found = merge_found([std::mem::take(&mut all.found), more.found], round);
                    internal(|| all.scan.join(more.scan, self.run, &units, &mut add))?;
                }
            }
        }
        let Some(GatheredLook { found, scan }) = all else { return Err(Error::AnotherLook { path }) };
        internal(|| scan.close(self.run, &units, &mut add))?;
        Ok(merge_found([found, joined.found], round))
    }
}
