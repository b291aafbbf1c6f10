//! Parts become the result of the run, or a bigger part.

use std::path::{Path, PathBuf};

use super::look::LooksInFolder;
use super::parts_of_run::PartsOfRun;
use super::plan_file::ShardPlan;
use crate::collect::Collected;
use crate::finish::Scan;
use crate::gathered::Gathered;
use crate::pass;
use crate::plan::{Plan, Purpose};
use stapo_base::error::{Error, Result};
use stapo_ingest::texts::Tokenizer;
use stapo_ingest::{Run, StepRange, UnitTable};
use stapo_result::settings::AnalyzeSettings;
use stapo_store::parts::{PartHeader, PartReader, PartWriter, place};

/// Merged parts of a run.
pub struct MergedParts {
    shards: ShardPlan,
    run: Run,
    plan: Plan,
    gathered: Gathered,
    units: Vec<(u32, u32)>,
    /// Where the parts are, and looks are kept.
    folder: PathBuf,
    /// Whether all shards are in.
    complete: Result<()>,
}

impl MergedParts {
    /// Merges the parts behind `inputs` (files, or folders with `part-*.part`), in any order. Fails, by
    /// name, where one is damaged, of another plan, or covers what another covers.
    pub fn read(shards: &ShardPlan, inputs: &[PathBuf]) -> Result<Self> {
        let parts = PartsOfRun::find(inputs, &shards.header(Vec::new()), shards)?;
        let folder = match inputs.first() {
            Some(first) if place::is_folder(first) => first.clone(),
            Some(first) => parent(first),
            None => PathBuf::from("."),
        };
        if parts.is_empty() {
            parts.require_all(shards, &folder)?;
        }
        let (run, plan) = shards.open(&(0..0), 0)?;
        let (table, _) = UnitTable::new(&run, &[]);
        let mut all: Option<Gathered> = None;
        for (path, units) in parts.iter() {
            let mut reader = PartReader::open(path)?;
            let gathered = Gathered::read(&mut reader, &plan, None)?;
            reader.end()?;
            if !gathered.is_of(units.iter().cloned().flatten()) {
                return Err(reader.damaged("units"));
            }
            match &mut all {
                None => all = Some(gathered),
                Some(all) => all.join(gathered, &run, &table, &plan)?,
            }
        }
        let nothing = || Error::Internal { message: "no part was read".into() };
        Ok(Self {
            complete: parts.require_all_given(shards, &folder),
            units: parts.units(),
            shards: shards.clone(),
            run,
            plan,
            gathered: all.ok_or_else(nothing)?,
            folder,
        })
    }

    /// A merged part, with the plan that is inside of it.
    pub fn open(path: &Path) -> Result<Self> {
        let shards = ShardPlan::embedded(&PartReader::open(path)?.header, path)?;
        Self::read(&shards, &[path.to_owned()])
    }

    /// Writes a bigger part, which has the plan inside; it need not cover all shards.
    pub fn write(mut self, path: &Path) -> Result<()> {
        let header = PartHeader { document: self.shards.json(), ..self.shards.header(self.units) };
        self.gathered.settle();
        let mut out = PartWriter::create(path, &header)?;
        self.gathered.write(&mut out)?;
        out.commit()
    }

    /// The run, whose files were read elsewhere.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Fails where the parts were collected with other settings than `settings` or of other steps: runs
    /// that are compared need the same.
    pub fn require_settings(&self, settings: &AnalyzeSettings, steps: Option<StepRange>) -> Result<()> {
        let mine = self.shards.settings();
        let differs = [
            ("mask or unit of thresholds", (mine.s2t, mine.per) != (settings.s2t, settings.per)),
            ("temperature", mine.temperature != settings.temperature),
            ("clipping", mine.clip != settings.clip),
            ("vocabulary", mine.vocab_size != settings.vocab_size),
            ("condition of --pass", mine.pass != settings.pass),
            ("range of steps", self.run.settings.steps != steps),
        ];
        let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) else { return Ok(()) };
        Err(Error::Usage {
            message: format!("a merged part was collected with another {what} than the comparison is asked for"),
            hint: "give compare the options (--preset, --tau-p, --per, --temperature, --pass, --steps, …) that plan was given".into(),
        })
    }

    /// Hands on what was collected of the whole run, if it was collected for this purpose. Fails with
    /// [`Error::AnotherLook`] where shards have to look again first, and where a shard is missing.
    pub fn finish<T>(
        self,
        purpose: Purpose,
        finish: impl FnOnce(Scan<'_>, Plan, Collected) -> Result<T>,
    ) -> Result<T> {
        let Self { shards, run, plan, gathered, folder, complete, .. } = self;
        if shards.purpose() != purpose {
            return Err(wrong_purpose(purpose));
        }
        complete?;
        let look = LooksInFolder::new(&run, &shards, &folder);
        let settings = shards.settings();
        let (scan, collected) = pass::close(&run, settings, &plan, &look, gathered)?;
        let tokenizer = Tokenizer::find(&run, settings.tokenizer.as_deref())?;
        finish(scan, Plan { tokenizer, ..plan }, collected)
    }
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn wrong_purpose(wanted: Purpose) -> Error {
    let (message, hint) = match wanted {
        Purpose::Report => (
            "the plan is for a comparison: it holds no report",
            "write a merged part with -o and compare it, or make the plan without --for-compare",
        ),
        Purpose::Comparison => (
            "the part is of a run's own report: it holds no sums by group",
            "make the plan with --for-compare, and collect and merge with it",
        ),
    };
    Error::Usage { message: message.into(), hint: hint.into() }
}
