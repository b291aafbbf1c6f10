//! Comparing two logs beside analysing both, and what the statistics alone take: same files, same
//! threads, in rounds that begin with either in turn. Since a machine's speed changes from second to
//! second, the ratio is given twice: of the sums over all rounds, and of the shortest times.
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

use stapo_analyze::analyze::{AnalyzeSettings, ComparedRun, RunAnalysis, analyze, analyze_for_comparison};
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::ingest::{Column, IngestSettings, Layout, Run, Silent};
use support::{Enlarged, columns, processor_seconds};

const ROUNDS: usize = 31;

fn main() {
    let sizes: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![2.0] } else { sizes };
    println!("means of {ROUNDS} rounds, in seconds (of the processor)");
    println!(
        "| tokens a run | steps | analysing both | comparing | ratio | ratio of the shortest | the statistics alone |"
    );
    println!("|---|---|---|---|---|---|---|");
    for millions in sizes {
        let folder = tempfile::tempdir().unwrap();
        let tokens = (millions * 1e6) as u64;
        let columns = columns(&[Column::PromptIds], &[Column::EntropyAfter]);
        let paths = ["grpo", "stapo"].map(|sample| {
            Enlarged { sample, layout: Layout::Nested, columns: &columns, reward_parts: false, tokens }
                .write(folder.path())
                .0
        });
        report(&paths);
    }
}

/// Seconds by the clock and of the processor.
type Seconds = [f64; 2];

fn report(paths: &[PathBuf; 2]) {
    let (mut apart, mut together, mut statistics) = (Vec::new(), Vec::new(), Vec::new());
    let mut shown = (0, 0);
    for round in 0..ROUNDS {
        let mut analyse = || apart.push(timed(|| paths.iter().for_each(|path| drop(analysis(path)))).1);
        if round % 2 == 0 {
            analyse();
        }
        let (comparison, seconds) = timed(|| {
            let named = |(path, name): (&PathBuf, &str)| NamedRun {
                name: name.into(),
                arm: name.into(),
                analysis: compared(path),
            };
            let runs: Vec<NamedRun> = paths.iter().zip(["grpo", "stapo"]).map(named).collect();
            let (comparison, seconds) = timed(|| compare_runs(&runs, &[], None, &CompareSettings::default()));
            statistics.push(seconds);
            comparison
        });
        together.push(seconds);
        if round % 2 == 1 {
            analyse();
        }
        assert!(comparison.metrics.len() > 5);
        shown = (comparison.runs[0].tokens, comparison.runs[0].steps);
    }
    let mean = |times: &[Seconds]| [0, 1].map(|of| times.iter().map(|t| t[of]).sum::<f64>() / ROUNDS as f64);
    let least =
        |times: &[Seconds]| [0, 1].map(|of| times.iter().map(|t| t[of]).fold(f64::INFINITY, f64::min));
    let ratio = |above: Seconds, below: Seconds| [above[0] / below[0], above[1] / below[1]];
    let pair = |[clock, processor]: Seconds| format!("{clock:.2} ({processor:.2})");
    println!(
        "| {:.1} M | {} | {} | {} | {} | {} | {} |",
        shown.0 as f64 / 1e6,
        shown.1,
        pair(mean(&apart)),
        pair(mean(&together)),
        pair(ratio(mean(&together), mean(&apart))),
        pair(ratio(least(&together), least(&apart))),
        pair(mean(&statistics)),
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Seconds) {
    let (clock, processor) = (Instant::now(), processor_seconds());
    let done = work();
    (done, [clock.elapsed().as_secs_f64(), processor_seconds() - processor])
}

fn open(path: &Path) -> Run {
    Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap()
}

fn analysis(path: &Path) -> RunAnalysis {
    analyze(&open(path), &AnalyzeSettings::default(), &Silent).unwrap()
}

fn compared(path: &Path) -> ComparedRun {
    analyze_for_comparison(&open(path), &AnalyzeSettings::default(), &Silent).unwrap()
}
