//! The plan of an analysis in shards: everything that is decided before tokens are read.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::producer::producer;
use crate::plan::{KnownVocabulary, Plan, Purpose};
use stapo_base::error::{Error, PartFault, Result};
use stapo_ingest::training::of_training;
use stapo_ingest::{ALL_UNITS, PlannedRun, Run, UnitTable};
use stapo_result::settings::AnalyzeSettings;
use stapo_store::parts::{FORMAT, Fingerprint, PartHeader, Producer, place};

/// A plan: the run as it was understood, resolved settings, and which units each shard reads.
#[derive(Clone, Debug)]
pub struct ShardPlan {
    document: Document,
    /// Its fingerprint: parts name it.
    hash: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Document {
    format: u32,
    producer: Producer,
    purpose: Purpose,
    settings: AnalyzeSettings,
    vocabulary: KnownVocabulary,
    run: PlannedRun,
    /// First unit and the one behind the last, of each shard.
    shards: Vec<(usize, usize)>,
}

impl ShardPlan {
    /// Plans the analysis of a run in shards of about `shard_tokens` tokens. Shards are cut between
    /// scan units, which may be inside of files and of responses.
    pub fn new(run: &Run, settings: &AnalyzeSettings, purpose: Purpose, shard_tokens: u64) -> Result<Self> {
        run.refuse_annotated("a plan")?;
        let run = &*of_training(run)?;
        let plan = Plan::new(run, settings, purpose)?;
        let vocabulary = KnownVocabulary {
            size: plan.vocab_size,
            source: plan.vocab_source,
            texts: plan.tokenizer.is_some(),
        };
        let mut shards = Vec::new();
        let (mut first, mut tokens) = (0, 0);
        let (_, units) = UnitTable::new(run, ALL_UNITS);
        for (number, unit) in &units {
            tokens += unit.tokens;
            if tokens >= shard_tokens {
                shards.push((first, number + 1));
                (first, tokens) = (number + 1, 0);
            }
        }
        if first < units.len() || shards.is_empty() {
            shards.push((first, units.len()));
        }
        Ok(Self::of(Document {
            format: FORMAT,
            producer: producer(&plan),
            purpose,
            settings: settings.clone(),
            vocabulary,
            run: PlannedRun::of(run),
            shards,
        }))
    }

    fn of(document: Document) -> Self {
        let json = serde_json::to_vec(&document).unwrap_or_default();
        Self { hash: Fingerprint::of(&json).to_string(), document }
    }

    /// Writes it as JSON.
    pub fn write(&self, path: &Path) -> Result<()> {
        let json = serde_json::to_vec_pretty(&self.document).map_err(|e| Error::write(path, e))?;
        place::write(path, &json)
    }

    /// Reads what was written; fails where another program or machine made it.
    pub fn read(path: &Path) -> Result<Self> {
        let json = place::read(path)?;
        Self::parse(&json, path)
    }

    fn parse(json: &[u8], path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let fault = |fault| Error::Part { path: path.to_owned(), fault };
        let Format { format } = serde_json::from_slice(json).map_err(|_| fault(PartFault::NotAPlan))?;
        if format != FORMAT {
            return Err(fault(PartFault::OtherFormat { found: format, expected: FORMAT }));
        }
        let document: Document = serde_json::from_slice(json).map_err(|_| fault(PartFault::NotAPlan))?;
        let plan = Self::of(document);
        let (_, here) = plan.open(&(0..0), 0)?;
        plan.document.producer.require(path, &producer(&here))?;
        Ok(plan)
    }

    /// The plan that is inside of a merged part.
    pub(super) fn embedded(header: &PartHeader, path: &Path) -> Result<Self> {
        let fault = PartFault::NotMerged;
        let json = header.document.as_deref().ok_or(Error::Part { path: path.to_owned(), fault })?;
        let plan = Self::parse(json.as_bytes(), path)?;
        header.require(path, &plan.header(header.units.clone()))?;
        Ok(plan)
    }

    /// As it is put into a merged part.
    pub(super) fn json(&self) -> Option<String> {
        serde_json::to_string(&self.document).ok()
    }

    /// The number of shards.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.document.shards.len()
    }

    /// Its fingerprint.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What the analysis is for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.document.purpose
    }

    /// What the user asked for.
    pub(super) fn settings(&self) -> &AnalyzeSettings {
        &self.document.settings
    }

    /// The number of scan units of the run.
    pub(super) fn units(&self) -> usize {
        self.document.run.units()
    }

    /// The units of a shard.
    pub(super) fn units_of(&self, shard: usize) -> Result<Range<usize>> {
        let (first, end) = *self.document.shards.get(shard).ok_or_else(|| Error::Usage {
            message: format!("the plan has no shard {shard}"),
            hint: format!("shards count from 0; the last is {}", self.shards().saturating_sub(1)),
        })?;
        Ok(first..end)
    }

    /// The run with the files opened that hold `units`, and the resolved settings.
    pub(super) fn open(&self, units: &Range<usize>, threads: usize) -> Result<(Run, Plan)> {
        let run = self.document.run.open(units, threads)?;
        let plan =
            Plan::resolve(&run, &self.document.settings, self.document.purpose, &self.document.vocabulary)?;
        Ok((run, plan))
    }

    /// The header of a part that covers `units`.
    pub(super) fn header(&self, units: Vec<(u32, u32)>) -> PartHeader {
        PartHeader {
            kind: "state".into(),
            producer: self.document.producer.clone(),
            plan: self.hash.clone(),
            units,
            files: Vec::new(),
            beside: Default::default(),
            document: None,
        }
    }
}
