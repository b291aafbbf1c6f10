//! A run as a plan knows it: what was found out about its files, so that others need not open them
//! all.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::file_context::FileContext;
use crate::files::container::Container;
use crate::files::discover::{LogFile, Skipped};
use crate::files::opened::{Source, open};
use crate::files::run::{Run, RunFile};
use crate::files::settings::IngestSettings;
use crate::scan::unit_table::UnitTable;
use crate::schema::alignment::AlignmentRule;
use crate::schema::dialect::Dialect;
use crate::schema::mapping::{Layout, Mapped, Mapping, OtherColumn, RawSource, Reason, Transform};
use crate::schema::user_map::UserMap;
use crate::scope::Scope;
use crate::step_range::StepRange;
use crate::storage::identity::FileIdentity;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;
use stapo_batch::limits::Limits;

/// A run that was opened and understood once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedRun {
    pool: bool,
    max_memory: Option<u64>,
    /// What the user said with `--map`: what was left out, or named.
    map: Vec<(Column, Option<(String, Transform)>)>,
    unit_tokens: u64,
    steps: Option<StepRange>,
    training_only: bool,
    files: Vec<PlannedFile>,
    mappings: Vec<PlannedMapping>,
    skipped: Vec<Skipped>,
    metadata: BTreeMap<String, String>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedFile {
    path: PathBuf,
    container: Container,
    identity: FileIdentity,
    step: Option<i64>,
    alignment: AlignmentRule,
    entropy_in_bits: bool,
    mapping: usize,
    units: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedMapping {
    layout: Layout,
    dialect: Dialect,
    columns: Vec<PlannedColumn>,
    reward_parts: Vec<(String, String)>,
    others: Vec<OtherColumn>,
    unused: Vec<String>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedColumn {
    column: Column,
    /// Name, what is done to the values, whether they are texts.
    sources: Vec<(String, Transform, bool)>,
    reason: Reason,
}

impl From<&Mapping> for PlannedMapping {
    fn from(mapping: &Mapping) -> Self {
        let column = |mapped: &Mapped| PlannedColumn {
            column: mapped.column,
            sources: mapped.sources.iter().map(|s| (s.name.clone(), s.transform, s.text)).collect(),
            reason: mapped.reason,
        };
        let Mapping { layout, dialect, columns, reward_parts, others, unused, notes } = mapping;
        Self {
            layout: *layout,
            dialect: *dialect,
            columns: columns.iter().map(column).collect(),
            reward_parts: reward_parts.clone(),
            others: others.clone(),
            unused: unused.clone(),
            notes: notes.clone(),
        }
    }
}

impl From<&PlannedMapping> for Mapping {
    fn from(planned: &PlannedMapping) -> Self {
        let source = |(name, transform, text): &(String, Transform, bool)| RawSource {
            name: name.clone(),
            transform: *transform,
            text: *text,
        };
        let column = |planned: &PlannedColumn| Mapped {
            column: planned.column,
            sources: planned.sources.iter().map(source).collect(),
            reason: planned.reason,
        };
        Self {
            layout: planned.layout,
            dialect: planned.dialect,
            columns: planned.columns.iter().map(column).collect(),
            reward_parts: planned.reward_parts.clone(),
            others: planned.others.clone(),
            unused: planned.unused.clone(),
            notes: planned.notes.clone(),
        }
    }
}

impl PlannedRun {
    /// What is known of an opened run.
    pub fn of(run: &Run) -> Self {
        let (units, _) = UnitTable::new(run, &[]);
        let file = |(number, file): (usize, &RunFile)| PlannedFile {
            path: file.context.path.clone(),
            container: match file.source {
                Source::Json => Container::Json,
                _ => Container::Parquet,
            },
            identity: file.identity.clone(),
            step: file.context.step,
            alignment: file.context.alignment,
            entropy_in_bits: file.context.entropy_in_bits,
            mapping: file.mapping,
            units: units.of_file(number).len(),
        };
        Self {
            pool: run.settings.pool,
            max_memory: run.settings.limits.said(),
            map: run.settings.map.entries().collect(),
            unit_tokens: run.settings.unit_tokens,
            steps: run.settings.steps,
            training_only: run.settings.training_only,
            files: run.files.iter().enumerate().map(file).collect(),
            mappings: run.mappings.iter().map(Into::into).collect(),
            skipped: run.skipped.clone(),
            metadata: run.metadata.clone(),
            notes: run.notes.clone(),
        }
    }

    /// The run, with the files opened that hold `units`; fails where one of them is another by now.
    pub fn open(&self, units: &Range<usize>, threads: usize) -> Result<Run> {
        let limits = Limits::of(self.max_memory);
        let map = UserMap::of(self.map.iter().cloned());
        let scope = Scope { steps: self.steps, training_only: self.training_only };
        let mut files = Vec::with_capacity(self.files.len());
        let mut next = 0;
        for (number, planned) in self.files.iter().enumerate() {
            let of_file = next..next + planned.units;
            next = of_file.end;
            let wanted = of_file.start < units.end && units.start < of_file.end;
            let (stored, source, identity) = match wanted {
                true => planned.open(limits, &map)?,
                false => {
                    let stored = Stored::on_disk(&planned.path);
                    (stored, Source::Elsewhere { units: planned.units }, planned.identity.clone())
                }
            };
            files.push(planned.file(number, scope, (stored, source, identity)));
        }
        let settings = IngestSettings {
            map,
            pool: self.pool,
            unit_tokens: self.unit_tokens,
            steps: self.steps,
            training_only: self.training_only,
            threads,
            limits,
            ..IngestSettings::default()
        };
        let run = Run {
            files,
            mappings: self.mappings.iter().map(Into::into).collect(),
            skipped: self.skipped.clone(),
            metadata: self.metadata.clone(),
            notes: self.notes.clone(),
            settings,
        };
        // A file whose units are others than planned would be read twice or not at all.
        let (table, _) = UnitTable::new(&run, &[]);
        for (number, planned) in self.files.iter().enumerate() {
            if table.of_file(number).len() != planned.units || planned.mapping >= run.mappings.len() {
                return Err(Error::ChangedSincePlan { path: planned.path.clone() });
            }
        }
        Ok(run)
    }

    /// The number of scan units.
    pub fn units(&self) -> usize {
        self.files.iter().map(|file| file.units).sum()
    }
}

impl PlannedFile {
    fn open(&self, limits: Limits, map: &UserMap) -> Result<(Stored, Source, FileIdentity)> {
        let stored = Stored::at(&self.path)?;
        // What lies beside a file is refused when a run is planned.
        let log = LogFile { stored, container: self.container, step: self.step, annotations: None };
        let opened = open(log, limits, map)?;
        match opened.identity.is_content_of(&self.identity) {
            true => Ok((opened.log.stored, opened.source, opened.identity)),
            false => Err(Error::ChangedSincePlan { path: self.path.clone() }),
        }
    }

    fn file(
        &self,
        number: usize,
        scope: Scope,
        (stored, source, identity): (Stored, Source, FileIdentity),
    ) -> RunFile {
        RunFile {
            context: FileContext {
                path: self.path.clone(),
                file: number as u32,
                step: self.step,
                alignment: self.alignment,
                entropy_in_bits: self.entropy_in_bits,
                scope,
                speller: Default::default(),
                held_out: false,
                conventions: Default::default(),
            },
            stored,
            annotations: None,
            source,
            mapping: self.mapping,
            bytes: self.identity.bytes,
            identity,
        }
    }
}
