//! An analysis in shards beside one process, a run that grows with a cache, and a merge of many
//! candidates: real processes of the program on logs made from the sample run. Rounds alternate;
//! medians are shown.
//!
//!     cargo bench --bench scale                        # 20 files of 2 M tokens, 10^7 candidates
//!     cargo bench --bench scale -- 100 2               # files, millions of tokens of each
//!     cargo bench --bench scale -- 100 2 --write       # and put the figures into docs/scale.md
//!
//! The logs take 25 bytes a token in the temporary folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stapo_analyze::convert::{BatchWriter, OutputSchema, ROW_GROUP_TOKENS};
use stapo_analyze::ingest::{Column, IngestSettings, Layout, read_all};

const ROUNDS: usize = 3;
/// A merge of this many candidates is timed.
const CANDIDATES: f64 = 1e7;
/// Tokens of a shard where nothing else is said.
const SHARD: f64 = 2e8;
const MARKS: [&str; 2] =
    ["<!-- figures: cargo bench --bench scale -- 100 2 --write -->", "<!-- end of figures -->"];

/// What a process took.
#[derive(Clone, Copy, Default)]
struct Cost {
    seconds: f64,
    megabytes: f64,
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_stapo-analyze")).args(arguments).stdout(Stdio::null()).spawn().unwrap()
}

/// Waits for processes that run side by side; the largest memory of any.
fn wait(mut children: Vec<Child>) -> Cost {
    let (began, mut peak) = (Instant::now(), 0.0_f64);
    while !children.is_empty() {
        children.retain_mut(|child| {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
            let kilobytes = line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0.0) / 1024.0);
            match child.try_wait().unwrap() {
                None => true,
                Some(status) => {
                    assert!(status.success());
                    false
                }
            }
        });
        std::thread::sleep(Duration::from_millis(2));
    }
    Cost { seconds: began.elapsed().as_secs_f64(), megabytes: peak }
}

fn run(arguments: &[&str]) -> Cost {
    wait(vec![start(arguments)])
}

fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    costs[costs.len() / 2]
}

/// Files of the sample run, over and over, each time with groups and steps of its own.
fn write_logs(folder: &Path, files: usize, tokens: u64) -> u64 {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/grpo.parquet");
    let mut batches = read_all(&[sample], &IngestSettings::default()).unwrap();
    let columns = [
        Column::Step,
        Column::GroupId,
        Column::SampleId,
        Column::Reward,
        Column::AdvantageSeq,
        Column::Position,
        Column::TokenId,
        Column::Logprob,
        Column::Entropy,
        Column::GradNorm,
    ];
    let metadata = BTreeMap::from([("vocab_size".to_owned(), "256".to_owned())]);
    let mut all = 0;
    for number in 0..files {
        let path = folder.join(format!("step-{number:05}.parquet"));
        let schema = OutputSchema::new(Layout::Long, &columns, &|_| false, &BTreeSet::new());
        let file = File::create(&path).unwrap();
        let mut writer = BatchWriter::new(file, &path, schema, &metadata, ROW_GROUP_TOKENS / 4).unwrap();
        all += support::write_over_and_over(&mut batches, &mut writer, tokens);
        writer.finish().unwrap();
    }
    all
}

fn bytes_in(folder: &Path, ending: &str) -> f64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let named = files.filter(|file| file.path().extension().is_some_and(|e| e == ending));
    named.map(|file| file.metadata().unwrap().len() as f64).sum()
}

fn empty(folder: &Path) -> &Path {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// plan, collect (all shards side by side) and merge: what each took.
fn in_shards(logs: &Path, work: &Path, shards: u64, tokens: u64, more: &[&str]) -> [Cost; 3] {
    empty(work);
    let (plan, report) = (work.join("plan.json"), work.join("report"));
    let size = tokens.div_ceil(shards).max(1).to_string();
    let mut planning = vec!["plan", text(logs), "-o", text(&plan), "--shard-tokens", &size, "-q"];
    planning.extend(more);
    let planned = run(&planning);
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    let count = document["shards"].as_array().unwrap().len();
    let threads = if count > 1 { "1" } else { "0" };
    let collect = |shard: usize| {
        let shard = shard.to_string();
        start(&[
            "collect",
            "--plan",
            text(&plan),
            "--shard",
            &shard,
            "-o",
            text(work),
            "-q",
            "--threads",
            threads,
        ])
    };
    let collected = wait((0..count).map(collect).collect());
    let merged = run(&["merge", "--plan", text(&plan), text(work), "--report", text(&report), "-q"]);
    [planned, collected, merged]
}

fn total(costs: &[Cost]) -> Cost {
    Cost {
        seconds: costs.iter().map(|cost| cost.seconds).sum(),
        megabytes: costs.iter().map(|cost| cost.megabytes).fold(0.0, f64::max),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let numbers: Vec<f64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let files = numbers.first().map_or(20, |n| *n as usize);
    let each = (numbers.get(1).copied().unwrap_or(2.0) * 1e6) as u64;
    let folder = tempfile::tempdir().unwrap();
    let [logs, work, cache, report] =
        ["logs", "work", "cache", "report"].map(|name| folder.path().join(name));
    let tokens = write_logs(empty(&logs), files, each);
    let log_bytes = bytes_in(&logs, "parquet");
    let one = |more: &[&str]| {
        let mut arguments = vec![text(&logs), "--report", text(&report), "-q"];
        arguments.extend(more);
        run(&arguments)
    };
    let (mut alone, mut shard, mut two, mut single) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut many = Vec::new();
    for _ in 0..ROUNDS {
        alone.push(one(&[]));
        shard.push(total(&in_shards(&logs, &work, 1, tokens, &[])));
        single.push(one(&["--threads", "1"]));
        if cores() > 2 {
            many.push(total(&in_shards(&logs, &work, cores() as u64, tokens, &[])));
        }
        two.push(total(&in_shards(&logs, &work, 2, tokens, &[])));
    }
    let part_bytes = bytes_in(&work, "part") / 2.0;
    let (alone, shard, two, single) = (median(alone), median(shard), median(two), median(single));
    // A run that grows by its last file.
    let last = logs.join(format!("step-{:05}.parquet", files - 1));
    let aside = folder.path().join("last.parquet");
    let (mut first, mut grown) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        empty(&cache);
        std::fs::rename(&last, &aside).unwrap();
        first.push(one(&["--cache", text(&cache)]));
        std::fs::rename(&aside, &last).unwrap();
        grown.push(one(&["--cache", text(&cache)]));
    }
    let (first, grown) = (median(first), median(grown));
    let cache_bytes = bytes_in(&cache, "part");
    // Every token with A > 0 is a candidate, in as many files as hold enough of them.
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(report.join("summary.json")).unwrap()).unwrap();
    let few = summary["s2t"]["candidates"].as_f64().unwrap_or(0.0);
    let positive = summary["totals"]["positive"].as_f64().unwrap();
    let share = (1.05 * CANDIDATES / positive).min(1.0);
    let enough = empty(&folder.path().join("enough")).to_owned();
    for number in 0..(files as f64 * share).ceil() as usize {
        let name = format!("step-{number:05}.parquet");
        std::fs::hard_link(logs.join(&name), enough.join(&name)).unwrap();
    }
    let costs = in_shards(&enough, &work, 8, (tokens as f64 * share) as u64, &["--tau-p", "1"]);
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(work.join("report/summary.json")).unwrap()).unwrap();
    let candidates = summary["s2t"]["candidates"].as_f64().unwrap_or(0.0);
    let merge = costs[2];
    let rate = tokens as f64 / alone.seconds;
    let mut out = String::new();
    let mega = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    writeln!(
        out,
        "{:.0} M tokens in {files} files, {}, {} cores:\n",
        tokens as f64 / 1e6,
        mega(log_bytes),
        cores()
    )
    .unwrap();
    writeln!(out, "| | seconds | against one process | peak memory |\n|---|---|---|---|").unwrap();
    let mut row = |name: &str, cost: Cost, against: f64| {
        let Cost { seconds, megabytes } = cost;
        writeln!(out, "| {name} | {seconds:.2} | {:.2} | {megabytes:.0} MB |", seconds / against).unwrap();
    };
    row("one process", alone, alone.seconds);
    row("plan, collect, merge with one shard", shard, alone.seconds);
    row("one process with one thread", single, single.seconds);
    row("two processes with one thread each", two, single.seconds);
    if cores() > 2 {
        let name = format!("{} processes with one thread each", cores());
        row(&name, median(many), single.seconds);
    }
    row("with an empty cache, without the last file", first, alone.seconds);
    row("with that cache, grown by the last file", grown, alone.seconds);
    row(&format!("merge of {:.1} M candidates in 8 parts", candidates / 1e6), merge, alone.seconds);
    writeln!(
        out,
        "\nA part of {:.0} M tokens takes {}, the cache {}.\n",
        tokens as f64 / 2e6,
        mega(part_bytes),
        mega(cache_bytes)
    )
    .unwrap();
    let merge_rate = candidates / merge.seconds;
    writeln!(
        out,
        "On paper, from these rates ({:.0} M tokens/s a machine of {} cores, {:.2} M candidates/s in merge, {:.1} bytes a token, one \
         candidate in {:.0} tokens), with shards of 2e8 tokens and 16 machines:\n",
        rate / 1e6,
        cores(),
        merge_rate / 1e6,
        log_bytes / tokens as f64,
        tokens as f64 / few.max(1.0)
    )
    .unwrap();
    writeln!(
        out,
        "| tokens | log | shards | parts | collect | merge | machine hours |\n|---|---|---|---|---|---|---|"
    )
    .unwrap();
    for size in [1e10, 1e12_f64] {
        let shards = (size / SHARD).ceil();
        let collect = size / rate / 16.0;
        let merging = shards * 0.3 + size * few / tokens as f64 / merge_rate;
        writeln!(
            out,
            "| {size:.0e} | {:.1} TB | {shards:.0} | {:.0} GB | {:.1} min | {:.1} min | {:.1} |",
            size * log_bytes / tokens as f64 / 1e12,
            shards * part_bytes.max(30e6) / 1e9,
            collect / 60.0,
            merging / 60.0,
            (collect * 16.0 + merging) / 3600.0
        )
        .unwrap();
    }
    println!("{out}");
    println!(
        "limits: one shard <= 1.05, grown <= 0.10, candidates >= {CANDIDATES:e} (give more tokens else)"
    );
    if arguments.iter().any(|a| a == "--write") {
        write_figures(&out);
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn write_figures(figures: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scale.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    std::fs::write(&path, format!("{before}{}\n\n{figures}\n{}{after}", MARKS[0], MARKS[1])).unwrap();
}
