//! Single responses of a log, found by step, group and id, for people to read.
//!
//! The log is streamed once; of the responses that match, the first few in the order of the files
//! are kept, so memory does not grow with the log.

mod response;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

pub use response::{ShownResponse, ShownToken};

use self::response::Ids;
use crate::texts::Tokenizer;
use crate::{Run, scan};
use stapo_base::error::{Error, Result};
use stapo_base::format::grouped;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_batch::sink::Sink;

/// Responses that are shown at most, whatever is asked for.
pub const LARGEST_LIMIT: usize = 1_000;

/// Columns that are read where they are logged; none is needed.
const COLUMNS: &[Column] = &[
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::Reward,
    Column::AdvantageSeq,
    Column::FinishReason,
    Column::Truncated,
    Column::PromptIds,
    Column::PromptText,
    Column::Position,
    Column::TokenId,
    Column::TokenText,
    Column::Logprob,
    Column::Entropy,
    Column::Advantage,
    Column::Mask,
];

/// Which responses are wanted; what is `None` may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Step.
    pub step: Option<i64>,
    /// Group, as logged.
    pub group: Option<String>,
    /// Response id, as logged.
    pub sample: Option<String>,
    /// Responses at most.
    pub limit: usize,
}

impl Selection {
    fn matches(&self, batch: &TokenBatch, i: usize) -> bool {
        let is = |wanted: &Option<String>, column| match wanted {
            None => true,
            Some(text) => batch.ids(column).is_some_and(|ids| is_id(&ids[i], text)),
        };
        self.step.is_none_or(|step| batch.responses.step.get(i) == Some(&step))
            && is(&self.group, Column::GroupId)
            && is(&self.sample, Column::SampleId)
    }
}

fn is_id(id: &Id, text: &str) -> bool {
    match id {
        Id::Missing => false,
        Id::Int(value) => text.parse() == Ok(*value),
        Id::Text(value) => **value == *text,
    }
}

/// The responses that were found.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Responses that match.
    pub matched: u64,
    /// The first of them, in the order of the files.
    pub responses: Vec<ShownResponse>,
}

/// Finds responses.
pub fn show(
    run: &Run,
    selection: &Selection,
    tokenizer: Option<&Path>,
    progress: &dyn Progress,
) -> Result<Shown> {
    let limit = selection.limit.clamp(1, LARGEST_LIMIT);
    let tokenizer = Tokenizer::find(run, tokenizer)?;
    let scanned = scan(run, COLUMNS, progress, || Finder {
        selection,
        limit,
        meant: match run.is_of_texts() && !run.spells_tokens() {
            true => Ids::Characters,
            false => Ids::Tokens(tokenizer.as_ref()),
        },
        matched: 0,
        seen: Seen::default(),
        found: BTreeMap::new(),
    })?;
    let (mut matched, mut seen, mut found) = (0, Seen::default(), BTreeMap::new());
    for finder in scanned.sinks {
        matched += finder.matched;
        seen.merge(finder.seen);
        found.extend(finder.found);
    }
    if matched == 0 {
        return Err(nothing(run, selection, &seen));
    }
    let in_order = found.into_iter().take(limit);
    let responses = in_order.map(|((unit, ordinal), response)| ShownResponse {
        row: scanned.rows.row(unit, ordinal),
        ..response
    });
    Ok(Shown { matched, responses: responses.collect() })
}

/// What there is in the log, for who asked for something else.
#[derive(Default)]
struct Seen {
    responses: u64,
    /// The first and the last.
    steps: Option<(i64, i64)>,
    groups: Option<(Id, Id)>,
    samples: Option<(Id, Id)>,
}

impl Seen {
    fn add(&mut self, batch: &TokenBatch) {
        self.responses += batch.len() as u64;
        batch.responses.step.iter().for_each(|step| widen(&mut self.steps, step));
        for (ends, column) in [(&mut self.groups, Column::GroupId), (&mut self.samples, Column::SampleId)] {
            let logged = batch.ids(column).into_iter().flatten().filter(|id| **id != Id::Missing);
            logged.for_each(|id| widen(ends, id));
        }
    }

    fn merge(&mut self, other: Self) {
        self.responses += other.responses;
        both(other.steps).iter().for_each(|step| widen(&mut self.steps, step));
        both(other.groups).iter().for_each(|id| widen(&mut self.groups, id));
        both(other.samples).iter().for_each(|id| widen(&mut self.samples, id));
    }
}

fn both<T>(ends: Option<(T, T)>) -> Vec<T> {
    ends.map_or_else(Vec::new, |(first, last)| vec![first, last])
}

fn widen<T: Ord + Clone>(ends: &mut Option<(T, T)>, value: &T) {
    match ends {
        None => *ends = Some((value.clone(), value.clone())),
        Some((first, _)) if value < first => *first = value.clone(),
        Some((_, last)) if value > last => *last = value.clone(),
        Some(_) => {}
    }
}

/// `what` from the first to the last, where it was asked for.
fn range<T: std::fmt::Display>(what: &str, asked: bool, ends: Option<&(T, T)>) -> Option<String> {
    ends.filter(|_| asked).map(|(first, last)| format!("{what} {first} … {last}"))
}

fn nothing(run: &Run, selection: &Selection, seen: &Seen) -> Error {
    let absent = [(&selection.group, Column::GroupId), (&selection.sample, Column::SampleId)]
        .into_iter()
        .find(|(wanted, column)| wanted.is_some() && !run.has(*column));
    let hint = match absent {
        Some((_, column)) => {
            format!("the log has no column `{column}`: name one with --map {column}=COLUMN, or leave it out")
        }
        None => {
            let there: Vec<String> = [
                range("steps", selection.step.is_some(), seen.steps.as_ref()),
                range("groups", selection.group.is_some(), seen.groups.as_ref()),
                range("samples", selection.sample.is_some(), seen.samples.as_ref()),
            ]
            .into_iter()
            .flatten()
            .collect();
            let has =
                if there.is_empty() { String::new() } else { format!("the log has {}; ", there.join(", ")) };
            format!("{has}without --step, --group and --sample the first responses are shown, with their ids")
        }
    };
    Error::Usage { message: format!("none of the {} responses is like that", grouped(seen.responses)), hint }
}

/// Keeps the first matching responses that a worker sees.
struct Finder<'a> {
    selection: &'a Selection,
    limit: usize,
    meant: Ids<'a>,
    matched: u64,
    seen: Seen,
    found: BTreeMap<(u32, u64), ShownResponse>,
}

impl Sink for Finder<'_> {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        self.seen.add(batch);
        for i in (0..batch.len()).filter(|i| self.selection.matches(batch, *i)) {
            self.matched += 1;
            let place = (batch.origin.unit, batch.origin.first_response + i as u64);
            let full = self.found.len() >= self.limit;
            if full && self.found.last_key_value().is_some_and(|(last, _)| place > *last) {
                continue;
            }
            self.found.insert(place, ShownResponse::of(batch, i, self.meant));
            if full {
                self.found.pop_last();
            }
        }
        Ok(())
    }
}
