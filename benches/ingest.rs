//! Decode throughput of the token stream beside the bare `parquet` crate on the same file, and its
//! peak memory. Both layouts, same columns, same threads, runs alternate.
//!
//!     cargo bench --bench ingest                    # 2 M tokens
//!     cargo bench --bench ingest -- 2 20 200        # millions of tokens
//!
//! Files are made from notebooks-data/grpo.parquet in a temporary folder (200 M tokens take 5 GB).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

mod support;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use stapo_analyze::Result;
use stapo_analyze::ingest::{
    BATCH_TOKENS, Column, IngestSettings, Layout, Run, Silent, Sink, TokenBatch, scan,
};
use support::{Enlarged, columns, peak_megabytes};

const RUNS: usize = 5;

struct Counter(u64);

impl Sink for Counter {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        self.0 += batch.token_count() as u64;
        Ok(())
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    // One pass in a process of its own: for the peak memory, and for profilers.
    match &arguments[..] {
        [flag, path] if flag == "--stream" => {
            stream(Path::new(path));
            println!("{}", peak_megabytes());
            return;
        }
        [flag, path] if flag == "--bare-long" => {
            bare_decode(Path::new(path), Layout::Long, threads());
            println!("{}", peak_megabytes());
            return;
        }
        _ => {}
    }
    let sizes: Vec<f64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![2.0] } else { sizes };
    let folder = tempfile::tempdir().unwrap();
    let threads = threads();
    println!("{threads} threads; the best of {RUNS} alternating runs");
    println!(
        "| layout | tokens | file MB | parquet crate M tokens/s | token stream M tokens/s | ratio of times | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for millions in sizes {
        for layout in [Layout::Nested, Layout::Long] {
            let position = (layout == Layout::Long).then_some(Column::Position);
            let columns: Vec<Column> = columns(&[], &[]).into_iter().chain(position).collect();
            let tokens = (millions * 1e6) as u64;
            let log = Enlarged { sample: "grpo", layout, columns: &columns, reward_parts: false, tokens };
            let (path, tokens) = log.write(folder.path());
            let (bare, ours) = alternate(&path, layout, threads, tokens);
            let peak = peak_of_child(&path);
            let rate = |seconds: f64| tokens as f64 / seconds / 1e6;
            println!(
                "| {} | {:.1} M | {:.0} | {:.1} | {:.1} | {:.2} | {peak} |",
                format!("{layout:?}").to_lowercase(),
                tokens as f64 / 1e6,
                std::fs::metadata(&path).unwrap().len() as f64 / 1e6,
                rate(bare),
                rate(ours),
                ours / bare,
            );
        }
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn alternate(path: &Path, layout: Layout, threads: usize, tokens: u64) -> (f64, f64) {
    let (mut bare, mut ours) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..RUNS {
        let start = Instant::now();
        assert!(bare_decode(path, layout, threads) > 0);
        bare = bare.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        assert_eq!(stream(path), tokens);
        ours = ours.min(start.elapsed().as_secs_f64());
    }
    (bare, ours)
}

/// The token stream with the columns of the file.
fn stream(path: &Path) -> u64 {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    let scanned = scan(&run, &columns(&[], &[])[..], &Silent, || Counter(0)).unwrap();
    scanned.sinks.iter().map(|s| s.0).sum()
}

/// The same columns by the parquet crate alone, row groups side by side.
fn bare_decode(path: &Path, layout: Layout, threads: usize) -> usize {
    let metadata = ArrowReaderMetadata::load(&File::open(path).unwrap(), ArrowReaderOptions::new()).unwrap();
    let groups = metadata.metadata().num_row_groups();
    let rows = metadata.metadata().file_metadata().num_rows() as usize;
    let values: i64 =
        metadata.metadata().row_groups().iter().map(|g| g.column(g.num_columns() - 1).num_values()).sum();
    let batch = match layout {
        Layout::Long => BATCH_TOKENS,
        Layout::Nested => BATCH_TOKENS * rows / values as usize,
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let worker = || {
            let mut total = 0;
            loop {
                let group = next.fetch_add(1, Ordering::Relaxed);
                if group >= groups {
                    return total;
                }
                let file = File::open(path).unwrap();
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                    .with_projection(ProjectionMask::all())
                    .with_row_groups(vec![group])
                    .with_batch_size(batch)
                    .build()
                    .unwrap();
                total += reader.map(|b| b.unwrap().num_rows()).sum::<usize>();
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|w| w.join().unwrap()).sum()
    })
}

fn peak_of_child(path: &Path) -> String {
    let program: PathBuf = std::env::current_exe().unwrap();
    let output = Command::new(program).arg("--stream").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
