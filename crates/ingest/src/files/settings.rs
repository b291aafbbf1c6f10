//! What the user can say about reading a log.

use std::path::PathBuf;

use crate::schema::alignment::ListAlignment;
use crate::schema::user_map::UserMap;
use crate::scope::Scope;
use crate::step_range::StepRange;
use stapo_batch::limits::Limits;

/// How a log is read.
#[derive(Clone, Debug, Default)]
pub struct IngestSettings {
    /// `--map canonical=column`.
    pub map: UserMap,
    /// `--align`, where the convention should not be recognised.
    pub alignment: Option<ListAlignment>,
    /// Entropies are logged in bits.
    pub entropy_in_bits: bool,
    /// Worker threads; 0 is one a core.
    pub threads: usize,
    /// What reading may take.
    pub limits: Limits,
    /// Take files of different runs as one.
    pub pool: bool,
    /// The steps to read; all where none are named.
    pub steps: Option<StepRange>,
    /// Leave out responses of evaluation, by `split`. An analysis decides on it by itself.
    pub training_only: bool,
    /// The run goes on: what is not complete yet is left out and said, not refused.
    pub growing: bool,
    /// Spells logged texts in tokens: a `tokenizer.json`, or the folder it is in. Without it their characters are counted.
    pub tokenizer: Option<PathBuf>,
    /// Logs all of whose rows are of evaluation: verl's `validation_data_dir`.
    pub held_out: Vec<PathBuf>,
    /// Tokens of a scan unit at least, which one worker reads at a time; 0 is what is fast.
    pub unit_tokens: u64,
}

impl IngestSettings {
    /// Which responses are read.
    pub(crate) fn scope(&self) -> Scope {
        Scope { steps: self.steps, training_only: self.training_only }
    }

    /// The number of worker threads to use.
    pub fn worker_count(&self) -> usize {
        let wanted = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        wanted.min(self.limits.workers())
    }
}
