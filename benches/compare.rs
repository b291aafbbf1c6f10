//! Comparing two logs beside analysing both, and what the statistics alone take: same files, same
//! threads, alternating runs, best of each.
//!
//!     cargo bench --bench compare               # 2 M tokens a run
//!     cargo bench --bench compare -- 10 20      # millions of tokens a run
//!
//! Logs are made from the sample runs in a temporary folder, nested, with prompts, later steps and
//! other groups in every copy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis, analyze};
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS};
use stapo_analyze::ingest::{Column, Id, IngestSettings, Layout, Run, Silent, read_all};

const RUNS: usize = 5;
const COLUMNS: &[Column] = &[
    Column::Step,
    Column::GroupId,
    Column::SampleId,
    Column::Reward,
    Column::AdvantageSeq,
    Column::PromptIds,
    Column::TokenId,
    Column::Logprob,
    Column::Entropy,
    Column::GradNorm,
    Column::EntropyAfter,
];

fn main() {
    let sizes: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![2.0] } else { sizes };
    println!("the best of {RUNS} alternating runs, in seconds (processor)");
    println!(
        "| tokens a run | steps | analysing both | comparing | ratio | 1,000 draws and all tests alone |"
    );
    println!("|---|---|---|---|---|---|");
    for millions in sizes {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["grpo", "stapo"].map(|name| enlarge(folder.path(), name, (millions * 1e6) as u64));
        report(&paths);
    }
}

fn report(paths: &[PathBuf; 2]) {
    let settings = CompareSettings::default();
    let mut best = [[f64::INFINITY; 2]; 3];
    let mut note = |which: usize, start: (Instant, f64)| {
        let spent = [start.0.elapsed().as_secs_f64(), processor_seconds() - start.1];
        best[which].iter_mut().zip(spent).for_each(|(a, b)| *a = a.min(b));
    };
    let now = || (Instant::now(), processor_seconds());
    let (mut tokens, mut steps) = (0, 0);
    for _ in 0..RUNS {
        let start = now();
        paths.iter().for_each(|path| assert!(analysis(path, false).totals.tokens > 0));
        note(0, start);
        let start = now();
        let runs: Vec<NamedRun> = paths
            .iter()
            .zip(["grpo", "stapo"])
            .map(|(path, name)| NamedRun {
                name: name.into(),
                arm: name.into(),
                analysis: analysis(path, true),
            })
            .collect();
        let statistics = now();
        let comparison = compare_runs(&runs, None, &settings);
        note(2, statistics);
        note(1, start);
        assert!(comparison.metrics.len() > 20);
        (tokens, steps) = (comparison.runs[0].tokens, comparison.runs[0].steps);
    }
    let shown = |[clock, processor]: [f64; 2]| format!("{clock:.2} ({processor:.2})");
    println!(
        "| {:.1} M | {steps} | {} | {} | {:.2} ({:.2}) | {} |",
        tokens as f64 / 1e6,
        shown(best[0]),
        shown(best[1]),
        best[1][0] / best[0][0],
        best[1][1] / best[0][1],
        shown(best[2]),
    );
}

fn analysis(path: &Path, clusters: bool) -> RunAnalysis {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    analyze(&run, &AnalyzeSettings { clusters, ..AnalyzeSettings::default() }, &Silent).unwrap()
}

/// Processor time of this process, from Linux' clock ticks of 10 ms.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// A sample run over and over, each time with groups and steps of its own.
fn enlarge(folder: &Path, name: &str, tokens: u64) -> PathBuf {
    let path = folder.join(format!("{name}.parquet"));
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("notebooks-data/{name}.parquet"));
    let mut batches = read_all(&[sample], &IngestSettings::default()).unwrap();
    let schema = OutputSchema::new(Layout::Nested, COLUMNS, &|_| false, &BTreeSet::new());
    let metadata = BTreeMap::from([("vocab_size".to_owned(), "256".to_owned())]);
    let mut writer =
        BatchWriter::new(File::create(&path).unwrap(), &path, schema, &metadata, ROW_GROUP_TOKENS).unwrap();
    let mut written = 0;
    while written < tokens {
        for batch in &mut batches {
            writer.write(batch).unwrap();
            written += batch.token_count() as u64;
            for group in batch.responses.ids.get_mut(Column::GroupId).unwrap() {
                if let Id::Int(id) = group {
                    *id += 704;
                }
            }
            batch.responses.step.iter_mut().for_each(|step| *step += 120);
        }
    }
    writer.finish().unwrap();
    path
}
