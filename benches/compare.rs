//! Comparing two logs beside analysing both, and what the statistics alone take: same files, same
//! threads, alternating runs, best of each.
//!
//!     cargo bench --bench compare               # 2 M tokens a run
//!     cargo bench --bench compare -- 10 20      # millions of tokens a run
//!
//! Logs are made from the sample runs in a temporary folder, nested, with prompts, later steps and
//! other groups in every copy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Instant;

use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis, analyze};
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::ingest::{Column, IngestSettings, Layout, Run, Silent};
use support::{Enlarged, processor_seconds};

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
        let tokens = (millions * 1e6) as u64;
        let paths = ["grpo", "stapo"].map(|sample| {
            Enlarged { sample, layout: Layout::Nested, columns: COLUMNS, tokens }.write(folder.path()).0
        });
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
