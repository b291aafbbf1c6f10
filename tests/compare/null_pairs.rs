//! How often two runs of one process are called different, by anything that a comparison tests: at
//! most 1 in 20, whatever the runs are like. And how often a difference that is there is found.
//!
//! `NULL_PAIRS=400 cargo test --release --test compare null_pairs -- --nocapture` gives the counts of
//! docs/statistics.md; without it, as many pairs are tried as tell a wrong rate from a right one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::compare_support::Made;
use crate::support::{sample, write_batch};
use arrow_array::{BooleanArray, Int64Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use stapo_analyze::analyze::{AnalyzeSettings, ComparedRun, analyze_for_comparison};
use stapo_analyze::compare::result::Comparison;
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_analyze::stats::random::Random;

fn pairs(usual: u64) -> u64 {
    std::env::var("NULL_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn analysis(path: &Path) -> ComparedRun {
    let settings = IngestSettings { threads: 1, ..IngestSettings::default() };
    let run = Run::open(&[path.to_owned()], &settings).unwrap();
    analyze_for_comparison(&run, &AnalyzeSettings::default(), &Silent).unwrap()
}

fn compared(arms: [&[PathBuf]; 2]) -> Comparison {
    let runs: Vec<NamedRun> = arms
        .iter()
        .zip(["a", "b"])
        .flat_map(|(paths, arm)| paths.iter().map(move |path| (path, arm)))
        .enumerate()
        .map(|(i, (path, arm))| NamedRun {
            name: format!("{arm}{i}"),
            arm: arm.into(),
            analysis: analysis(path),
        })
        .collect();
    compare_runs(&runs, None, &CompareSettings { draws: 100, ..CompareSettings::default() })
}

/// Tries `count` pairs: how many are called different, and by what.
fn called(name: &str, count: u64, mut pair: impl FnMut(u64, &Path) -> [Vec<PathBuf>; 2]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut different = 0;
    let mut by: BTreeMap<String, u64> = BTreeMap::new();
    for trial in 0..count {
        let [left, right] = pair(trial, folder.path());
        let found = compared([&left, &right]);
        different += u64::from(found.verdict.differs);
        for row in found.metrics.iter().filter(|row| row.significant) {
            *by.entry(row.name.clone()).or_default() += 1;
        }
    }
    println!("{name}: {different} of {count} pairs; {by:?}");
    different
}

/// 1 in 20, and what chance adds to it in 1 of 1,000 tries.
#[allow(clippy::cast_precision_loss)]
fn assert_rare(name: &str, different: u64, count: u64) {
    let (n, p) = (count as f64, 0.05);
    let most = n * p + 3.1 * (n * p * (1.0 - p)).sqrt();
    assert!((different as f64) <= most, "{name}: {different} of {count} pairs without a difference");
}

fn check_made(name: &str, usual: u64, made: impl Fn(u64) -> Made) {
    let count = pairs(usual);
    let different = called(name, count, |trial, folder| {
        [0, 1].map(|side| vec![made(2 * trial + side).write(folder, ["a", "b"][side as usize])])
    });
    assert_rare(name, different, count);
}

#[test]
fn plain_runs_are_not_called_different() {
    check_made("plain", 60, |seed| Made { seed, steps: (0..12).collect(), ..Made::default() });
}

/// τ_h hangs on a handful of tokens, in both runs on others.
#[test]
fn runs_with_few_candidates_are_not_called_different() {
    check_made("few candidates", 60, |seed| Made {
        seed,
        steps: (0..12).collect(),
        rare: 0.0005,
        ..Made::default()
    });
}

/// Both runs fall along one path.
#[test]
fn runs_that_drift_together_are_not_called_different() {
    check_made("drift", 40, |seed| Made {
        seed,
        steps: (0..40).collect(),
        groups: 4,
        entropy: 1.2,
        fall: 0.8,
        ..Made::default()
    });
}

/// Each run wanders for itself, and a step resembles the one before.
#[test]
fn runs_that_wander_are_not_called_different() {
    check_made("wandering", 40, |seed| Made {
        seed,
        steps: (0..40).collect(),
        groups: 4,
        wander: (0.05, 0.5),
        ..Made::default()
    });
}

/// No prompts to pair, and steps that only progress aligns.
#[test]
fn runs_without_anything_to_pair_are_not_called_different() {
    let made = |seed: u64| {
        let steps =
            if seed.is_multiple_of(2) { (0..12).collect() } else { (0..12).map(|i| 900 + 70 * i).collect() };
        Made { seed, steps, prompts: false, ..Made::default() }
    };
    check_made("unpaired", 60, made);
}

/// Arms of three seeds, each with its own offset.
#[test]
fn arms_of_one_method_are_not_called_different() {
    let count = pairs(40);
    let different = called("seeds", count, |trial, folder| arms(trial, 0.0, folder));
    assert_rare("seeds", different, count);
}

fn arms(trial: u64, shift: f64, folder: &Path) -> [Vec<PathBuf>; 2] {
    let mut random = Random::new(trial, 5);
    [0.0, shift].map(|shift| {
        (0..3)
            .map(|seed| {
                let own = (0.02 * random.normal() + shift, 0.02 * random.normal());
                let name = format!("{}-{seed}", shift > 0.0);
                let made =
                    Made { seed: random.bits(), steps: (0..8).collect(), groups: 4, own, ..Made::default() };
                made.write(folder, &name)
            })
            .collect()
    })
}

/// Three seeds a side find nine times the scatter of their means, nearly always.
#[test]
fn seeds_find_a_difference() {
    let count = pairs(20).min(100);
    let folder = tempfile::tempdir().unwrap();
    let mut found = 0;
    for trial in 0..count {
        let [left, right] = arms(trial, 0.25, folder.path());
        let comparison = compared([&left, &right]);
        let entropy = comparison.metrics.iter().find(|row| row.name == "entropy").unwrap();
        found += u64::from(entropy.significant);
    }
    println!("three seeds a side, nine times the scatter of their means: found in {found} of {count}");
    assert!(found * 10 >= count * 7, "{found} of {count}");
}

/// The groups of a real run, dealt at random to two runs.
#[test]
fn a_real_run_dealt_in_two_is_not_called_different() {
    for (name, usual) in [("grpo", 12), ("stapo", 12)] {
        let log = Dealt::read(&sample(&format!("{name}.parquet")));
        let count = pairs(usual);
        let different =
            called(&format!("{name} dealt in two"), count, |trial, folder| log.deal(trial, folder));
        assert_rare(name, different, count);
    }
}

/// A log whose groups can be dealt out.
struct Dealt(Vec<RecordBatch>);

impl Dealt {
    fn read(path: &Path) -> Self {
        let file = std::fs::File::open(path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(1_024);
        Self(reader.build().unwrap().map(|batch| batch.unwrap()).collect())
    }

    fn deal(&self, trial: u64, folder: &Path) -> [Vec<PathBuf>; 2] {
        let side_of = |step: i64, group: i64| {
            Random::new(trial, (step.cast_unsigned() << 32) ^ group.cast_unsigned()).bits() & 1 == 1
        };
        [false, true].map(|side| {
            let parts: Vec<RecordBatch> = self
                .0
                .iter()
                .map(|batch| {
                    let column = |name: &str| {
                        let column = batch.column_by_name(name).unwrap();
                        column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
                    };
                    let rows = column("step").into_iter().zip(column("group_id"));
                    let mask: Vec<bool> = rows.map(|(step, group)| side_of(step, group) == side).collect();
                    arrow_select::filter::filter_record_batch(batch, &BooleanArray::from(mask)).unwrap()
                })
                .collect();
            let whole = arrow_select::concat::concat_batches(&parts[0].schema(), &parts).unwrap();
            let path = folder.join(format!("{side}.parquet"));
            write_batch(&path, &whole, 4_096);
            vec![path]
        })
    }
}
