//! plan, collect, merge against one process.

use std::path::{Path, PathBuf};

use stapo_analyze::Error;
use stapo_analyze::analyze::{
    AnalyzeSettings, LookFile, MergedParts, Purpose, ShardPlan, analyze_for_comparison, analyze_merged,
    collect_look, collect_shard, merged_for_comparison,
};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::Silent;

use crate::shards::logs::{Content, Shape, write};
use crate::shards::{assert_same, everything, in_one_process, open, preset, tight};

/// A plan of so many shards, about.
fn planned(paths: &[PathBuf], settings: &AnalyzeSettings, purpose: Purpose, shards: u64) -> ShardPlan {
    const TOKENS: u64 = 9_500;
    ShardPlan::new(&open(paths), settings, purpose, TOKENS.div_ceil(shards).max(1)).unwrap()
}

fn collect_all(plan: &ShardPlan, folder: &Path) -> Vec<PathBuf> {
    (0..plan.shards())
        .map(|shard| collect_shard(plan, shard, folder, 1 + shard % 3, |_| Silent).unwrap().path)
        .collect()
}

/// Merges, and lets all shards look again as often as it takes.
fn merged(plan: &ShardPlan, inputs: &[PathBuf], folder: &Path) -> (String, usize) {
    for rounds in 0.. {
        match analyze_merged(MergedParts::read(plan, inputs).unwrap()) {
            Ok((analysis, mut flagged)) => return (everything(&analysis, &mut flagged), rounds),
            Err(Error::AnotherLook { path }) => {
                let look = LookFile::read(&path, plan).unwrap();
                for shard in 0..plan.shards() {
                    collect_look(plan, shard, &look, folder, 2, |_| Silent).unwrap();
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!()
}

#[test]
fn any_number_of_shards_gives_the_bytes_of_one_process() {
    let variants = [(true, false), (true, true), (false, false)];
    for shape in [Shape::Nested, Shape::Long, Shape::Json] {
        for (ids, texts) in variants {
            let folder = tempfile::tempdir().unwrap();
            let files = if shape == Shape::Json { 7 } else { 3 };
            let paths = write(folder.path(), Content { ids, texts, ..Content::new(shape) }, files);
            let settings = if texts { preset(S2tSettings::v5()) } else { tight(S2tSettings::v5()) };
            let expected = in_one_process(&paths, &settings);
            for shards in [1, 2, 3, 7, 16] {
                let plan = planned(&paths, &settings, Purpose::Report, shards);
                let work = tempfile::tempdir().unwrap();
                collect_all(&plan, work.path());
                let (found, _) = merged(&plan, &[work.path().to_owned()], work.path());
                assert_same(&expected, &found);
            }
        }
    }
}

#[test]
fn plans_have_the_shards_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content::new(Shape::Long), 3);
    for (shards, at_least) in [(1, 1), (3, 3), (16, 12)] {
        let plan = planned(&paths, &preset(S2tSettings::v5()), Purpose::Report, shards);
        assert!((at_least..=16).contains(&plan.shards()), "{} of {shards}", plan.shards());
    }
}

#[test]
fn thresholds_over_all_tokens_take_rounds_of_looks() {
    for (shape, population) in [(Shape::Long, 2_000), (Shape::Nested, 30), (Shape::Long, 1 << 20)] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content::new(shape), 3);
        let mut settings = tight(S2tSettings::v1());
        settings.limits.kept_population = population;
        let expected = in_one_process(&paths, &settings);
        let plan = planned(&paths, &settings, Purpose::Report, 5);
        let work = tempfile::tempdir().unwrap();
        collect_all(&plan, work.path());
        let (found, rounds) = merged(&plan, &[work.path().to_owned()], work.path());
        assert_same(&expected, &found);
        match population {
            30 => assert!(rounds > 1, "the interval is narrowed first"),
            2_000 => assert_eq!(rounds, 1),
            _ => assert_eq!(rounds, 0),
        }
    }
}

#[test]
fn parts_merge_in_any_order_and_as_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), Content { texts: true, ..Content::new(Shape::Long) }, 3);
    let settings = tight(S2tSettings::v5());
    let expected = in_one_process(&paths, &settings);
    let plan = planned(&paths, &settings, Purpose::Report, 8);
    let work = tempfile::tempdir().unwrap();
    let mut parts = collect_all(&plan, work.path());
    parts.reverse();
    parts.swap(1, 4);
    assert_same(&expected, &merged(&plan, &parts, work.path()).0);
    // Neighbours, parts far from each other, and the rest.
    let sorted = collect_all(&plan, work.path());
    let bigger = |name: &str, of: &[PathBuf]| {
        let path = work.path().join(name);
        MergedParts::read(&plan, of).unwrap().write(&path).unwrap();
        path
    };
    let a = bigger("a.part", &[sorted[1].clone(), sorted[0].clone()]);
    let b = bigger("b.part", &[sorted[5].clone(), sorted[3].clone()]);
    let rest: Vec<PathBuf> =
        (0..sorted.len()).filter(|i| ![0, 1, 3, 5].contains(i)).map(|i| sorted[i].clone()).collect();
    let c = bigger("c.part", &rest);
    let ab = bigger("ab.part", &[b, a]);
    assert_same(&expected, &merged(&plan, &[c.clone(), ab.clone()], work.path()).0);
    // However it was put together, a part of the same shards is the same bytes.
    let all = bigger("all.part", &[c, ab]);
    let flat = bigger("flat.part", &sorted);
    assert!(std::fs::read(all).unwrap() == std::fs::read(flat).unwrap());
}

#[test]
fn a_part_is_the_same_bytes_for_any_number_of_threads() {
    for shape in [Shape::Nested, Shape::Long] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content { texts: true, ..Content::new(shape) }, 2);
        for settings in [preset(S2tSettings::v1()), tight(S2tSettings::v5())] {
            for purpose in [Purpose::Report, Purpose::Comparison] {
                let plan = planned(&paths, &settings, purpose, 2);
                let bytes = |threads: usize| {
                    let work = tempfile::tempdir().unwrap();
                    let made = collect_shard(&plan, 0, work.path(), threads, |_| Silent).unwrap();
                    assert!(!made.was_there);
                    std::fs::read(made.path).unwrap()
                };
                let one = bytes(1);
                assert!([1, 2, 5].iter().all(|threads| bytes(*threads) == one), "{shape:?} {purpose:?}");
            }
        }
    }
}

#[test]
fn comparisons_take_merged_parts() {
    for (shape, ids) in [(Shape::Nested, true), (Shape::Long, true), (Shape::Nested, false)] {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(folder.path(), Content { ids, ..Content::new(shape) }, 3);
        let settings = tight(S2tSettings::v5());
        let expected = analyze_for_comparison(&open(&paths), &settings, &Silent).unwrap();
        let plan = planned(&paths, &settings, Purpose::Comparison, 6);
        let work = tempfile::tempdir().unwrap();
        let parts = collect_all(&plan, work.path());
        let path = work.path().join("run.part");
        MergedParts::read(&plan, &parts).unwrap().write(&path).unwrap();
        let found = merged_for_comparison(MergedParts::open(&path).unwrap()).unwrap();
        assert_same(&format!("{expected:#?}"), &format!("{found:#?}"));
        assert!(analyze_merged(MergedParts::open(&path).unwrap()).is_err());
    }
}
