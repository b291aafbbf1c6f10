//! One shard: its units are read, and what was gathered becomes a part.

use std::path::{Path, PathBuf};

use super::look::{LookFile, gather_look};
use super::parts_of_run::part_name;
use super::plan_file::ShardPlan;
use crate::gathered::Gathered;
use stapo_base::error::Result;
use stapo_batch::progress::Progress;
use stapo_ingest::Run;
use stapo_store::parts::{PartHeader, PartReader, PartWriter};

/// A part that is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadePart {
    /// Where it is.
    pub path: PathBuf,
    /// Whether a valid one was there already.
    pub was_there: bool,
}

/// Reads a shard of a plan and writes `part-00000.part` into `folder`; a valid one that is there is
/// left as it is. The same shard gives the same bytes, for any number of threads.
pub fn collect_shard<P: Progress>(
    plan: &ShardPlan,
    shard: usize,
    folder: &Path,
    threads: usize,
    progress: impl FnOnce(&Run) -> P,
) -> Result<MadePart> {
    let units = plan.units_of(shard)?;
    let header = plan.header(vec![(units.start as u32, units.end as u32)]);
    make(folder.join(part_name(shard)), &header, |out| {
        let (run, here) = plan.open(&units, threads)?;
        let mut gathered = Gathered::scan(&run, &here, std::slice::from_ref(&units), &progress(&run))?;
        gathered.settle();
        gathered.write(out)
    })
}

/// Looks at a shard again for what `look` asks, and writes `look-1-00000.part` into `folder`.
pub fn collect_look<P: Progress>(
    plan: &ShardPlan,
    shard: usize,
    look: &LookFile,
    folder: &Path,
    threads: usize,
    progress: impl FnOnce(&Run) -> P,
) -> Result<MadePart> {
    let units = plan.units_of(shard)?;
    let header = look.header(plan, vec![(units.start as u32, units.end as u32)]);
    make(folder.join(look.part_name(shard)), &header, |out| {
        let (run, here) = plan.open(&units, threads)?;
        gather_look(&run, &here, look, units.clone(), &progress(&run))?.write(out)
    })
}

fn make(
    path: PathBuf,
    header: &PartHeader,
    write: impl FnOnce(&mut PartWriter) -> Result<()>,
) -> Result<MadePart> {
    if is_valid(&path, header) {
        return Ok(MadePart { path, was_there: true });
    }
    let mut out = PartWriter::create(&path, header)?;
    write(&mut out)?;
    out.commit()?;
    Ok(MadePart { path, was_there: false })
}

fn is_valid(path: &Path, header: &PartHeader) -> bool {
    PartReader::open(path).is_ok_and(|reader| reader.header == *header && reader.verify().is_ok())
}
