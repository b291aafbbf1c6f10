//! Which file each response is in, by its ids: the same ids in two files are two runs, whose groups
//! would be mixed.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::error::{Error, Result};
use crate::ingest::batch::{Id, TokenBatch};
use crate::ingest::files::run::Run;
use crate::ingest::schema::columns::Column;

/// Ids that are remembered; beyond it a fair sample is, which does not depend on order.
const MOST: usize = 1 << 16;
/// Fewer responses than this in two files may be a slip of the logger.
const FEWEST: u64 = 2;

/// Hashes of step, group and sample with the least and the largest file they were seen in.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct ResponseKeys {
    level: u32,
    #[serde(with = "crate::parts::encode::sorted")]
    seen: HashMap<u64, (u32, u32)>,
    run_ids: BTreeSet<Box<str>>,
}

impl ResponseKeys {
    /// Remembers the responses of a batch of whole ones.
    pub fn add(&mut self, batch: &TokenBatch) {
        if let Some(ids) = batch.responses.texts.get(Column::RunId) {
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
            let file = batch.origin.file;
            self.insert(hasher.finish(), (file, file));
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

    fn insert(&mut self, key: u64, seen: (u32, u32)) {
        if key.trailing_zeros() < self.level {
            return;
        }
        let files = self.seen.entry(key).or_insert(seen);
        *files = (files.0.min(seen.0), files.1.max(seen.1));
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
        other.seen.into_iter().for_each(|(key, files)| self.insert(key, files));
    }

    /// Gives files other numbers, in the same order.
    pub fn renumber(&mut self, file: impl Fn(u32) -> u32) {
        self.seen.values_mut().for_each(|files| *files = (file(files.0), file(files.1)));
    }

    /// Fails where two files have the same responses under the same ids.
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
        let twice = self.seen.values().filter(|(a, b)| a != b && !(is_rank(*a) && is_rank(*b)));
        let count = twice.clone().count() as u64;
        match twice.min() {
            Some((a, b)) if count >= FEWEST => Err(Error::SeveralRuns {
                first: path(*a),
                second: path(*b),
                why: format!("{count} responses of one have the step, group and sample of one in the other"),
            }),
            _ => Ok(()),
        }
    }
}
