//! A log of any size made from the sample run: a file a step, groups of its own in each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use stapo_analyze::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS};
use stapo_analyze::ingest::{Column, Id, IngestSettings, Layout, TokenBatch, read_all};

use super::arguments::Arguments;
use super::process::{bytes_in, cores, empty};
use super::support::columns;

/// Groups of the sample run.
const GROUPS: i64 = 704;

/// A log that was written.
pub struct Log {
    pub folder: PathBuf,
    pub files: usize,
    pub tokens: u64,
    pub bytes: f64,
}

impl Log {
    pub fn file(&self, number: usize) -> PathBuf {
        self.folder.join(format!("step-{number:05}.parquet"))
    }
}

pub fn write(folder: &Path, arguments: &Arguments, files: usize) -> Log {
    let sample = read_all(std::slice::from_ref(&arguments.sample), &IngestSettings::default()).unwrap();
    let log = Log { folder: empty(folder).to_owned(), files, tokens: 0, bytes: 0.0 };
    let (next, tokens) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..cores() {
            scope.spawn(|| {
                let mut batches = sample.clone();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= files {
                        break;
                    }
                    let written = write_file(&log.file(number), number, &mut batches, arguments.tokens);
                    tokens.fetch_add(written, Ordering::Relaxed);
                }
            });
        }
    });
    Log { tokens: tokens.into_inner(), bytes: bytes_in(folder, "parquet"), ..log }
}

/// The sample over and over, as one step.
fn write_file(path: &Path, number: usize, batches: &mut [TokenBatch], tokens: u64) -> u64 {
    let schema =
        OutputSchema::new(Layout::Long, &columns(&[Column::Position], &[]), &|_| false, &BTreeSet::new());
    let metadata = BTreeMap::from([("vocab_size".to_owned(), "256".to_owned())]);
    let file = File::create(path).unwrap();
    let mut writer = BatchWriter::new(file, path, schema, &metadata, ROW_GROUP_TOKENS / 4).unwrap();
    let (mut written, mut copy) = (0, 0);
    while written < tokens {
        for batch in &mut *batches {
            batch.responses.step.iter_mut().for_each(|step| *step = number as i64);
            for group in batch.responses.ids.get_mut(Column::GroupId).unwrap() {
                if let Id::Int(id) = group {
                    *id = *id % GROUPS + (number as i64 * 1_000 + copy) * GROUPS;
                }
            }
            if written < tokens {
                writer.write(batch).unwrap();
                written += batch.token_count() as u64;
            }
        }
        copy += 1;
    }
    writer.finish().unwrap();
    written
}
