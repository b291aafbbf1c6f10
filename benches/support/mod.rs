//! What the benchmarks share: logs of any size made from the sample runs, and what a run costs.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use stapo_analyze::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS};
use stapo_analyze::ingest::{Column, Id, IngestSettings, Layout, TokenBatch, read_all};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What every bench takes of a response, …
const OF_RESPONSES: [Column; 5] =
    [Column::Step, Column::GroupId, Column::SampleId, Column::Reward, Column::AdvantageSeq];
/// … and of a token.
const OF_TOKENS: [Column; 4] = [Column::TokenId, Column::Logprob, Column::Entropy, Column::GradNorm];

/// The columns of the sample runs that a bench writes and reads: these, some before those of tokens, some after.
pub fn columns(before: &[Column], after: &[Column]) -> Vec<Column> {
    [&OF_RESPONSES, before, &OF_TOKENS, after].concat()
}

/// A log to be made.
pub struct Enlarged<'a> {
    /// Name of the sample run.
    pub sample: &'a str,
    /// Layout.
    pub layout: Layout,
    /// Columns.
    pub columns: &'a [Column],
    /// Whether the parts of the reward are written, too.
    pub reward_parts: bool,
    /// Tokens, at least.
    pub tokens: u64,
}

impl Enlarged<'_> {
    /// Writes the sample over and over, each time with groups and steps of its own, into
    /// `<sample>.parquet`; says where, and how many tokens it has.
    pub fn write(&self, folder: &Path) -> (PathBuf, u64) {
        let name = format!("{}.parquet", self.sample);
        let (path, data) = (folder.join(&name), Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data"));
        let mut batches = read_all(&[data.join(name)], &IngestSettings::default()).unwrap();
        let columns: Vec<Column> = Column::ALL.iter().copied().filter(|c| self.columns.contains(c)).collect();
        let names = batches.iter().flat_map(|batch| &batch.responses.reward_parts).map(|(name, _)| &**name);
        let names: BTreeSet<String> = names.filter(|_| self.reward_parts).map(str::to_owned).collect();
        let parts: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let schema = OutputSchema::new(self.layout, &columns, &|_| false, &parts);
        let metadata = BTreeMap::from([("vocab_size".to_owned(), "256".to_owned())]);
        let file = File::create(&path).unwrap();
        let mut writer = BatchWriter::new(file, &path, schema, &metadata, ROW_GROUP_TOKENS).unwrap();
        let written = write_over_and_over(&mut batches, &mut writer, self.tokens);
        writer.finish().unwrap();
        (path, written)
    }
}

/// Writes a run until there are so many tokens, each time with groups and steps of its own; says how many
/// there are.
pub fn write_over_and_over(batches: &mut [TokenBatch], writer: &mut BatchWriter<File>, tokens: u64) -> u64 {
    let mut written = 0;
    while written < tokens {
        for batch in &mut *batches {
            writer.write(batch).unwrap();
            written += batch.token_count() as u64;
            for group in batch.responses.ids.get_mut(Column::GroupId).unwrap() {
                if let Id::Int(id) = group {
                    *id += 704;
                }
            }
            batch.responses.step.iter_mut().for_each(|step| *step += 120);
            if let Some(versions) = batch.responses.ints.get_mut(Column::PolicyVersion) {
                versions.iter_mut().flatten().for_each(|version| *version += 120);
            }
        }
    }
    written
}

/// Processor time of this process, from Linux' clock ticks of 10 ms.
pub fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Processor time of the processes that this one has waited for.
pub fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Peak resident memory of this process in MB, where the system tells.
pub fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
