//! A log taken apart into groups, and put together from some of them.

use stapo_analyze::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS};
use stapo_analyze::ingest::{Column, Id, IngestSettings, Layout, Run, TokenBatch, read_all};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// A group of siblings.
pub struct Group {
    pub step: i64,
    pub slice: String,
    /// Of its step and id.
    pub hash: u64,
    /// Where its responses are.
    rows: Vec<(usize, Range<usize>)>,
}

/// A log in memory.
pub struct Pieces {
    run: Run,
    batches: Vec<TokenBatch>,
    /// By step and id.
    pub groups: Vec<Group>,
    /// Ascending.
    pub steps: Vec<i64>,
}

impl Pieces {
    pub fn of(log: &Path) -> Self {
        let settings = IngestSettings::default();
        let run = Run::open(&[log.to_owned()], &settings).unwrap();
        let batches = read_all(&[log.to_owned()], &settings).unwrap();
        let mut groups = BTreeMap::<(i64, Id), Group>::new();
        for (number, batch) in batches.iter().enumerate() {
            let responses = &batch.responses;
            let ids = responses.ids.get(Column::GroupId).expect("groups");
            let sources = responses.texts.get(Column::Source);
            for row in 0..batch.len() {
                let (step, id) = (responses.step[row], &ids[row]);
                let group = groups.entry((step, id.clone())).or_insert_with(|| Group {
                    step,
                    slice: sources.and_then(|sources| sources[row].as_deref()).unwrap_or_default().to_owned(),
                    hash: hash(&format!("{step}/{id}")),
                    rows: Vec::new(),
                });
                match group.rows.last_mut().filter(|(batch, rows)| *batch == number && rows.end == row) {
                    Some((_, rows)) => rows.end = row + 1,
                    None => group.rows.push((number, row..row + 1)),
                }
            }
        }
        let groups: Vec<Group> = groups.into_values().collect();
        let mut steps: Vec<i64> = groups.iter().map(|group| group.step).collect();
        steps.dedup();
        Self { run, batches, groups, steps }
    }

    /// Writes a log of these groups; one that comes again is a group of its own.
    pub fn write(&self, chosen: &[usize], path: &Path) {
        let schema = OutputSchema::of(&self.run, Layout::Nested, false);
        let file = File::create(path).unwrap();
        let mut writer = BatchWriter::new(file, path, schema, &self.run.metadata, ROW_GROUP_TOKENS).unwrap();
        let mut copies = vec![0_i64; self.groups.len()];
        for at in chosen {
            for (number, rows) in &self.groups[*at].rows {
                let mut piece = self.batches[*number].slice(rows.clone());
                let copy = copies[*at];
                if copy > 0 {
                    let ids = piece.responses.ids.get_mut(Column::GroupId).expect("groups");
                    ids.iter_mut().for_each(|id| *id = other(id, copy));
                }
                writer.write(&piece).unwrap();
            }
            copies[*at] += 1;
        }
        writer.finish().unwrap();
    }
}

/// An id that no group has.
fn other(id: &Id, copy: i64) -> Id {
    match id {
        Id::Int(id) => Id::Int(id + (copy << 40)),
        id => Id::Text(format!("{id} #{copy}").into()),
    }
}

/// FNV-1a.
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
