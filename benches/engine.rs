//! The whole analysis beside the bare `parquet` crate that only decodes the same columns: same file,
//! same threads, alternating runs, best of each; and the peak memory of an analysis. Processor time
//! is shown beside the clock's, since it does not depend on what else the machine does.
//!
//!     cargo bench --bench engine                       # 2 M tokens
//!     cargo bench --bench engine -- 20 200             # millions of tokens
//!     cargo bench --bench engine -- log.parquet        # a log of your own
//!     cargo bench --bench engine -- --questions 20     # with the columns of docs/questions.md, millions
//!     cargo bench --bench engine -- --against OLD 20   # this program beside another build of it, millions
//!
//! Logs are made from notebooks-data/grpo.parquet in a temporary folder, in the long layout, with
//! later steps in every copy (200 M tokens take 5 GB).
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
use stapo_analyze::analyze::{AnalyzeSettings, analyze};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{BATCH_TOKENS, Column, IngestSettings, Layout, Run, Silent};
use support::{Enlarged, children_seconds, columns, peak_megabytes, processor_seconds};

const RUNS: usize = 5;
/// Turns of two programs: on a busy machine nine of them scatter by more than what is looked for.
const TURNS: usize = 41;
/// What the sample has and the analysis reads.
fn sample_columns() -> Vec<Column> {
    columns(&[Column::Position], &[Column::EntropyAfter])
}

/// What the framework reads of the sample run `async`.
const PLAIN: &[Column] = &[
    Column::Step,
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::Reward,
    Column::AdvantageSeq,
    Column::TokenId,
    Column::Mask,
    Column::Logprob,
    Column::LogprobNew,
    Column::Entropy,
    Column::SumPiSq,
];
/// What only the other questions read of it.
const ASKED: &[Column] = &[
    Column::PolicyVersion,
    Column::FinishReason,
    Column::Truncated,
    Column::LogprobRollout,
    Column::LogprobRef,
    Column::Turn,
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, path] = &arguments[..]
        && flag == "--once"
    {
        whole_analysis(Path::new(path), S2tSettings::v5());
        println!("{}", peak_megabytes());
        return;
    }
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    if let [flag, millions] = &arguments[..]
        && flag == "--questions"
    {
        println!("{threads} threads; the best of {RUNS} alternating runs, in seconds (of the processor)");
        questions(millions.parse().unwrap(), threads);
        return;
    }
    if let [flag, old, millions] = &arguments[..]
        && flag == "--against"
    {
        against(Path::new(old), millions.parse().unwrap());
        return;
    }
    println!("{threads} threads; the best of {RUNS} alternating runs, in seconds");
    println!(
        "| tokens | file MB | bare decode (processor) | analysis | ratio | early preset | ratio | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let arguments = if arguments.is_empty() { vec!["2".to_owned()] } else { arguments };
    let folder = tempfile::tempdir().unwrap();
    for argument in arguments {
        let path = match argument.parse::<f64>() {
            Ok(millions) => framework_log(millions, folder.path()),
            Err(_) => PathBuf::from(argument),
        };
        report(&path, threads);
    }
}

/// The framework's columns of a made log.
fn framework_log(millions: f64, folder: &Path) -> PathBuf {
    let tokens = (millions * 1e6) as u64;
    let columns = &sample_columns();
    let log = Enlarged { sample: "grpo", layout: Layout::Long, columns, reward_parts: false, tokens };
    log.write(folder).0
}

/// This program and another build of it, turn by turn on the same log without the columns of the
/// questions; medians of the ratios of each turn.
fn against(old: &Path, millions: f64) {
    let folder = tempfile::tempdir().unwrap();
    let log = framework_log(millions, folder.path());
    let programs = [old, Path::new(env!("CARGO_BIN_EXE_stapo-analyze"))];
    let spend = |program: &Path| {
        let (start, before) = (Instant::now(), children_seconds());
        let output = Command::new(program).arg(&log).args(["--format", "json", "--quiet"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Spent { clock: start.elapsed().as_secs_f64(), processor: children_seconds() - before }
    };
    programs.iter().for_each(|program| _ = spend(program));
    let rounds: Vec<[Spent; 2]> = (0..TURNS).map(|_| programs.map(spend)).collect();
    let median = |of: &dyn Fn(&[Spent; 2]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!("{TURNS} turns, medians, in seconds (of the processor)\n");
    println!(
        "| tokens | other build | this one | ratio of a turn | peak MB of this one |\n|---|---|---|---|---|"
    );
    println!(
        "| {millions} M | {:.2} ({:.2}) | {:.2} ({:.2}) | {:.2} ({:.2}) | {} |",
        median(&|turn| turn[0].clock),
        median(&|turn| turn[0].processor),
        median(&|turn| turn[1].clock),
        median(&|turn| turn[1].processor),
        median(&|turn| turn[1].clock / turn[0].clock),
        median(&|turn| turn[1].processor / turn[0].processor),
        peak_of(&log),
    );
}

/// Peak memory of an analysis in a process of its own, in MB.
fn peak_of(path: &Path) -> String {
    let child = Command::new(std::env::current_exe().unwrap()).arg("--once").arg(path).output().unwrap();
    String::from_utf8_lossy(&child.stdout).trim().to_owned()
}

/// The questions beyond the framework: the same log with and without their columns.
fn questions(millions: f64, threads: usize) {
    let tokens = (millions * 1e6) as u64;
    let (with, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = |columns: &[Column], reward_parts: bool, folder: &Path| {
        Enlarged { sample: "async", layout: Layout::Nested, columns, reward_parts, tokens }.write(folder).0
    };
    let plain = log(PLAIN, false, without.path());
    let full = log(&[PLAIN, ASKED].concat(), true, with.path());
    let mut best = [Spent { clock: f64::INFINITY, processor: f64::INFINITY }; 3];
    for _ in 0..RUNS {
        best[0] = best[0].least(Spent::on(|| bare_decode(&full, threads, ASKED)));
        best[1] = best[1].least(Spent::on(|| _ = whole_analysis(&plain, S2tSettings::v5())));
        best[2] = best[2].least(Spent::on(|| _ = whole_analysis(&full, S2tSettings::v5())));
    }
    let [asked, analysis, all] = best;
    println!(
        "\n| tokens | decode of the asked columns | analysis without them | with them | ratio | peak MB without, with |"
    );
    println!("|---|---|---|---|---|---|");
    println!(
        "| {millions} M | {:.2} ({:.2}) | {:.2} ({:.2}) | {:.2} ({:.2}) | {:.2} ({:.2}) | {}, {} |",
        asked.clock,
        asked.processor,
        analysis.clock,
        analysis.processor,
        all.clock,
        all.processor,
        all.clock / (asked.clock + analysis.clock),
        all.processor / (asked.processor + analysis.processor),
        peak_of(&plain),
        peak_of(&full),
    );
}

/// Seconds by the clock and of the processor.
#[derive(Clone, Copy)]
struct Spent {
    clock: f64,
    processor: f64,
}

impl Spent {
    fn on(work: impl FnOnce()) -> Self {
        let (start, before) = (Instant::now(), processor_seconds());
        work();
        Self { clock: start.elapsed().as_secs_f64(), processor: processor_seconds() - before }
    }

    fn least(self, other: Self) -> Self {
        Self { clock: self.clock.min(other.clock), processor: self.processor.min(other.processor) }
    }
}

fn report(path: &Path, threads: usize) {
    let mut best = [Spent { clock: f64::INFINITY, processor: f64::INFINITY }; 3];
    let mut tokens = 0;
    for _ in 0..RUNS {
        best[0] = best[0].least(Spent::on(|| bare_decode(path, threads, &sample_columns())));
        best[1] = best[1].least(Spent::on(|| tokens = whole_analysis(path, S2tSettings::v5())));
        best[2] = best[2].least(Spent::on(|| tokens = whole_analysis(path, S2tSettings::v1())));
    }
    let ratio =
        |of: Spent| format!("{:.2} ({:.2})", of.clock / best[0].clock, of.processor / best[0].processor);
    let seconds = |of: Spent| format!("{:.2} ({:.2})", of.clock, of.processor);
    println!(
        "| {:.1} M | {:.0} | {} | {} | {} | {} | {} | {} |",
        tokens as f64 / 1e6,
        std::fs::metadata(path).unwrap().len() as f64 / 1e6,
        seconds(best[0]),
        seconds(best[1]),
        ratio(best[1]),
        seconds(best[2]),
        ratio(best[2]),
        peak_of(path),
    );
}

/// Everything that `--format json` computes and prints, but the printing.
fn whole_analysis(path: &Path, s2t: S2tSettings) -> u64 {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    let settings = AnalyzeSettings { s2t, ..AnalyzeSettings::default() };
    let analysis = analyze(&run, &settings, &Silent).unwrap();
    assert!(analysis.to_json().unwrap().len() > 1000);
    analysis.totals.tokens
}

/// Decodes the same columns with as many threads, and throws them away.
fn bare_decode(path: &Path, threads: usize, columns: &[Column]) {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    let sources = run.mappings[0].columns.iter().filter(|m| columns.contains(&m.column));
    let names: Vec<String> = sources.flat_map(|m| m.sources.iter().map(|s| s.name.clone())).collect();
    let file = File::open(path).unwrap();
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
    let groups = metadata.metadata().num_row_groups();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= groups {
                        return;
                    }
                    let schema = metadata.metadata().file_metadata().schema_descr_ptr();
                    let fields = schema.root_schema().get_fields();
                    let roots = (0..fields.len()).filter(|i| names.iter().any(|n| n == fields[*i].name()));
                    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
                        File::open(path).unwrap(),
                        metadata.clone(),
                    )
                    .with_row_groups(vec![group])
                    .with_projection(ProjectionMask::roots(&schema, roots))
                    .with_batch_size(BATCH_TOKENS)
                    .build()
                    .unwrap();
                    for batch in reader {
                        std::hint::black_box(batch.unwrap());
                    }
                }
            });
        }
    });
}
