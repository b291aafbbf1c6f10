//! The tokens of an arm as a canonical log, which the analyzer and the comparison read.
//!
//! Written a step at a time into parts, so that an arm that is killed loses at most a step; the
//! parts become one file at the arm's end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use arrow_buffer::ScalarBuffer;

use super::log::LoggedResponse;
use super::model::TokenStats;
use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;
use stapo_batch::batch::{Id, Origin, ResponseColumns, TokenBatch, TokenColumns};
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;
use stapo_ingest::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS, convert};
use stapo_ingest::{IngestSettings, Layout, Run};

/// Columns of the log.
const COLUMNS: &[Column] = &[
    Column::Step,
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::Reward,
    Column::PromptIds,
    Column::TokenId,
    Column::Logprob,
    Column::Entropy,
    Column::Advantage,
    Column::Mask,
    Column::Clipped,
    Column::GradNorm,
    Column::SumPiSq,
    Column::SumPiSqLogPi,
    Column::LogprobAfter,
    Column::EntropyAfter,
];

/// A response as an arm saw it.
pub struct TrainedResponse {
    /// Its index in the step.
    pub index: usize,
    /// Mini-batch of the step.
    pub minibatch: u64,
    /// Before its first update.
    pub before: TokenStats,
    /// After it.
    pub after: TokenStats,
    /// Norm of each token's gradient with respect to the logits, with w = ρA.
    pub grad_norm: Vec<f32>,
    /// Whether clipping bounds a token.
    pub clipped: Vec<bool>,
}

/// Parts of one arm's log.
pub struct TokenLog {
    folder: PathBuf,
    metadata: BTreeMap<String, String>,
    text_ids: Vec<Column>,
}

impl TokenLog {
    /// Parts go into `folder`; the ids of `text_ids` are texts in each of them.
    pub fn new(folder: PathBuf, metadata: BTreeMap<String, String>, text_ids: Vec<Column>) -> Self {
        Self { folder, metadata, text_ids }
    }

    /// Writes the part of one step; `number` orders the parts.
    pub fn write(&self, number: usize, all: &[LoggedResponse], mut rows: Vec<TrainedResponse>) -> Result<()> {
        rows.sort_by_key(|row| row.index);
        let path = self.folder.join(format!("{number:08}.parquet"));
        let mut file = AtomicFile::create(&path)?;
        let texts = |column: Column| self.text_ids.contains(&column);
        let schema = OutputSchema::new(Layout::Nested, COLUMNS, &texts, &BTreeSet::new());
        let mut writer = BatchWriter::new(&mut file, &path, schema, &self.metadata, ROW_GROUP_TOKENS)?;
        writer.write(&batch(all, &rows))?;
        writer.finish()?;
        file.commit()
    }

    /// Joins the parts below `parts` into `target`, and says how many tokens it has.
    pub fn join(&self, parts: usize, target: &Path) -> Result<()> {
        let paths: Vec<PathBuf> =
            (0..parts).map(|n| self.folder.join(format!("{n:08}.parquet"))).filter(|p| p.exists()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let run = Run::open(&paths, &IngestSettings { threads: 1, ..IngestSettings::default() })?;
        convert(&run, target, Layout::Nested, &Silent).map(|_| ())
    }

    /// Removes the parts.
    pub fn clear(&self) -> Result<()> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(&self.folder, e)),
            _ => Ok(()),
        }
    }
}

fn batch(all: &[LoggedResponse], rows: &[TrainedResponse]) -> TokenBatch {
    let of = |row: &TrainedResponse| &all[row.index];
    let mut offsets = vec![0];
    for row in rows {
        offsets.push(offsets.last().copied().unwrap_or(0) + row.before.len());
    }
    let mut responses =
        ResponseColumns { step: rows.iter().map(|r| of(r).step).collect(), ..ResponseColumns::default() };
    responses.ints.set(Column::Update, rows.iter().map(|r| i64::try_from(r.minibatch).ok()).collect());
    responses.ids.set(Column::GroupId, rows.iter().map(|r| of(r).group.clone()).collect());
    responses.ids.set(Column::SampleId, rows.iter().map(|r| sample_id(of(r))).collect());
    responses.floats.set(Column::Reward, rows.iter().map(|r| of(r).reward).collect());
    let prompt = |r: &TrainedResponse| {
        let ids = &of(r).tokens[..of(r).response_start];
        Some(ids.iter().map(|id| id.cast_signed()).collect::<Vec<i32>>().into())
    };
    responses.prompt_ids = Some(rows.iter().map(prompt).collect());

    let floats = |value: &dyn Fn(&TrainedResponse) -> Vec<f32>| -> ScalarBuffer<f32> {
        rows.iter().flat_map(value).collect::<Vec<f32>>().into()
    };
    let doubles = |value: fn(&TokenStats) -> &[f32]| -> ScalarBuffer<f64> {
        rows.iter().flat_map(|r| value(&r.before)).map(|v| f64::from(*v)).collect::<Vec<f64>>().into()
    };
    let flags = |value: &dyn Fn(&TrainedResponse) -> Vec<bool>| -> ScalarBuffer<u8> {
        rows.iter().flat_map(value).map(u8::from).collect::<Vec<u8>>().into()
    };
    let mut tokens = TokenColumns::default();
    let ids = rows.iter().flat_map(|r| &of(r).tokens[of(r).response_start..]).map(|id| id.cast_signed());
    tokens.ints.set(Column::TokenId, ids.collect::<Vec<i32>>().into());
    tokens.floats.set(Column::Logprob, floats(&|r| r.before.logprob.clone()));
    tokens.floats.set(Column::Entropy, floats(&|r| r.before.entropy.clone()));
    tokens.floats.set(Column::Advantage, floats(&|r| of(r).advantage.clone()));
    tokens.floats.set(Column::GradNorm, floats(&|r| r.grad_norm.clone()));
    tokens.floats.set(Column::LogprobAfter, floats(&|r| r.after.logprob.clone()));
    tokens.floats.set(Column::EntropyAfter, floats(&|r| r.after.entropy.clone()));
    tokens.doubles.set(Column::SumPiSq, doubles(|s| &s.sum_pi_sq));
    tokens.doubles.set(Column::SumPiSqLogPi, doubles(|s| &s.sum_pi_sq_log_pi));
    tokens.flags.set(Column::Mask, flags(&|r| of(r).trained.clone()));
    tokens.flags.set(Column::Clipped, flags(&|r| r.clipped.clone()));
    TokenBatch { origin: Origin::default(), offsets, responses, tokens }
}

/// Without an id of its own, a response is known by its place in the log.
fn sample_id(response: &LoggedResponse) -> Id {
    match &response.sample {
        Id::Missing => Id::Int(i64::try_from(response.ordinal).unwrap_or(i64::MAX)),
        sample => sample.clone(),
    }
}
