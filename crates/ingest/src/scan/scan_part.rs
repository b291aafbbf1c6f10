//! What a scan of some units leaves beside the sinks: counts, what was missing, and the open ends of
//! responses that may go on in units that others read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::files::run::Run;
use crate::normalise::quality::Quality;
use crate::scan::decode::complete;
use crate::scan::passed::Give;
use crate::scan::renumber::Renumber;
use crate::scan::response_keys::ResponseKeys;
use crate::scan::row_index::RowIndex;
use crate::scan::step_filter::{StepFilter, StepsSeen};
use crate::scan::stitch::{Stitcher, Whole};
use crate::scan::unit_table::UnitTable;
use crate::schema::conventions::{Conventions, FirstRows};
use stapo_base::error::Result;
use stapo_batch::batch::TokenBatch;
use stapo_store::parts::{PartReader, PartWriter};

/// What a scan of some units leaves.
#[derive(Default, Serialize, Deserialize)]
pub struct ScanPart {
    /// Missing and bad values.
    quality: Quality,
    /// Responses of each unit.
    counts: BTreeMap<usize, u64>,
    keys: ResponseKeys,
    /// What the rows of each file look like.
    conventions: BTreeMap<usize, FirstRows>,
    stitcher: Stitcher,
    /// The steps that there are, where some were asked for.
    steps: StepsSeen,
}

impl ScanPart {
    pub(super) fn new(
        quality: Quality,
        counts: BTreeMap<usize, u64>,
        keys: ResponseKeys,
        stitcher: Stitcher,
        steps: StepsSeen,
        conventions: impl Iterator<Item = (usize, Arc<Conventions>)>,
    ) -> Self {
        let conventions = conventions.map(|(file, seen)| (file, seen.first_rows())).collect();
        Self { quality, counts, keys, conventions, stitcher, steps }
    }

    /// Whether it is of these units, given in order, and of no others.
    pub fn covers(&self, units: impl Iterator<Item = usize>) -> bool {
        self.counts.keys().copied().eq(units)
    }

    /// The responses that may go on in other units, of those that are asked for, as if they did not.
    pub fn open_ends(&self, run: &Run) -> impl Iterator<Item = TokenBatch> {
        let scope = run.settings.scope();
        let is_asked = move |end: &&TokenBatch| (0..end.len()).all(|i| scope.contains(&end.responses, i));
        let ends = self.stitcher.open_ends().filter(is_asked);
        ends.cloned().map(|mut end| {
            complete(run, &mut end, &mut Quality::default());
            end
        })
    }

    /// Joins the open ends with those of another part; `give` gets responses that are complete.
    pub fn join(&mut self, other: Self, run: &Run, units: &UnitTable, give: &mut Give<'_>) -> Result<()> {
        let Self { quality, counts, keys, conventions, stitcher, steps } = other;
        self.steps.merge(steps);
        self.quality.merge(&quality);
        self.counts.extend(counts);
        self.keys.merge(keys);
        for (file, rows) in conventions {
            self.conventions.entry(file).or_insert(rows).merge(rows);
        }
        let filter = StepFilter::new(run.settings.scope());
        let joined = &mut self.quality;
        let mut pass = |mut batch| {
            complete(run, &mut batch, joined);
            filter.pass(batch, give)
        };
        with_whole(run, units, |whole| self.stitcher.join(stitcher, whole, &mut pass))?;
        self.steps.merge(filter.seen());
        Ok(())
    }

    /// Ends the scan: passes on what is still open, and fails where the files are not of one run.
    pub fn close(mut self, run: &Run, units: &UnitTable, give: &mut Give<'_>) -> Result<(Quality, RowIndex)> {
        let stitcher = std::mem::take(&mut self.stitcher);
        let filter = StepFilter::new(run.settings.scope());
        let joined = &mut self.quality;
        let mut pass = |mut batch| {
            complete(run, &mut batch, joined);
            filter.pass(batch, give)
        };
        let continued = with_whole(run, units, |whole| stitcher.finish(whole, &mut pass))?;
        self.steps.merge(filter.seen());
        self.require_steps(run)?;
        self.require_sound(run)?;
        Ok(self.rows(units, &continued))
    }

    /// The rows of responses, given the units whose first response began before.
    pub(super) fn rows(self, units: &UnitTable, continued: &[usize]) -> (Quality, RowIndex) {
        let counts: Vec<u64> =
            (0..units.count()).map(|unit| self.counts.get(&unit).copied().unwrap_or(0)).collect();
        let mut quality = self.quality.settled();
        quality.repeated_ids = self.keys.repeated();
        (quality, RowIndex::new(&counts, continued))
    }

    pub(super) fn require_steps(&self, run: &Run) -> Result<()> {
        self.steps.require_some(run.settings.steps)
    }

    pub(super) fn require_sound(&self, run: &Run) -> Result<()> {
        for (file, rows) in &self.conventions {
            if let Some(file) = run.files.get(*file) {
                file.context.require_one_convention(rows, run.mapping_of(file))?;
            }
        }
        self.keys.require_one_run(run)
    }

    /// Gives units and files the numbers that they have in another run.
    pub fn renumber(&mut self, numbers: &Renumber) {
        self.quality.renumber(|file| numbers.file(file));
        self.counts = std::mem::take(&mut self.counts)
            .into_iter()
            .map(|(unit, count)| (numbers.unit(unit as u32) as usize, count))
            .collect();
        self.keys.renumber(|file| numbers.file(file));
        self.conventions = std::mem::take(&mut self.conventions)
            .into_iter()
            .map(|(file, rows)| (numbers.file(file as u32) as usize, rows))
            .collect();
        self.stitcher.renumber(numbers);
    }
}

fn with_whole<T>(run: &Run, units: &UnitTable, work: impl FnOnce(&Whole<'_>) -> Result<T>) -> Result<T> {
    let same_file = |a: usize, b: usize| units.same_file(a, b);
    let require_size = |batch: &TokenBatch| run.require_size(batch);
    work(&Whole { same_file: &same_file, require_size: &require_size })
}

/// The open ends need to know the run and a sink: see [`ScanPart::join`].
impl ScanPart {
    /// Writes it as one piece of state; [`Self::read`] gives it back.
    pub fn write(&self, out: &mut PartWriter) -> Result<()> {
        out.state("scan", self)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(input: &mut PartReader) -> Result<Self> {
        input.state("scan")
    }
}
