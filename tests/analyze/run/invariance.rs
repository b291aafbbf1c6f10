//! The same result for any order of files, number of threads, split into files and layout.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use stapo_analyze::analyze::result::BatchKind;
use stapo_analyze::analyze::{AnalyzeSettings, BatchUnit, Condition, RunAnalysis, analyze};
use stapo_analyze::convert::convert;
use stapo_analyze::framework::s2t::{EntropyCut, Population, S2tSettings};
use stapo_analyze::ingest::{Layout, Silent};

use super::support::{sample, write_batch};
use super::synthetic::{Synthetic, healthy};
use super::{analyzed, comparable, open, preset};

const LONG: &str = "long layout";

/// The sample run in several files, and in the long layout.
struct Shapes {
    folder: tempfile::TempDir,
    parts: Vec<PathBuf>,
}

impl Shapes {
    fn of(path: &Path, rows: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
        // What the log says of itself goes into every part.
        let metadata = reader.schema().metadata().clone();
        let reader = reader.with_batch_size(rows).build().unwrap();
        let parts = reader.enumerate().map(|(i, batch)| {
            let part = folder.path().join(format!("part-{i:03}.parquet"));
            let batch = batch.unwrap();
            let schema = batch.schema().as_ref().clone().with_metadata(metadata.clone());
            write_batch(&part, &batch.with_schema(Arc::new(schema)).unwrap(), 300);
            part
        });
        Self { parts: parts.collect(), folder }
    }

    fn long(&self, from: &[PathBuf]) -> PathBuf {
        let path = self.folder.path().join("long.parquet");
        convert(&open(from, 0), &path, Layout::Long, &Silent).unwrap();
        path
    }
}

fn flagged(analysis: &RunAnalysis) -> Vec<String> {
    let mut rows: Vec<String> = analysis
        .cases
        .top
        .iter()
        .map(|token| {
            let mut token = token.clone();
            token.row = 0;
            format!("{token:?}")
        })
        .collect();
    rows.sort();
    rows
}

fn assert_same(one: &RunAnalysis, other: &RunAnalysis, what: &str) {
    let (mut a, mut b) = (comparable(one), comparable(other));
    // How a log was read may differ with its layout; what was found in it may not. In the long
    // layout positions are a column, and a response in two row groups is looked at twice.
    let tokens = a["totals"]["tokens"].clone();
    for value in [&mut a, &mut b] {
        value["warnings"].as_array_mut().unwrap().retain(|warning| warning["code"] != "ingest_note");
        if what == LONG {
            let quality = value["quality"].as_array_mut().unwrap();
            quality.retain(|column| column["values"] == tokens && column["column"] != "position");
            assert!(quality.len() > 3, "{quality:?}");
        }
    }
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&a), keys(&b), "{what}");
    for (key, value) in a.as_object().unwrap() {
        assert_eq!(value.to_string(), b[key].to_string(), "{what}: {key}");
    }
    assert_eq!(flagged(one), flagged(other), "{what}");
    assert_eq!(one.plane, other.plane, "{what}");
    assert_eq!(one.candidates.points, other.candidates.points, "{what}");
    let views = |analysis: &RunAnalysis| {
        analysis
            .responses
            .iter()
            .map(|v| (v.step, v.sample_id.clone(), v.flagged.clone(), v.shown_for.clone(), v.prompt.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(views(one), views(other), "{what}");
}

fn check_all_shapes(settings: &AnalyzeSettings) {
    check_shapes_of("grpo.parquet", settings, 9);
}

fn check_shapes_of(name: &str, settings: &AnalyzeSettings, parts: usize) {
    let grpo = sample(name);
    let settings = AnalyzeSettings {
        vocab_size: Some(256),
        tokenizer: Some(sample("model/tokenizer.json")),
        ..settings.clone()
    };
    let whole = analyzed(std::slice::from_ref(&grpo), &settings);
    let shapes = Shapes::of(&grpo, 700);
    assert_eq!(shapes.parts.len(), parts);
    for threads in [1, 2, 5] {
        let again = analyze(&open(&shapes.parts, threads), &settings, &Silent).unwrap();
        assert_same(&whole, &again, &format!("{threads} threads, split"));
    }
    let mut reversed = shapes.parts.clone();
    reversed.reverse();
    reversed.swap(1, 4);
    assert_same(&whole, &analyzed(&reversed, &settings), "other order");
    let long = shapes.long(std::slice::from_ref(&grpo));
    assert_same(&whole, &analyzed(&[long], &settings), LONG);
}

#[test]
fn the_answers_are_the_same_in_every_shape() {
    let pass = Condition::parse("reward/answer>0.5").ok();
    let by = vec!["policy_version".to_owned(), "reward/answer".into(), "entropy".into()];
    check_shapes_of("async.parquet", &AnalyzeSettings { pass, by, ..AnalyzeSettings::default() }, 5);
}

#[test]
fn the_default_is_the_same_in_every_shape() {
    check_all_shapes(&AnalyzeSettings::default());
}

#[test]
fn a_quantile_over_all_tokens_is_the_same_in_every_shape() {
    check_all_shapes(&preset(S2tSettings::v1()));
}

#[test]
fn sampling_and_spilling_are_the_same_in_every_shape() {
    let mut settings = preset(S2tSettings {
        tau_p: 0.05,
        entropy: EntropyCut::Quantile(0.6),
        population: Population::Positive,
    });
    settings.limits.kept_entropies = 1_000;
    settings.limits.kept_population = 10_000;
    settings.limits.candidate_bytes = 20_000;
    settings.limits.rare_tokens = 300;
    settings.limits.common_tokens = 2_000;
    check_all_shapes(&settings);
}

#[test]
fn rows_count_in_the_order_of_the_files() {
    let shapes = Shapes::of(&sample("grpo.parquet"), 700);
    let row = |paths: &[PathBuf]| {
        let analysis = analyzed(paths, &AnalyzeSettings::default());
        let token = analysis.cases.top.iter().find(|t| t.step == 0 && t.position == 78).cloned();
        token.unwrap().row
    };
    let mut rotated = shapes.parts.clone();
    rotated.rotate_left(1);
    assert_eq!(row(&shapes.parts), 8);
    assert_eq!(row(&rotated), 8 + 5632 - 700);
}

#[test]
fn minibatches_are_batches() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Synthetic::new(6, healthy);
    run.updates = 2;
    let path = run.write(folder.path());
    let by_update = analyzed(std::slice::from_ref(&path), &AnalyzeSettings::default());
    let by_step = analyzed(
        std::slice::from_ref(&path),
        &AnalyzeSettings { per: BatchUnit::Step, ..AnalyzeSettings::default() },
    );
    assert_eq!((by_update.s2t.per, by_step.s2t.per), (BatchKind::Minibatch, BatchKind::Step));
    assert_eq!((by_update.totals.batches, by_step.totals.batches), (12, 6));
    assert_eq!(by_update.s2t.candidates, by_step.s2t.candidates);
    let step = &by_update.steps[3];
    assert_eq!((step.tau_h, step.minibatches.len()), (None, 2));
    assert_eq!(step.minibatches.iter().map(|m| m.silenced).sum::<u64>(), step.silenced);
    assert!(by_step.steps[3].minibatches.is_empty() && by_step.steps[3].tau_h.is_some());
    assert_eq!(by_update.steps[3].entropy_quantiles, by_step.steps[3].entropy_quantiles);
    let shapes = Shapes::of(&path, 50);
    assert_same(&by_update, &analyzed(&shapes.parts, &AnalyzeSettings::default()), "split");
}

/// The parts of a log without some of its columns, where `bare` says so of a part.
fn without(shapes: &Shapes, columns: &[&str], bare: impl Fn(usize) -> bool) -> Vec<PathBuf> {
    let cut = |(i, part): (usize, &PathBuf)| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(part).unwrap()).unwrap();
        let batch = reader.with_batch_size(1 << 20).build().unwrap().next().unwrap().unwrap();
        let kept = |i: &usize| !columns.contains(&batch.schema().field(*i).name().as_str());
        let kept: Vec<usize> = (0..batch.num_columns()).filter(kept).collect();
        let path = shapes.folder.path().join(format!("cut-{i:03}.parquet"));
        let cut = if bare(i) { batch.project(&kept).unwrap() } else { batch.clone() };
        write_batch(&path, &cut, 300);
        path
    };
    shapes.parts.iter().enumerate().map(cut).collect()
}

#[test]
fn intervals_of_slices_do_not_depend_on_the_order_of_responses_without_ids() {
    let shapes = Shapes::of(&sample("grpo.parquet"), 700);
    let mut parts = without(&shapes, &["group_id", "sample_id"], |_| true);
    let slices = |parts: &[PathBuf]| {
        let by_step = AnalyzeSettings { by: vec!["step".into()], ..AnalyzeSettings::default() };
        let analysis = analyzed(parts, &by_step);
        serde_json::to_string(&analysis.answers.slices).unwrap()
    };
    let forward = slices(&parts);
    assert!(forward.contains("energy_share_interval\":["), "{forward}");
    parts.reverse();
    for (i, part) in parts.iter_mut().enumerate() {
        // Files are read in the order of their names.
        let renamed = part.with_file_name(format!("turned-{i:03}.parquet"));
        std::fs::rename(&*part, &renamed).unwrap();
        *part = renamed;
    }
    assert_eq!(forward, slices(&parts));
}

#[test]
fn a_file_without_token_ids_has_no_whole_groups() {
    let shapes = Shapes::of(&sample("grpo.parquet"), 2_816);
    let parts = without(&shapes, &["token_ids"], |i| i == 1);
    let analysis = analyzed(&parts, &AnalyzeSettings::default());
    let kept = analysis.answers.within_groups.as_ref().unwrap();
    assert_eq!(analysis.totals.responses, 5_632);
    assert!(kept.groups > 0 && kept.groups < 704, "{}", kept.groups);
}
