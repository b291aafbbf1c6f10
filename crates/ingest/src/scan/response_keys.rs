//! Which file each response is in, by its ids: the same ids in two files are two runs, whose groups
//! would be mixed; the same ids and values twice in one file are rows that were written twice. Where
//! responses have no ids of their own, the values of groups tell (`copies`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files::run::Run;
use crate::scan::copies::{Copied, GroupCopies, NEVER_TWICE};
use crate::scan::fair_sample::{FairSample, Merge};
use stapo_base::error::{Error, Result};
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;

/// Fewer responses than this twice may be a slip of the logger.
const FEWEST: u64 = 2;
/// Groups with copies of all responses for each with copies of some, where rows were written twice.
const CLEARLY: u64 = 4;

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
    /// How many they are.
    responses: u32,
    /// ln p of the likeliest, no further down than [`NEVER_TWICE`].
    likeliest: f32,
}

impl Seen {
    fn of(file: u32, content: Option<u64>, logprob: f32) -> Self {
        let (copies, least) = (u32::from(content.is_some()), content.unwrap_or(0));
        Self { files: (file, file), least, copies, responses: 1, likeliest: logprob }
    }

    /// Whether several responses have the ids and values that differ.
    fn differ(&self) -> bool {
        self.copies > 0 && self.copies < self.responses
    }

    /// Whether all responses with the ids have the same values, and not by chance.
    fn is_copied(&self) -> bool {
        self.responses > 1 && self.copies == self.responses && self.likeliest < NEVER_TWICE
    }
}

impl Merge for Seen {
    fn merge(&mut self, other: Self) {
        self.files = (self.files.0.min(other.files.0), self.files.1.max(other.files.1));
        self.responses = self.responses.saturating_add(other.responses);
        self.likeliest = self.likeliest.max(other.likeliest);
        if other.least == self.least {
            self.copies = self.copies.saturating_add(other.copies);
        } else if other.least < self.least {
            (self.least, self.copies) = (other.least, other.copies);
        }
    }
}

/// Hashes of step, group and sample with where they were seen.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct ResponseKeys {
    seen: FairSample<Seen>,
    /// Groups whose responses have no ids.
    unnumbered: FairSample<GroupCopies>,
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
        let id = |column: Column, i: usize| batch.ids(column).map_or(&Id::Missing, |ids| &ids[i]);
        let update = batch.responses.ints.get(Column::Update);
        let turns = batch.tokens.ints.get(Column::Turn);
        for i in 0..batch.len() {
            let (group, sample) = (id(Column::GroupId, i), id(Column::SampleId, i));
            // Without groups, numbers of samples begin anew in every file and step.
            let numbered = *sample != Id::Missing && *group != Id::Missing;
            let sample = if numbered { sample } else { &Id::Missing };
            let optional = |value: Option<i64>| value.map_or([0, 0], |value| [1, value.cast_unsigned()]);
            // Turns of one response may be rows of their own.
            let turn = turns.and_then(|turns| turns.get(batch.range(i).start)).map(|turn| i64::from(*turn));
            let words = [optional(update.and_then(|u| u[i])), optional(turn)];
            let key = words.iter().flatten().fold(
                Mixer::new(batch.responses.step[i].cast_unsigned())
                    .with_id(Some(group))
                    .with_id(Some(sample)),
                |mixer, word| mixer.with(*word),
            );
            let (key, file) = (key.word(), batch.origin.file);
            if numbered && self.seen.takes(key) {
                self.seen.add(key, Seen::of(file, content(batch, i), logprob(batch, i)));
            } else if !numbered && self.unnumbered.takes(key) {
                let copies = content(batch, i).map(|values| GroupCopies::of(file, values, logprob(batch, i)));
                copies.into_iter().for_each(|copies| self.unnumbered.add(key, copies));
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

    /// Adds what another scan remembers.
    pub fn merge(&mut self, other: Self) {
        other.run_ids.iter().for_each(|id| self.add_run_id(id));
        self.seen.merge(other.seen);
        self.unnumbered.merge(other.unnumbered);
    }

    /// Gives files other numbers, in the same order.
    pub fn renumber(&mut self, file: impl Fn(u32) -> u32) {
        let seen = self.seen.values_mut().map(|seen| &mut seen.files);
        let files = seen.chain(self.unnumbered.values_mut().map(|group| &mut group.files));
        files.for_each(|files| *files = (file(files.0), file(files.1)));
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
        // Ranks number their samples each for itself: of those of one run only copies are the same.
        let is_rank = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            name.contains("rank")
        };
        let are_ranks = |(a, b): (u32, u32)| {
            let (a, b) = (path(a), path(b));
            a.parent() == b.parent() && is_rank(&a) && is_rank(&b)
        };
        let apart = self.seen.values().filter(|seen| seen.files.0 != seen.files.1);
        let twice = apart.filter(|seen| seen.is_copied() || !are_ranks(seen.files));
        let count = twice.clone().count() as u64;
        if let Some((a, b)) = twice.clone().map(|seen| seen.files).min().filter(|_| count >= FEWEST) {
            let why = match twice.clone().all(Seen::is_copied) {
                true => format!("at least {count} responses of one stand in the other, value by value"),
                false => format!(
                    "at least {count} responses of one have the step, group and sample of one in the other"
                ),
            };
            return Err(Error::SeveralRuns { first: path(a), second: path(b), why });
        }
        let again = self.seen.values().filter(|seen| seen.is_copied() && seen.files.0 == seen.files.1);
        let count = again.clone().count() as u64;
        let differing = self.seen.values().filter(|seen| seen.differ()).count() as u64;
        // Where responses with the same ids mostly differ, these are not ids of responses but of prompts.
        let count = if count >= CLEARLY * differing { count } else { 0 };
        match again.map(|seen| seen.files.0).min().filter(|_| count >= FEWEST) {
            None => self.require_no_copies(path),
            Some(file) => Err(Error::RowsTwice {
                path: path(file),
                responses: self.seen.scaled(count),
                about: !self.seen.is_all(),
            }),
        }
    }

    /// How many responses have the ids of another one and other values, about. 0 where that is so of most ids:
    /// then they are not of responses, but of prompts.
    pub fn repeated(&self) -> u64 {
        let alone = self.seen.values().filter(|seen| seen.responses == 1).count();
        let (ids, responses) = self
            .seen
            .values()
            .filter(|seen| seen.differ())
            .fold((0, 0), |(ids, all), seen| (ids + 1, all + u64::from(seen.responses)));
        if ids as u64 >= FEWEST && ids < alone { self.seen.scaled(responses) } else { 0 }
    }

    /// Fails where groups of responses without ids were written twice.
    fn require_no_copies(&self, path: impl Fn(u32) -> PathBuf) -> Result<()> {
        let copied = |wanted: Copied| self.unnumbered.values().filter(move |group| group.copied() == wanted);
        let (all, some) = (copied(Copied::All).count() as u64, copied(Copied::Some).count() as u64);
        let first = copied(Copied::All).map(|group| group.files).min();
        let Some((a, b)) = first.filter(|_| all >= FEWEST && all >= CLEARLY * some) else { return Ok(()) };
        if a != b {
            let why = format!("every response of {all} groups stands in both, with the same values");
            return Err(Error::SeveralRuns { first: path(a), second: path(b), why });
        }
        let responses = copied(Copied::All).map(|group| group.responses).sum::<u64>() / 2;
        Err(Error::RowsTwice {
            path: path(a),
            responses: self.unnumbered.scaled(responses),
            about: !self.unnumbered.is_all(),
        })
    }
}

/// A hash of a response's length and of its first and last values: responses that were sampled apart differ in
/// a log-probability. `None` where none is read.
fn content(batch: &TokenBatch, response: usize) -> Option<u64> {
    batch.floats(Column::Logprob)?;
    let tokens = batch.range(response);
    let first = tokens.start..tokens.end.min(tokens.start + COMPARED);
    let last = tokens.end.saturating_sub(COMPARED).max(tokens.start)..tokens.end;
    let mut mixer = Mixer::new(tokens.len() as u64);
    for part in [first, last] {
        if let Some(ids) = batch.token_ids() {
            mixer = mixer.with(in_one(ids[part.clone()].iter().map(|id| id.cast_unsigned())));
        }
        for column in [Column::Logprob, Column::LogprobRollout, Column::LogprobNew, Column::Entropy] {
            if let Some(values) = batch.floats(column) {
                mixer = mixer.with(in_one(values[part.clone()].iter().map(|value| value.to_bits())));
            }
        }
    }
    Some(mixer.word())
}

/// Words as one, by their places: a polynomial, since mixing each would wait for the last.
fn in_one(words: impl Iterator<Item = u32>) -> u64 {
    words.fold(0, |sum, word| u64::wrapping_mul(sum, 0x9e37_79b9_7f4a_7c15).wrapping_add(word.into()))
}

/// ln p of a response, by the policy that sampled it where that is logged; not on from where it does not come
/// again by chance.
fn logprob(batch: &TokenBatch, response: usize) -> f32 {
    let values = batch.floats(Column::LogprobRollout).or_else(|| batch.floats(Column::Logprob));
    let mut sum = 0.0;
    for some in values.map_or(&[][..], |values| &values[batch.range(response)]).chunks(COMPARED) {
        sum += some.iter().filter(|v| !v.is_nan()).sum::<f32>();
        if sum < NEVER_TWICE {
            break;
        }
    }
    sum
}
