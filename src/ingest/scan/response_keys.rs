//! Which file each response is in, by its ids: the same ids in two files are two runs, whose groups
//! would be mixed; the same ids and values twice in one file are rows that were written twice.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::error::{Error, Result};
use crate::ingest::batch::{Id, TokenBatch};
use crate::ingest::files::run::Run;
use crate::ingest::schema::columns::Column;

/// Ids that are remembered; beyond it a fair sample is, which does not depend on order.
const MOST: usize = 1 << 14;
/// Fewer responses than this twice may be a slip of the logger.
const FEWEST: u64 = 2;

/// First and last values that responses with the same ids are held against each other by.
const COMPARED: usize = 8;

/// Where responses with the same ids were seen.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Seen {
    /// The least and the largest file.
    files: (u32, u32),
    /// The least hash of their values, and how many of them have it; none where these are not read.
    least: u64,
    copies: u32,
}

impl Seen {
    fn of(file: u32, content: Option<u64>) -> Self {
        let copies = u32::from(content.is_some());
        Self { files: (file, file), least: content.unwrap_or(0), copies }
    }

    fn merge(&mut self, other: Self) {
        self.files = (self.files.0.min(other.files.0), self.files.1.max(other.files.1));
        if other.least == self.least {
            self.copies += other.copies;
        } else if other.least < self.least {
            (self.least, self.copies) = (other.least, other.copies);
        }
    }
}

/// Hashes of step, group and sample with where they were seen.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct ResponseKeys {
    level: u32,
    #[serde(with = "crate::parts::encode::sorted")]
    seen: HashMap<u64, Seen>,
    run_ids: BTreeSet<Box<str>>,
}

impl ResponseKeys {
    /// Remembers the responses of a batch of whole ones.
    pub fn add(&mut self, batch: &TokenBatch, several_files: bool) {
        if let Some(ids) = batch.responses.texts.get(Column::RunId).filter(|_| several_files) {
            for id in ids.iter().flatten() {
                self.add_run_id(id);
            }
        }
        let (Some(groups), Some(samples)) = (batch.ids(Column::GroupId), batch.ids(Column::SampleId)) else {
            return;
        };
        let update = batch.responses.ints.get(Column::Update);
        for (i, (group, sample)) in groups.iter().zip(samples).enumerate() {
            if *group == Id::Missing || *sample == Id::Missing {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            (batch.responses.step[i], update.and_then(|u| u[i]), group, sample).hash(&mut hasher);
            let (key, file) = (hasher.finish(), batch.origin.file);
            if key.trailing_zeros() >= self.level {
                self.insert(key, Seen::of(file, content(batch, i)));
            }
        }
    }

    fn add_run_id(&mut self, id: &str) {
        if !self.run_ids.contains(id) {
            self.run_ids.insert(id.into());
            while self.run_ids.len() > 2 {
                self.run_ids.pop_last();
            }
        }
    }

    fn insert(&mut self, key: u64, seen: Seen) {
        if key.trailing_zeros() < self.level {
            return;
        }
        self.seen.entry(key).and_modify(|known| known.merge(seen)).or_insert(seen);
        while self.seen.len() > MOST {
            self.raise(self.level + 1);
        }
    }

    fn raise(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            self.seen.retain(|key, _| key.trailing_zeros() >= level);
        }
    }

    /// Adds what another scan remembers.
    pub fn merge(&mut self, other: Self) {
        self.raise(other.level);
        other.run_ids.iter().for_each(|id| self.add_run_id(id));
        other.seen.into_iter().for_each(|(key, seen)| self.insert(key, seen));
    }

    /// Gives files other numbers, in the same order.
    pub fn renumber(&mut self, file: impl Fn(u32) -> u32) {
        self.seen.values_mut().for_each(|seen| seen.files = (file(seen.files.0), file(seen.files.1)));
    }

    /// Fails where two files have the same responses under the same ids, or one file has them twice.
    pub fn require_one_run(&self, run: &Run) -> Result<()> {
        let path =
            |file: u32| run.files.get(file as usize).map(|f| f.context.path.clone()).unwrap_or_default();
        if let (Some(first), Some(second)) = (self.run_ids.first(), self.run_ids.iter().nth(1)) {
            return Err(Error::SeveralRuns {
                first: path(0),
                second: path(u32::try_from(run.files.len()).unwrap_or(1).saturating_sub(1)),
                why: format!("their `run_id` is `{first}` and `{second}`"),
            });
        }
        // Ranks number their samples each for itself.
        let is_rank = |file: u32| {
            let name = path(file).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            name.contains("rank")
        };
        let files = self.seen.values().map(|seen| seen.files);
        let twice = files.filter(|(a, b)| a != b && !(is_rank(*a) && is_rank(*b)));
        let count = twice.clone().count() as u64;
        if let Some((a, b)) = twice.min().filter(|_| count >= FEWEST) {
            return Err(Error::SeveralRuns {
                first: path(a),
                second: path(b),
                why: format!("{count} responses of one have the step, group and sample of one in the other"),
            });
        }
        let again = self.seen.values().filter(|seen| seen.copies > 1 && seen.files.0 == seen.files.1);
        let count = again.clone().count() as u64;
        match again.map(|seen| seen.files.0).min().filter(|_| count >= FEWEST) {
            None => Ok(()),
            Some(file) => Err(Error::RowsTwice {
                path: path(file),
                // Of a sample, so many times as many.
                responses: count << self.level,
                about: self.level > 0,
            }),
        }
    }
}

/// A hash of a response's length and of its first and last values: responses that were sampled apart differ in
/// a log-probability. `None` where none is read.
fn content(batch: &TokenBatch, response: usize) -> Option<u64> {
    batch.floats(Column::Logprob)?;
    let tokens = batch.range(response);
    let mut hasher = DefaultHasher::new();
    tokens.len().hash(&mut hasher);
    let (first, last) =
        (tokens.start..tokens.end.min(tokens.start + COMPARED), tokens.end.saturating_sub(COMPARED));
    let compared = || first.clone().chain(last.max(tokens.start)..tokens.end);
    if let Some(ids) = batch.token_ids() {
        compared().for_each(|t| ids[t].hash(&mut hasher));
    }
    for column in [Column::Logprob, Column::LogprobRollout, Column::LogprobNew, Column::Entropy] {
        if let Some(values) = batch.floats(column) {
            compared().for_each(|t| values[t].to_bits().hash(&mut hasher));
        }
    }
    Some(hasher.finish())
}
